// The tags to rename, in the field of the grid's dialog: Enter accepts only typed or marked tags.

import { TagField } from "../../grid/js/tag_field.js";
import { part } from "../../shell/js/elements.js";

/** @import { KnownTag } from "../../grid/js/tag_field.js" */
/** @import { Mount } from "../../shell/js/streamlit_page.js" */

/** @typedef {{chosen: string[], known: KnownTag[], longest: number}} PickerData */

class TagPicker {
  known = "";

  /** @param {HTMLElement} root @param {string[]} chosen @param {(name: string, value: unknown) => void} send */
  constructor(root, chosen, send) {
    this.send = send;
    this.sent = JSON.stringify(chosen);
    this.field = new TagField({ applies: () => {}, changed: () => this.tell(), onlyKnown: true });
    for (const tag of chosen) this.field.added.set(tag, false);
    this.field.refresh();
    root.replaceChildren(this.field.node);
  }

  /** @param {PickerData} data */
  know({ known, longest }) {
    const json = JSON.stringify(known);
    if (this.known === json) return; // keep half-typed text
    this.known = json;
    this.field.know({ known, has: {}, longest });
  }

  tell() {
    if (!this.field) return;
    const chosen = [...this.field.added.keys()];
    const json = JSON.stringify(chosen);
    if (this.sent === json) return;
    this.sent = json;
    this.send("tags", chosen);
  }
}

/** @type {WeakMap<HTMLElement, TagPicker>} */
const pickers = new WeakMap();

/** @param {Mount<PickerData>} mount */
export default function ({ data, parentElement, setStateValue }) {
  const root = part(parentElement, ".memedex-tag-picker", HTMLElement);
  const picker = pickers.get(root) ?? new TagPicker(root, data.chosen, setStateValue);
  pickers.set(root, picker);
  picker.send = setStateValue;
  picker.know(data);
}

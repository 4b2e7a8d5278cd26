// The tags to rename, in the field of the grid's dialog: Enter accepts only typed or marked tags.

import { TagField } from "../../grid/js/tag_field.js";

class TagPicker {
  constructor(root, chosen) {
    this.root = root;
    this.sent = JSON.stringify(chosen);
    this.field = new TagField({ applies: () => {}, changed: () => this.tell(), onlyKnown: true });
    for (const tag of chosen) this.field.added.set(tag, false);
    this.field.refresh();
    root.replaceChildren(this.field.node);
  }

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

const pickers = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".memedex-tag-picker");
  let picker = pickers.get(root);
  if (!picker) pickers.set(root, (picker = new TagPicker(root, data.chosen)));
  picker.send = setStateValue;
  picker.know(data);
}

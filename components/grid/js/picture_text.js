// The text in a coin's picture.

import { el } from "../../shell/js/elements.js";
import { button } from "./dom.js";

/** @import { Text } from "./coin_facts.js" */
/** @import { Panel } from "./panel.js" */

/** Who says so, and a field to correct it. */
export class PictureText {
  /** @type {Map<string, string>} address → what is being typed and not saved yet */
  typed = new Map();
  /** @type {Map<string, Pick<Text, "text" | "note">>} address → as saved here, until the server says so too */
  saved = new Map();

  /** @param {Panel} panel */
  constructor(panel) {
    this.panel = panel;
  }

  /**
   * Whether the user types into the field of this coin, which must then stay as it is.
   *
   * @param {string} address
   */
  isEditing(address) {
    return this.typed.has(address);
  }

  /**
   * The section's content for one coin; `known` is what the server knows of its text.
   *
   * @param {string} address
   * @param {Text} known
   */
  body(address, known) {
    const { grid } = this.panel;
    const saved = this.saved.get(address);
    if (saved?.text === known.text) this.saved.delete(address);
    else if (saved && grid.model.refused.has(address)) {
      // A refused text is typed again, with the reason above it.
      this.saved.delete(address);
      this.typed.set(address, saved.text);
    }
    if (this.isEditing(address)) return this.field(address, known);
    const { text, note } = this.saved.get(address) ?? known;
    const edit = grid.data.undoable ? button("tool", text ? "Correct" : "Write", () => this.edit(address, text)) : null;
    return el(
      "div",
      { class: "picture-text" },
      text ? el("p", { dir: "auto" }, text) : null,
      el("p", { class: "meta" }, el("span", { class: "none" }, note), edit),
    );
  }

  /** @param {string} address @param {Text} known */
  field(address, known) {
    const area = el("textarea", {
      rows: "4",
      dir: "auto",
      "aria-label": "Text in the picture",
      oninput: () => this.typed.set(address, area.value),
      onkeydown: (event) => {
        if (event.isComposing) return;
        if (event.key === "Escape") this.cancel(address);
        else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
        else return;
        event.preventDefault();
        event.stopPropagation();
      },
    });
    area.value = this.typed.get(address) ?? "";
    const save = () => this.save(address, area.value);
    const buttons = [
      button("verb main", "Save", save, { key: "ctrl enter" }),
      button("tool", "Cancel", () => this.cancel(address), { key: "esc" }),
    ];
    if (known.source === "person") {
      const title = known.read || "Nothing was read";
      buttons.push(button("tool", "As read by the program", () => this.save(address, null, known.read), { title }));
    }
    return el("div", { class: "picture-text" }, area, el("p", { class: "meta" }, ...buttons));
  }

  /** @param {string} address @param {string} text */
  edit(address, text) {
    this.typed.set(address, text);
    this.panel.rebuild();
    this.panel.facts.querySelector("textarea")?.focus();
  }

  /** @param {string} address */
  cancel(address) {
    this.typed.delete(address);
    this.panel.rebuild();
    this.panel.node.focus();
  }

  /**
   * Saves a person's text, or with null lets the program's reading count again.
   *
   * @param {string} address
   * @param {string | null} text
   */
  save(address, text, shown = (text ?? "").trim()) {
    const { grid } = this.panel;
    this.typed.delete(address);
    this.saved.set(address, { text: shown, note: text === null ? "Read by a program" : "Written by a person" });
    grid.decisions.correctText(address, text === null ? null : shown);
    this.panel.rebuild();
    this.panel.node.focus();
  }
}

// The text in a coin's picture, in the large view: who says so, and a field to correct it.

import { el } from "../../shell/js/elements.js";

export class PictureText {
  constructor(viewer) {
    this.viewer = viewer;
    this.typed = new Map(); // address → what is being typed and not saved yet
    this.saved = new Map(); // address → { text, note } as saved here, until the server says so too
  }

  /** Whether the user types into the field of this coin, which must then stay as it is. */
  isEditing(address) {
    return this.typed.has(address);
  }

  /** The section's content for one coin; `detail` is what the server knows of its text. */
  body(card, detail) {
    const { grid } = this.viewer;
    const saved = this.saved.get(card.address);
    if (saved?.text === detail.text) this.saved.delete(card.address);
    else if (saved && grid.model.refused.has(card.address)) this.reopen(card.address, saved.text);
    if (this.isEditing(card.address)) return this.field(card, detail);
    const { text, note } = this.saved.get(card.address) ?? detail;
    const edit = grid.data.undoable
      ? el(
          "button",
          { type: "button", class: "tool", onclick: () => this.edit(card.address, text) },
          text ? "Correct" : "Write",
        )
      : null;
    return el(
      "div",
      { class: "picture-text" },
      text ? el("p", { dir: "auto" }, text) : null,
      el("p", { class: "meta" }, el("span", { class: "none" }, note), edit),
    );
  }

  field(card, detail) {
    const { address } = card;
    const area = el("textarea", {
      rows: "4",
      dir: "auto",
      "aria-label": "Text in the picture",
      oninput: () => this.typed.set(address, area.value),
    });
    area.value = this.typed.get(address);
    area.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Escape") this.cancel(address);
      else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.save(address, area.value);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    const asRead =
      detail.source === "person"
        ? el(
            "button",
            {
              type: "button",
              class: "tool",
              title: detail.read || "Nothing was read",
              onclick: () => this.save(address, null, detail.read),
            },
            "As read by the program",
          )
        : null;
    return el(
      "div",
      { class: "picture-text" },
      area,
      el(
        "p",
        { class: "meta" },
        el(
          "button",
          { type: "button", class: "verb main", onclick: () => this.save(address, area.value) },
          "Save",
          el("kbd", {}, "ctrl enter"),
        ),
        el(
          "button",
          { type: "button", class: "tool", onclick: () => this.cancel(address) },
          "Cancel",
          el("kbd", {}, "esc"),
        ),
        asRead,
      ),
    );
  }

  /** A refused text is typed again, with the reason above it. */
  reopen(address, text) {
    this.saved.delete(address);
    this.typed.set(address, text);
  }

  edit(address, text) {
    this.typed.set(address, text);
    this.viewer.rebuild();
    this.viewer.facts.querySelector("textarea")?.focus();
  }

  cancel(address) {
    this.typed.delete(address);
    this.viewer.rebuild();
    this.viewer.node.focus();
  }

  /** Saves a person's text, or with null lets the program's reading count again. */
  save(address, text, shown = text.trim()) {
    const { grid } = this.viewer;
    this.typed.delete(address);
    this.saved.set(address, { text: shown, note: text === null ? "Read by a program" : "Written by a person" });
    grid.decisions.correctText(address, text === null ? null : shown);
    this.viewer.rebuild();
    this.viewer.node.focus();
  }
}

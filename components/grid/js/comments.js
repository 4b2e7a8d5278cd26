// What people say of a coin, and a field to say more.

import { el } from "../../shell/js/elements.js";
import { button } from "./dom.js";

/** @import { Comment } from "./coin_facts.js" */
/** @import { Panel } from "./panel.js" */

export class Comments {
  /** @type {Map<string, string>} address → what is being typed and not saved yet */
  typed = new Map();
  /** @type {Map<string, string[]>} address → as saved here, until the server says so too */
  saved = new Map();

  /** @param {Panel} panel */
  constructor(panel) {
    this.panel = panel;
  }

  /**
   * Whether the user types a comment on this coin, whose field must then stay as it is.
   *
   * @param {string} address
   */
  isEditing(address) {
    return Boolean(this.typed.get(address));
  }

  /**
   * The section's content for one coin; `known` are the comments that the server has.
   *
   * @param {string} address
   * @param {Comment[]} known
   */
  body(address, known) {
    const { grid } = this.panel;
    const there = new Set(known.map(({ text }) => text));
    const saved = (this.saved.get(address) ?? []).filter((text) => !there.has(text));
    if (saved.length && grid.model.refused.has(address)) {
      // A refused comment is typed again, with the reason above it.
      this.typed.set(address, saved.splice(0).join("\n"));
    }
    this.saved.set(address, saved);
    const lines = [...known, ...saved.map((text) => ({ text, by: "you, just now" }))];
    const said = lines.map(({ text, by }) =>
      el("p", {}, el("span", { dir: "auto" }, text), " ", el("span", { class: "none" }, by)),
    );
    const none = lines.length || grid.data.undoable ? [] : [el("p", { class: "none" }, "No comments.")];
    return el("div", { class: "comments" }, ...said, ...none, grid.data.undoable ? this.field(address) : null);
  }

  /** @param {string} address */
  field(address) {
    const save = () => this.save(address, area.value.trim());
    const send = button("tool", "Comment", save, { key: "ctrl enter" });
    const area = el("textarea", {
      rows: "2",
      dir: "auto",
      "aria-label": "Comment",
      placeholder: "Write a comment",
      maxlength: "2000",
      oninput: () => {
        this.typed.set(address, area.value);
        send.hidden = !area.value.trim();
      },
      onkeydown: (event) => {
        if (event.isComposing) return;
        if (event.key === "Escape") this.panel.node.focus();
        else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
        else return;
        event.preventDefault();
        event.stopPropagation();
      },
    });
    area.value = this.typed.get(address) ?? "";
    send.hidden = !area.value.trim();
    return el("div", {}, area, send);
  }

  /** @param {string} address @param {string} text */
  save(address, text) {
    if (!text) return;
    this.typed.delete(address);
    this.saved.set(address, [...(this.saved.get(address) ?? []), text]);
    this.panel.grid.decisions.comment(address, text);
    this.panel.rebuild();
    this.panel.node.focus();
  }
}

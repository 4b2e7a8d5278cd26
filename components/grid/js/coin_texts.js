// What people write about a coin in its panel: comments, and the text in its picture.

import { el } from "../../shell/js/elements.js";
import { button } from "./dom.js";

/** @import { Attributes } from "../../shell/js/elements.js" */
/** @import { Comment, Text } from "./coin_facts.js" */
/** @import { Panel } from "./panel.js" */

/** @template Saved */
class CoinTexts {
  /** @type {Map<string, string>} address → what is being typed and not saved yet */
  typed = new Map();
  /** @type {Map<string, Saved>} address → as saved here, until the server says so too */
  saved = new Map();

  /** @param {Panel} panel */
  constructor(panel) {
    this.panel = panel;
  }

  /**
   * The field for one coin; Escape leaves it by `leave`, Ctrl+Enter saves.
   *
   * @param {string} address
   * @param {Attributes} attributes
   * @param {{save: () => void, leave: () => void}} keys
   */
  area(address, attributes, { save, leave }) {
    const area = el("textarea", {
      dir: "auto",
      ...attributes,
      oninput: () => this.typed.set(address, area.value),
      onkeydown: (event) => {
        if (event.isComposing) return;
        if (event.key === "Escape") leave();
        else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
        else return;
        event.preventDefault();
        event.stopPropagation();
      },
    });
    area.value = this.typed.get(address) ?? "";
    return area;
  }

  /**
   * Ends typing: first nothing is unsaved any more, then it is `decided`.
   *
   * @param {string} address
   */
  close(address, decided = () => {}) {
    this.typed.delete(address);
    decided();
    this.panel.rebuild();
    this.panel.node.focus();
  }
}

/** @extends {CoinTexts<string[]>} */
export class Comments extends CoinTexts {
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
    const said = { rows: "2", "aria-label": "Comment", placeholder: "Write a comment", maxlength: "2000" };
    const area = this.area(address, said, { save, leave: () => this.panel.node.focus() });
    const refresh = () => (send.hidden = !area.value.trim());
    area.addEventListener("input", refresh);
    refresh();
    return el("div", {}, area, send);
  }

  /** @param {string} address @param {string} text */
  save(address, text) {
    if (!text) return;
    this.saved.set(address, [...(this.saved.get(address) ?? []), text]);
    this.close(address, () => this.panel.grid.decisions.comment(address, text));
  }
}

/**
 * Who says what stands in the picture, and a field to correct it.
 *
 * @extends {CoinTexts<Pick<Text, "text" | "note">>}
 */
export class PictureText extends CoinTexts {
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
    const save = () => this.save(address, area.value);
    const leave = () => this.close(address);
    const area = this.area(address, { rows: "4", "aria-label": "Text in the picture" }, { save, leave });
    const buttons = [
      button("verb main", "Save", save, { key: "ctrl enter" }),
      button("tool", "Cancel", leave, { key: "esc" }),
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

  /**
   * Saves a person's text, or with null lets the program's reading count again.
   *
   * @param {string} address
   * @param {string | null} text
   */
  save(address, text, shown = (text ?? "").trim()) {
    this.saved.set(address, { text: shown, note: text === null ? "Read by a program" : "Written by a person" });
    const { decisions } = this.panel.grid;
    this.close(address, () => decisions.correctText(address, text === null ? null : shown));
  }
}

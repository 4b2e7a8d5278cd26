// A language model's suggestions for one facet: accepted in full or in part, dismissed, or requested again.

import { el, fill } from "../../shell/js/elements.js";
import { difference } from "./difference.js";

const HINTS = ["shorter", "more concrete", "name the meme"];

export class Proposals {
  constructor(row) {
    this.row = row;
    this.editor = row.editor;
    this.list = [];
    this.hint = el("input", {
      type: "text",
      "aria-label": `Hint for ${row.purpose.label}`,
      placeholder: `a hint, such as “${HINTS[2]}”`,
      maxlength: "300",
      onkeydown: (event) => event.key === "Enter" && !event.ctrlKey && this.ask(this.hint.value),
    });
    this.asks = el(
      "div",
      { class: "asking", hidden: true },
      this.hint,
      ...HINTS.map((hint) => el("button", { type: "button", onclick: () => this.ask(hint) }, hint)),
      el("button", { type: "button", class: "main", onclick: () => this.ask(this.hint.value) }, "Ask"),
    );
    this.open = el(
      "button",
      {
        type: "button",
        class: "quietly",
        "aria-label": `Ask the model for ${row.purpose.label}`,
        onclick: () => this.toggle(),
      },
      "Ask the model",
    );
    this.shown = el("div", {});
    this.node = el("div", { class: "proposals" }, this.asks, this.shown);
  }

  toggle() {
    this.asks.hidden = !this.asks.hidden;
    if (!this.asks.hidden) this.hint.focus();
  }

  ask(hint) {
    this.asks.hidden = true;
    this.hint.value = "";
    this.editor.suggesting.ask(this.row.facet, hint.trim());
  }

  take(list) {
    this.list = list;
    this.refresh();
  }

  refresh() {
    const { editor, row } = this;
    this.open.hidden = !editor.canWrite || !editor.data.model;
    const text = row.text.trim();
    const open = this.list.filter((each) => each.text.trim() !== text && !editor.suggesting.refused.has(each.id));
    const isTaken = (each) => editor.suggesting.taken.has(each.id);
    fill(
      this.shown,
      editor.canWrite ? open : [],
      (each) => [each, text, isTaken(each)],
      (each) => this.proposal(each),
    );
  }

  proposal(each) {
    const { row, editor } = this;
    const source = { model: each.model, prompt: each.prompt, text: each.text };
    const put = (text) => {
      editor.suggesting.taken.add(each.id);
      row.write(text, source);
    };
    return el(
      "div",
      { class: "proposal", "data-id": each.id },
      el(
        "header",
        {},
        el("b", {}, each.author),
        el(
          "span",
          { class: "quiet" },
          [each.prompt, each.hint && `“${each.hint}”`, each.when].filter(Boolean).join(" · "),
        ),
      ),
      difference(row.text.trim(), each.text, { onTake: put }),
      el(
        "footer",
        {},
        el("button", { type: "button", class: "main", onclick: () => put(each.text) }, "Accept"),
        el(
          "button",
          { type: "button", onclick: () => editor.suggesting.refuse(each) },
          editor.suggesting.taken.has(each.id) ? "Dismiss the rest" : "Dismiss",
        ),
        el(
          "span",
          { class: "quiet" },
          row.text.trim() ? "or click a change to accept only that" : "or click a sentence to accept only that",
        ),
      ),
    );
  }
}

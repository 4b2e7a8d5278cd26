// The tags: chosen from the taxonomy or typed; the categories follow by themselves.

import { el } from "../../grid/js/dom.js";

export class Tags {
  constructor(editor) {
    this.editor = editor;
    this.values = [];
    this.chips = el("span", { class: "chips" });
    this.known = el("datalist", { id: `memedex-tags-${Math.random().toString(36).slice(2)}` });
    this.input = el("input", {
      type: "text", list: this.known.id, maxlength: "64", "aria-label": "Tags", placeholder: "add a tag …",
      onkeydown: (event) => this.pressed(event), onchange: () => this.add(), oninput: (event) => event.inputType === "insertReplacementText" && this.add(),
    });
    this.categories = el("span", { class: "categories" });
    this.node = el("section", { class: "tags" }, el("header", {}, el("b", {}, "Tags"), this.categories), el("div", { class: "box" }, this.chips, this.input), this.known);
  }

  offer(categories) {
    this.of = categories;
    if (this.known.childElementCount !== Object.keys(categories).length)
      this.known.replaceChildren(...Object.entries(categories).map(([tag, category]) => el("option", { value: tag }, category)));
  }

  show(values) {
    this.values = [...values];
    this.refresh();
  }

  pressed(event) {
    if ((event.key === "Enter" && !event.ctrlKey) || event.key === ",") {
      event.preventDefault();
      this.add();
    } else if (event.key === "Backspace" && !this.input.value && this.values.length) this.remove(this.values.at(-1));
  }

  add() {
    const fresh = this.input.value.split(",").map((tag) => tag.trim()).filter((tag) => tag && !this.values.includes(tag));
    this.input.value = "";
    if (!fresh.length) return;
    this.values.push(...fresh);
    this.refresh();
    this.editor.changed();
  }

  remove(tag) {
    this.values = this.values.filter((other) => other !== tag);
    this.refresh();
    this.editor.changed();
    this.input.focus();
  }

  refresh() {
    const can = this.editor.canWrite;
    this.input.hidden = !can;
    this.chips.replaceChildren(
      ...this.values.map((tag) =>
        el(
          "span",
          { class: this.category(tag) ? "chip" : "chip free", title: this.category(tag) ?? "Not in the taxonomy: its category is “other”" },
          tag,
          can ? el("button", { type: "button", "aria-label": `Remove ${tag}`, onclick: () => this.remove(tag) }, "×") : null,
        ),
      ),
    );
    const categories = [...new Set(this.values.map((tag) => this.category(tag) ?? "other"))];
    this.categories.textContent = categories.length ? `Categories: ${categories.join(", ")}` : "No categories yet";
  }

  category(tag) {
    return this.of?.[tag.trim().toLowerCase()];
  }
}

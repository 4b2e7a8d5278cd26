// The tags, chosen from the taxonomy or typed; the categories follow automatically.

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
    this.proposed = el("div", { class: "proposed" });
    this.suggestions = [];
    this.categories = el("span", { class: "categories" });
    this.node = el("section", { class: "tags" }, el("header", {}, el("b", {}, "Tags"), this.categories), el("div", { class: "box" }, this.chips, this.input), this.proposed, this.known);
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

  /** Tags that a model suggests; new ones are marked until a person adds them to the taxonomy. */
  propose(suggestions) {
    this.suggestions = suggestions;
    this.refresh();
  }

  chipsOf(each) {
    return each.text
      .split(",")
      .filter((tag) => tag && !this.values.includes(tag) && !this.editor.suggesting.refused.has(each.id))
      .map((tag) => el("button", { type: "button", class: "offered", title: `${each.model} · ${each.prompt}`, onclick: () => this.accept(tag, each) }, `+ ${tag}`, each.facet === "new_tags" ? el("i", {}, "new") : null));
  }

  accept(tag, each) {
    this.editor.suggesting.taken.add(each.id);
    this.values.push(tag);
    this.refresh();
    this.editor.changed();
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
    const offered = can ? this.suggestions.flatMap((each) => this.chipsOf(each)) : [];
    this.proposed.replaceChildren(
      ...(offered.length ? [el("span", { class: "quiet" }, "Suggested:"), ...offered, el("button", { type: "button", class: "offered", "aria-label": "Dismiss these tags", onclick: () => this.suggestions.forEach((each) => this.editor.suggesting.refuse(each)) }, "×")] : []),
    );
    const categories = [...new Set(this.values.map((tag) => this.category(tag) ?? "other"))];
    const { mostTags } = this.editor.data;
    const isTooMany = this.values.length > mostTags;
    this.categories.classList.toggle("too-many", isTooMany);
    if (isTooMany) this.categories.textContent = `${this.values.length.toLocaleString("en")} tags, at most ${mostTags} can be saved`;
    else this.categories.textContent = categories.length ? `Categories: ${categories.join(", ")}` : "No categories yet";
  }

  category(tag) {
    return this.of?.[tag.trim().toLowerCase()];
  }
}

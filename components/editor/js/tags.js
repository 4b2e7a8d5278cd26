// The tags, chosen from the taxonomy or typed; the categories follow automatically.

import { el, fill } from "../../shell/js/elements.js";
import { readTags } from "./typed_tags.js";

export class Tags {
  constructor(editor) {
    this.editor = editor;
    this.values = [];
    this.chips = el("span", { class: "chips" });
    this.known = el("datalist", { id: `memedex-tags-${Math.random().toString(36).slice(2)}` });
    this.input = el("input", {
      type: "text",
      list: this.known.id,
      maxlength: "64",
      "aria-label": "Tags",
      placeholder: "add a tag …",
      onkeydown: (event) => this.pressed(event),
      onchange: () => this.left(),
      oninput: (event) => (event.inputType === "insertReplacementText" ? this.add() : this.ask([])),
    });
    this.proposed = el("div", { class: "proposed" });
    this.question = el("div", { class: "proposed", role: "status" });
    this.suggestions = [];
    this.categories = el("span", { class: "categories" });
    this.node = el(
      "section",
      { class: "tags" },
      el("header", {}, el("b", {}, "Tags"), this.categories),
      el("div", { class: "box" }, this.chips, this.input),
      this.question,
      this.proposed,
      this.known,
    );
  }

  offer(categories) {
    this.of = categories;
    if (this.known.childElementCount !== Object.keys(categories).length)
      this.known.replaceChildren(
        ...Object.entries(categories).map(([tag, category]) => el("option", { value: tag }, category)),
      );
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

  offersOf(each) {
    return each.text
      .split(",")
      .filter((tag) => tag && !this.values.includes(tag) && !this.editor.suggesting.refused.has(each.id))
      .map((tag) => ({ tag, each }));
  }

  proposal({ title, tag, each }) {
    if (title) return el("span", { class: "quiet" }, title);
    if (tag)
      return el(
        "button",
        {
          type: "button",
          class: "offered",
          title: [each.author, each.prompt].filter(Boolean).join(" · "),
          onclick: () => this.accept(tag, each),
        },
        `+ ${tag}`,
        each.facet === "new_tags" ? el("i", {}, "new") : null,
      );
    return el(
      "button",
      {
        type: "button",
        class: "offered",
        "aria-label": "Dismiss these tags",
        onclick: () => this.suggestions.forEach((one) => this.editor.suggesting.refuse(one)),
      },
      "×",
    );
  }

  chip(tag, can) {
    return el(
      "span",
      {
        class: this.category(tag) ? "chip" : "chip free",
        title: this.category(tag) ?? "Not in the taxonomy: its category is “other”",
      },
      tag,
      this.category(tag) ? null : el("i", {}, "new"),
      can
        ? el("button", { type: "button", "aria-label": `Remove ${tag}`, onclick: () => this.remove(tag) }, "×")
        : null,
    );
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

  /** Adds what is typed; the beginning or misspelling of a known tag only if it is meant, which a second time says. */
  add() {
    const { known, fresh, begun } = readTags(this.input.value, Object.keys(this.of ?? {}));
    const isMeant = begun.length > 0 && this.input.value === this.offeredFor;
    this.put([...known, ...fresh, ...(isMeant ? begun.map(({ name }) => name) : [])]);
    this.input.value = isMeant ? "" : begun.map(({ name }) => name).join(", ");
    this.ask(isMeant ? [] : begun);
  }

  /** The field was left: known tags are added, and what would be new waits for enter. */
  left() {
    const { known, fresh, begun } = readTags(this.input.value, Object.keys(this.of ?? {}));
    const waiting = [...begun, ...fresh.map((name) => ({ name, near: [] }))];
    this.put(known);
    this.input.value = waiting.map(({ name }) => name).join(", ");
    this.ask(waiting);
  }

  put(tags) {
    const fresh = [...new Set(tags)].filter((tag) => !this.values.includes(tag));
    if (!fresh.length) return;
    this.values.push(...fresh);
    this.refresh();
    this.editor.changed();
  }

  /** Says that these would be new tags, and offers the known ones that they may be. */
  ask(waiting) {
    this.offeredFor = waiting.length ? this.input.value : null;
    const chosen = (tag) => ((this.input.value = ""), this.ask([]), this.put([tag]), this.input.focus());
    const sentence = waiting.length
      ? [{ text: `“${this.input.value}” is not in the taxonomy; enter adds it as new.` }]
      : [];
    const near = waiting.flatMap((each) => each.near).map((tag) => ({ tag }));
    fill(
      this.question,
      [...sentence, ...near],
      (each) => each,
      ({ text, tag }) =>
        text
          ? el("span", { class: "quiet" }, text)
          : el("button", { type: "button", class: "offered", onclick: () => chosen(tag) }, `+ ${tag}`),
    );
  }

  /** What was typed and not added. */
  get halfTyped() {
    return this.input.value.trim();
  }

  /** Empties the field for another coin; returns what was not added. */
  dropHalfTyped() {
    const { halfTyped } = this;
    this.input.value = "";
    this.ask([]);
    return halfTyped;
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
    fill(
      this.chips,
      this.values,
      (tag) => [tag, this.category(tag), can],
      (tag) => this.chip(tag, can),
    );
    const offered = can ? this.suggestions.flatMap((each) => this.offersOf(each)) : [];
    const all = offered.length ? [{ title: "Suggested:" }, ...offered, { dismisses: true }] : [];
    fill(
      this.proposed,
      all,
      (each) => each,
      (each) => this.proposal(each),
    );
    const categories = [...new Set(this.values.map((tag) => this.category(tag) ?? "other"))];
    const { mostTags } = this.editor.data;
    const isTooMany = this.values.length > mostTags;
    this.categories.classList.toggle("too-many", isTooMany);
    if (isTooMany)
      this.categories.textContent = `${this.values.length.toLocaleString("en")} tags, at most ${mostTags} can be saved`;
    else this.categories.textContent = categories.length ? `Categories: ${categories.join(", ")}` : "No categories yet";
  }

  category(tag) {
    return this.of?.[tag.trim().toLowerCase()];
  }
}

// The tags, chosen from the taxonomy or typed; the categories follow automatically.

import { el, fill } from "../../shell/js/elements.js";
import { button } from "../../grid/js/dom.js";
import { isMisspelt } from "../../grid/js/tag_field.js";

/** @import { Editor } from "./main.js" */
/** @import { Suggestion } from "./server.js" */

/** @typedef {{name: string, near: string[]}} Begun what may be one of these known tags, half typed or misspelt */

const NEAR = 5; // tags that are offered for one text

export class Tags {
  /** @type {string[]} */
  values = [];
  /** @type {Record<string, string>} tag of the taxonomy → its category */
  of = {};
  /** @type {Suggestion[]} */
  suggestions = [];
  /** @type {string | null} */
  offeredFor = null; // what was typed when known tags were offered for it

  /** @param {Editor} editor */
  constructor(editor) {
    this.editor = editor;
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
      oninput: (event) => {
        const isChosen = event instanceof InputEvent && event.inputType === "insertReplacementText";
        if (isChosen) this.add();
        else this.ask([]);
      },
    });
    this.proposed = el("div", { class: "proposed" });
    this.question = el("div", { class: "proposed", role: "status" });
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

  /** @param {Record<string, string>} categories */
  offer(categories) {
    this.of = categories;
    if (this.known.childElementCount !== Object.keys(categories).length)
      this.known.replaceChildren(
        ...Object.entries(categories).map(([tag, category]) => el("option", { value: tag }, category)),
      );
  }

  /** @param {string[]} values */
  show(values) {
    this.values = [...values];
    this.refresh();
  }

  /**
   * Tags that a model suggests; new ones are marked until a person adds them to the taxonomy.
   *
   * @param {Suggestion[]} suggestions
   */
  propose(suggestions) {
    this.suggestions = suggestions;
    this.refresh();
  }

  /** @param {Suggestion} each */
  offersOf(each) {
    const tags = each.text.split(",").filter((tag) => tag && !this.values.includes(tag));
    return this.editor.suggesting.refused.has(each.id) ? [] : tags.map((tag) => ({ tag, each }));
  }

  /** @param {{tag: string, each: Suggestion}} offer */
  proposal({ tag, each }) {
    const title = [each.author, each.prompt].filter(Boolean).join(" · ");
    const made = button("offered", `+ ${tag}`, () => this.accept(tag, each), { title });
    if (each.facet === "new_tags") made.append(el("i", {}, "new"));
    return made;
  }

  /** @param {{tag: string, category: string | undefined, can: boolean}} chip a tag, and whether it can be removed */
  chip({ tag, category, can }) {
    return el(
      "span",
      { class: category ? "chip" : "chip free", title: category ?? "Not in the taxonomy: its category is “other”" },
      tag,
      category ? null : el("i", {}, "new"),
      can ? button("", "×", () => this.remove(tag), { "aria-label": `Remove ${tag}` }) : null,
    );
  }

  /** @param {string} tag @param {Suggestion} each */
  accept(tag, each) {
    this.editor.suggesting.taken.add(each.id);
    this.values.push(tag);
    this.refresh();
    this.editor.changed();
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const last = this.values.at(-1);
    if ((event.key === "Enter" && !event.ctrlKey) || event.key === ",") {
      event.preventDefault();
      this.add();
    } else if (event.key === "Backspace" && !this.input.value && last !== undefined) this.remove(last);
  }

  /** Adds what is typed; the beginning or misspelling of a known tag only if it is meant, which a second time says. */
  add() {
    const { known, fresh, begun } = readTags(this.input.value, Object.keys(this.of));
    const isMeant = begun.length > 0 && this.input.value === this.offeredFor;
    this.put([...known, ...fresh, ...(isMeant ? begun.map(({ name }) => name) : [])]);
    this.input.value = isMeant ? "" : begun.map(({ name }) => name).join(", ");
    this.ask(isMeant ? [] : begun);
  }

  /** The field was left: known tags are added, and what would be new waits for enter. */
  left() {
    const { known, fresh, begun } = readTags(this.input.value, Object.keys(this.of));
    const waiting = [...begun, ...fresh.map((name) => ({ name, near: [] }))];
    this.put(known);
    this.input.value = waiting.map(({ name }) => name).join(", ");
    this.ask(waiting);
  }

  /** @param {string[]} tags */
  put(tags) {
    const fresh = [...new Set(tags)].filter((tag) => !this.values.includes(tag));
    if (!fresh.length) return;
    this.values.push(...fresh);
    this.refresh();
    this.editor.changed();
  }

  /**
   * Says that these would be new tags, and offers the known ones that they may be.
   *
   * @param {Begun[]} waiting
   */
  ask(waiting) {
    this.offeredFor = waiting.length ? this.input.value : null;
    const chosen = (/** @type {string} */ tag) => {
      this.input.value = "";
      this.ask([]);
      this.put([tag]);
      this.input.focus();
    };
    const sentence = `“${this.input.value}” is not in the taxonomy; enter adds it as new.`;
    const shown = waiting.length ? [sentence, ...waiting.flatMap((each) => each.near)] : [];
    fill(this.question, shown, (each) =>
      each === sentence ? el("span", { class: "quiet" }, sentence) : button("offered", `+ ${each}`, () => chosen(each)),
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

  /** @param {string} tag */
  remove(tag) {
    this.values = this.values.filter((other) => other !== tag);
    this.refresh();
    this.editor.changed();
    this.input.focus();
  }

  refresh() {
    const can = this.editor.canWrite;
    this.input.hidden = !can;
    const chips = this.values.map((tag) => ({ tag, category: this.category(tag), can }));
    fill(this.chips, chips, (each) => this.chip(each));
    const offered = can ? this.suggestions.flatMap((each) => this.offersOf(each)) : [];
    /** @type {("title" | "dismisses" | typeof offered[number])[]} */
    const all = offered.length ? ["title", ...offered, "dismisses"] : [];
    const dismiss = () => this.suggestions.forEach((one) => this.editor.suggesting.refuse(one));
    fill(this.proposed, all, (each) => {
      if (each === "title") return el("span", { class: "quiet" }, "Suggested:");
      if (each !== "dismisses") return this.proposal(each);
      return button("offered", "×", dismiss, { "aria-label": "Dismiss these tags" });
    });
    const categories = [...new Set(this.values.map((tag) => this.category(tag) ?? "other"))];
    const { mostTags } = this.editor.data;
    const isTooMany = this.values.length > mostTags;
    this.categories.classList.toggle("too-many", isTooMany);
    if (isTooMany)
      this.categories.textContent = `${this.values.length.toLocaleString("en")} tags, at most ${mostTags} can be saved`;
    else this.categories.textContent = categories.length ? `Categories: ${categories.join(", ")}` : "No categories yet";
  }

  /** @param {string} tag @returns {string | undefined} */
  category(tag) {
    return this.of[tag.trim().toLowerCase()];
  }
}

/**
 * What a text typed as tags means; `taxonomy` has the known tags in lower case.
 *
 * @param {string} text
 * @param {string[]} taxonomy
 */
export function readTags(text, taxonomy) {
  const known = /** @type {string[]} */ ([]);
  const fresh = /** @type {string[]} */ ([]);
  const begun = /** @type {Begun[]} */ ([]);
  const names = new Set(taxonomy);
  const typed = text.split(",").map((each) => each.trim());
  for (const name of typed.filter(Boolean)) {
    const lower = name.toLowerCase();
    const beginning = taxonomy.filter((tag) => tag.startsWith(lower));
    const near = (beginning.length ? beginning : taxonomy.filter((tag) => isMisspelt(lower, tag))).slice(0, NEAR);
    if (names.has(lower)) known.push(lower);
    else if (near.length) begun.push({ name, near });
    else fresh.push(name);
  }
  return { known, fresh, begun };
}

// One facet: its text, its question, its share of the model's limit, and suggestions for it.

import { el, fill, setText } from "../../shell/js/elements.js";
import { button, count, icon } from "../../grid/js/dom.js";
import { difference } from "./difference.js";

/** @import { Source } from "./draft_store.js" */
/** @import { Editor } from "./main.js" */
/** @import { Reach, Suggestion, WhoWhen, WrittenBy } from "./server.js" */

/**
 * What a facet is for (`described` of components/editor/facets.py); `most`: characters.
 *
 * @typedef {{
 *   facet: string,
 *   label: string,
 *   asks: string,
 *   example: string,
 *   leave_out: string,
 *   weight: number,
 *   required: boolean,
 *   most: number,
 * }} Purpose
 */

const HINTS = ["shorter", "more concrete", "name the meme"];

export class Row {
  nothing = false; // whether it is left empty
  /** @type {Reach | null} */
  reach = null;

  /** @param {Editor} editor @param {Purpose} purpose */
  constructor(editor, purpose) {
    this.editor = editor;
    this.purpose = purpose;
    this.facet = purpose.facet;
    this.area = el("textarea", {
      rows: "2",
      dir: "auto",
      spellcheck: "true",
      "aria-label": purpose.label,
      placeholder: `For example: ${purpose.example}`,
      oninput: () => this.typed(),
      onfocus: () => editor.look(this),
    });
    this.by = el("span", { class: "by" });
    this.count = el("span", { class: "count" });
    this.meter = el("i", { class: "meter" });
    this.beyond = el("p", { class: "beyond", hidden: true });
    this.empty = button("nothing", "Leave empty", () => this.declare(!this.nothing), {
      "aria-pressed": "false",
      title: `Leave empty for ${purpose.leave_out}`,
    });
    this.aside = el("div", {});
    this.proposals = new Proposals(this);
    this.node = el(
      "section",
      { class: purpose.required ? "facet" : "facet optional", "data-facet": this.facet },
      el(
        "header",
        {},
        el("b", {}, purpose.label),
        el("span", { class: "weight", title: "Its weight in a search by text" }, `× ${purpose.weight}`),
        el("span", { class: "asks" }, purpose.asks + (purpose.required ? "" : " Optional.")),
        this.by,
      ),
      this.area,
      el(
        "footer",
        {},
        this.meter,
        this.count,
        el("span", { class: "verbs" }, this.proposals.open, purpose.required ? null : this.empty),
      ),
      this.beyond,
      this.aside,
      this.proposals.node,
    );
  }

  get text() {
    return this.area.value;
  }

  /** The value to store: a text, "" for left empty, null for not written. */
  get value() {
    return this.text.trim() ? this.text.trim() : this.nothing ? "" : null;
  }

  /**
   * Shows a stored value or a draft; the cursor does not move if nothing changes.
   *
   * @param {string | null} value
   */
  show(value) {
    this.nothing = value === "" && !this.purpose.required;
    const text = value ?? "";
    if (this.area.value !== text) this.area.value = text;
    this.reach = null;
    this.refresh();
  }

  /**
   * Replaces the text as if typed, so that the browser's own undo can revert it.
   *
   * @param {string} text
   * @param {Source} [source]
   */
  write(text, source) {
    this.area.focus();
    this.area.select();
    const done = text ? document.execCommand("insertText", false, text) : document.execCommand("delete");
    if (!done || this.area.value !== text) {
      this.area.value = text;
      this.typed();
    }
    if (source) this.editor.wrote(this, source);
  }

  typed() {
    if (this.text.trim()) this.nothing = false;
    this.refresh();
    this.editor.changed(this);
  }

  /** @param {boolean} nothing */
  declare(nothing) {
    this.nothing = nothing && !this.text.trim();
    this.refresh();
    this.editor.changed(this);
  }

  refresh() {
    const can = this.editor.canWrite;
    this.area.readOnly = !can;
    this.area.placeholder = this.nothing ? "Left empty on purpose." : can ? `For example: ${this.purpose.example}` : "";
    this.empty.hidden = Boolean(this.text.trim()) || (!can && !this.nothing);
    this.empty.disabled = !can;
    this.empty.setAttribute("aria-pressed", String(this.nothing));
    this.node.dataset.state = this.value === null ? "bare" : this.value === "" ? "nothing" : "written";
    this.tell();
    this.proposals.refresh();
    if (!CSS.supports("field-sizing", "content")) {
      this.area.style.height = "auto";
      this.area.style.height = `${this.area.scrollHeight + 2}px`;
    }
  }

  /** @param {Reach} reach */
  measure(reach) {
    this.reach = reach;
    this.tell();
  }

  tell() {
    const { reach } = this;
    const written = this.text.trim();
    const signs = [...this.text]; // counts like the server: an emoji is one character
    const isTooLong = signs.length > this.purpose.most;
    const most = isTooLong ? `, at most ${this.purpose.most.toLocaleString("en")} can be saved` : "";
    const characters = count(signs.length, "character") + most;
    this.count.classList.toggle("too-long", isTooLong);
    const missing = this.nothing ? "left empty" : this.purpose.required ? "Required" : "not written yet";
    setText(
      this.count,
      !written
        ? missing
        : reach
          ? `${characters} · ${reach.tokens.toLocaleString("en")} of ${reach.limit.toLocaleString("en")} tokens`
          : characters,
    );
    this.meter.style.setProperty("--share", `${Math.min(1, written && reach ? reach.tokens / reach.limit : 0) * 100}%`);
    const isOver = written !== "" && reach !== null && reach.windows > 1;
    this.node.classList.toggle("over", isOver);
    this.beyond.hidden = !isOver;
    if (!isOver) return;
    const rest = signs.slice(reach.first).join("").trim();
    this.beyond.replaceChildren(
      el("b", {}, `Longer than the model reads at once. `),
      `Nothing is cut off: it is read in ${reach.windows} overlapping windows whose vectors are averaged, `,
      "so each detail counts for less. Beyond the first window: ",
      el("q", { dir: "auto" }, rest.length > 240 ? `${rest.slice(0, 240)}…` : rest),
    );
  }

  /** @param {WhoWhen & Partial<WrittenBy>} [by] who wrote the stored text */
  signed(by) {
    const model = by?.author ? `${by.author}${by.edited ? ", edited" : ""}` : "";
    setText(this.by, by ? [model, by.who, by.when].filter(Boolean).join(" · ") : "");
    this.by.title = by?.prompt ? `Prompt: ${by.prompt}` : "";
  }

  /**
   * Shows another user's text next to this one until one of them is chosen.
   *
   * @param {string | null} theirs
   * @param {string} who
   * @param {() => void} onDecided
   */
  dispute(theirs, who, onDecided) {
    const decided = (/** @type {string | undefined} */ text) => {
      this.aside.replaceChildren();
      if (text !== undefined) this.write(text);
      onDecided();
    };
    this.aside.replaceChildren(
      el(
        "div",
        { class: "proposal dispute" },
        el("header", {}, icon("alert"), el("b", {}, `${who} wrote this meanwhile`)),
        difference(this.text, theirs ?? "", {
          onTake: (text) => {
            this.write(text);
            this.dispute(theirs, who, onDecided);
          },
        }),
        el(
          "footer",
          {},
          button("", "Keep mine", () => decided(undefined)),
          button("", "Use theirs", () => decided(theirs ?? "")),
          el("span", { class: "quiet" }, "or click a change to accept only that"),
        ),
      ),
    );
  }
}

/** A language model's suggestions for one facet: accepted in full or in part, dismissed, or requested again. */
class Proposals {
  /** @type {Suggestion[]} */
  list = [];

  /** @param {Row} row */
  constructor(row) {
    this.row = row;
    this.editor = row.editor;
    /** @type {HTMLInputElement} */
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
      ...HINTS.map((hint) => button("", hint, () => this.ask(hint))),
      button("main", "Ask", () => this.ask(this.hint.value)),
    );
    this.open = button("quietly", "Ask the model", () => this.toggle(), {
      "aria-label": `Ask the model for ${row.purpose.label}`,
    });
    this.shown = el("div", {});
    this.node = el("div", { class: "proposals" }, this.asks, this.shown);
  }

  toggle() {
    this.asks.hidden = !this.asks.hidden;
    if (!this.asks.hidden) this.hint.focus();
  }

  /** @param {string} hint */
  ask(hint) {
    this.asks.hidden = true;
    this.hint.value = "";
    this.editor.suggesting.ask(this.row.facet, hint.trim());
  }

  /** @param {Suggestion[]} list */
  take(list) {
    this.list = list;
    this.refresh();
  }

  refresh() {
    const { editor, row } = this;
    this.open.hidden = !editor.canWrite || !editor.data.model;
    const text = row.text.trim();
    const open = this.list.filter((each) => each.text.trim() !== text && !editor.suggesting.refused.has(each.id));
    const shown = editor.canWrite ? open : [];
    fill(this.shown, shown, (each) => this.proposal(each), text, [...editor.suggesting.taken]);
  }

  /** @param {Suggestion} each */
  accept({ id, model, prompt, text }, part = text) {
    this.editor.suggesting.taken.add(id);
    this.row.write(part, { model, prompt, text });
  }

  /** @param {Suggestion} each */
  proposal(each) {
    const { row, editor } = this;
    const text = row.text.trim();
    const about = [each.prompt, each.hint && `“${each.hint}”`, each.when].filter(Boolean).join(" · ");
    const isTaken = editor.suggesting.taken.has(each.id);
    return el(
      "div",
      { class: "proposal", "data-id": each.id },
      el("header", {}, el("b", {}, each.author), el("span", { class: "quiet" }, about)),
      difference(text, each.text, { onTake: (part) => this.accept(each, part) }),
      el(
        "footer",
        {},
        button("main", "Accept", () => this.accept(each)),
        button("", isTaken ? "Dismiss the rest" : "Dismiss", () => editor.suggesting.refuse(each)),
        el("span", { class: "quiet" }, `or click a ${text ? "change" : "sentence"} to accept only that`),
      ),
    );
  }
}

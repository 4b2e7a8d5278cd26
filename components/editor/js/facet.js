// One facet: its text, its question, its share of the model's limit, and suggestions for it.

import { el, setText } from "../../shell/js/elements.js";
import { count, icon } from "../../grid/js/dom.js";
import { difference } from "./difference.js";
import { Proposals } from "./proposals.js";

export class Row {
  constructor(editor, purpose) {
    this.editor = editor;
    this.purpose = purpose;
    this.facet = purpose.facet;
    this.nothing = false;
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
    this.empty = el(
      "button",
      {
        type: "button",
        class: "nothing",
        "aria-pressed": "false",
        onclick: () => this.declare(!this.nothing),
        title: `Leave empty for ${purpose.leave_out}`,
      },
      "Leave empty",
    );
    this.aside = el("div", {});
    this.proposals = new Proposals(this);
    this.node = el(
      "section",
      { class: "facet", "data-facet": this.facet },
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

  /** Shows a stored value or a draft; the cursor does not move if nothing changes. */
  show(value) {
    this.nothing = value === "" && !this.purpose.required;
    const text = value ?? "";
    if (this.area.value !== text) this.area.value = text;
    this.reach = null;
    this.refresh();
  }

  /** Replaces the text as if typed, so that the browser's own undo can revert it. */
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
    const over = Boolean(written && reach && reach.windows > 1);
    this.node.classList.toggle("over", over);
    this.beyond.hidden = !over;
    if (!over) return;
    const rest = signs.slice(reach.first).join("").trim();
    this.beyond.replaceChildren(
      el("b", {}, `Longer than the model reads at once. `),
      `Nothing is cut off: it is read in ${reach.windows} overlapping windows whose vectors are averaged, `,
      "so each detail counts for less. Beyond the first window: ",
      el("q", { dir: "auto" }, rest.length > 240 ? `${rest.slice(0, 240)}…` : rest),
    );
  }

  /** The author of the stored text. */
  signed(by) {
    const model = by?.author ? `${by.author}${by.edited ? ", edited" : ""}` : "";
    setText(this.by, by ? [model, by.who, by.when].filter(Boolean).join(" · ") : "");
    this.by.title = by?.prompt ? `Prompt: ${by.prompt}` : "";
  }

  /** Shows another user's text next to this one until one of them is chosen. */
  dispute(theirs, who, onDecided) {
    const decided = (text) => {
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
          button("Keep mine", () => decided()),
          button("Use theirs", () => decided(theirs ?? "")),
          el("span", { class: "quiet" }, "or click a change to accept only that"),
        ),
      ),
    );
  }
}

export function button(label, onclick, { main = false, title = "" } = {}) {
  return el("button", { type: "button", class: main ? "main" : "", onclick, title: title || null }, label);
}

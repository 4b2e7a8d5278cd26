// The bar above the facets: the state of the draft, who else is editing, and the actions.

import { el, setText } from "../../shell/js/elements.js";
import { button, icon } from "../../grid/js/dom.js";

/** @import { Editor } from "./main.js" */
/** @import { WhoWhen } from "./server.js" */

const NAMED = 4; // coins in one sentence

export class Bar {
  /** @param {Editor} editor */
  constructor(editor) {
    this.editor = editor;
    this.state = el("span", { class: "state", role: "status" });
    this.people = el("span", { class: "people" });
    this.saveNext = button("main", "Save & next", () => editor.saving.commit({ next: true }), {
      key: "Ctrl ↵",
      title: "Save, and go to the next coin that lacks its caption",
    });
    this.save = button("", "Save", () => editor.saving.commit(), { key: "Ctrl S", title: "Save and stay" });
    this.promote = button("", "Save & promote", () => editor.saving.commit({ promote: true }), {
      key: "Ctrl ⇧ ↵",
      title: "Save, and add the coin to the library",
    });
    this.discard = button("", "Discard", () => editor.discard(), { title: "Back to what is stored" });
    this.menu = el("div", { class: "menu", onclick: () => this.close() });
    /** @type {HTMLDetailsElement} */
    this.more = el(
      "details",
      {
        class: "more",
        onkeydown: (event) => event.key === "Escape" && this.close(),
        onfocusout: ({ relatedTarget }) => this.leave(relatedTarget),
      },
      el("summary", { "aria-label": "More" }, "⋯"),
      this.menu,
    );
    this.verbs = el("span", { class: "verbs" });
    this.node = el("div", { class: "bar-of-all" }, this.state, this.people, this.verbs);
    this.offer(true);
    this.note = el("p", { class: "note", hidden: true });
    this.drafts = el("p", { class: "note", hidden: true }); // those that are not stored, of coins that were left
  }

  /** @param {boolean} hasNext whether another coin lacks its caption: then the main button goes there */
  offer(hasNext) {
    const { saveNext, save, promote, discard } = this;
    saveNext.hidden = !hasNext;
    save.classList.toggle("main", !hasNext);
    const main = hasNext ? saveNext : save;
    if (main.parentNode === this.verbs) return;
    this.menu.replaceChildren(...[promote, save, discard].filter((verb) => verb !== main));
    this.verbs.replaceChildren(this.more, main);
  }

  /** @param {EventTarget | null} to what has the focus now */
  leave(to) {
    if (to instanceof Node && !this.more.contains(to)) this.close();
  }

  close() {
    this.more.open = false;
  }

  /**
   * Shows the state of the draft; "rest" is what follows from the draft itself.
   *
   * @param {"rest" | "draft" | "keeping" | "saving" | "failed"} state
   */
  say(state, why = "") {
    const { canWrite, isChanged, conflict, draftStore, address, rows, tags } = this.editor;
    const kept = draftStore.waiting.has(address) ? "keeping" : "draft"; // never show "saved" before the server has it
    const shown = state === "rest" || state === "draft" ? (isChanged ? kept : "saved") : state;
    const words = {
      saved: rows.some((row) => row.value !== null) ? "Saved" : tags.values.length ? "Tags only" : "Empty",
      draft: conflict.isWithWindow ? "Two drafts: choose below" : "Draft",
      keeping: "Draft …",
      saving: "Saving …",
      failed: `Failed: ${why}`,
    };
    this.state.dataset.state = canWrite ? (shown === "saved" && words.saved !== "Saved" ? "empty" : shown) : "saved";
    this.state.title = shown === "draft" ? "Stored on the server, for you alone; not saved yet" : why;
    setText(this.state, canWrite ? words[shown] : "You may read this, not change it");
    this.editor.refresh();
  }

  /** @param {string} sentence that stays until the next one replaces it; "" for none */
  noteThat(sentence) {
    show(this.note, sentence);
  }

  /** @param {WhoWhen[]} others */
  nameOthers(others) {
    const named = others.map(({ who, when }) => `${who} (${when})`).join(", ");
    setText(this.people, named && `${named} also has a draft here`);
  }

  refresh() {
    const { address, canWrite, isChanged, conflict, draftStore, names } = this.editor;
    const changed = canWrite && isChanged;
    this.save.disabled = !changed || conflict.isOpen;
    this.discard.disabled = !changed;
    this.promote.hidden = !this.editor.data.canPromote;
    this.promote.disabled = conflict.isOpen || this.editor.rows.some((row) => row.purpose.required && !row.text.trim());
    this.node.classList.toggle("reading", !canWrite);
    const failing = draftStore.failing.filter(([other, , isGone]) => other !== address && !isGone);
    show(this.drafts, notStored(failing, names));
  }
}

/**
 * The drafts that are not stored yet, by the reason: "The drafts of A, B and C are not stored yet: …".
 *
 * @param {[address: string, why: string, ...unknown[]][]} failing
 * @param {Map<string, string>} names
 */
export function notStored(failing, names) {
  const reasons = [...new Set(failing.map(([, why]) => why))];
  const sentence = (/** @type {string} */ why) => {
    const coins = failing.filter((each) => each[1] === why).map(([address]) => names.get(address) ?? address);
    const [drafts, are] = coins.length === 1 ? ["draft", "is"] : ["drafts", "are"];
    return `The ${drafts} of ${listed(coins)} ${are} not stored yet: ${why}`;
  };
  return reasons.map(sentence).join(". ");
}

/** @param {string[]} names */
function listed(names) {
  const shown = names.length > NAMED ? [...names.slice(0, NAMED - 1), `${names.length - NAMED + 1} others`] : names;
  return [shown.slice(0, -1).join(", "), shown.at(-1)].filter(Boolean).join(" and ");
}

/** @param {HTMLElement} note @param {string} sentence */
function show(note, sentence) {
  note.hidden = !sentence;
  note.replaceChildren(...(sentence ? [icon("alert"), el("span", {}, sentence)] : []));
}

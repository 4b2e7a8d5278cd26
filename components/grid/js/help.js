// The dialog that lists every key of this page, and where single keys are changed or switched off.

import { el, setText } from "../../shell/js/elements.js";
import { button } from "./dom.js";

/** @import { Grid } from "./main.js" */
/** @import { KeyMap } from "./keys.js" */

/** @typedef {[keys: string, meaning: string]} Row keys that do the same are divided by | */

/** @type {Row[]} */
const ALWAYS = [
  ["← ↑ ↓ →|h k j l", "move the cursor"],
  ["space", "select the card under the cursor"],
  ["shift + arrows", "select while moving"],
  ["ctrl a|⌘ a", "select all on this page"],
  ["shift a", "select all that match, on every page"],
  ["esc", "close the panel, clear the selection"],
  ["enter", "open the coin's panel; again: enlarge it"],
  ["d", "compare with possible duplicates"],
  ["+|-", "zoom in the enlarged picture; so do a click and the wheel"],
  ["[|]", "page before, page after"],
  ["/", "go to the filter; enter comes back"],
  ["g and a letter", "another place: h home, r review, a approved, c captions, l library, s search, m memory …"],
  ["ctrl k|⌘ k", "find a place, a coin, or what to do"],
  ["?", "this sheet"],
];

/** @type {Row[]} */
const MOUSE = [
  ["click", "move the cursor; a selection is never lost by it"],
  ["double click", "open the coin's panel"],
  ["corner|ctrl click", "select one, or take it out"],
  ["shift click", "select up to here"],
  ["draw a box", "select what it touches"],
];

export class KeySheet {
  /** @type {string | null} the key whose new character is waited for */
  waiting = null;

  /** @param {Grid} grid */
  constructor(grid) {
    this.grid = grid;
    this.node = el("dialog", { class: "help", "aria-label": "Keys" });
    this.node.addEventListener("click", (event) => event.target === this.node && this.node.close()); // outside of it
    this.node.addEventListener("close", () => {
      this.wait(null);
      grid.focus.toCursor(); // where keys act
    });
    this.isUsed = el("input", {
      type: "checkbox",
      onchange: () => this.change((keys) => keys.turn(!this.isUsed.checked)),
    });
    this.reset = button("tool", "Usual keys", () => this.change((keys) => keys.reset()));
    this.question = el("p", { class: "question", role: "status" });
  }

  get isOpen() {
    return this.node.open;
  }

  show() {
    this.node.showModal();
  }

  fill() {
    const { keyMap, actions, data } = this.grid;
    const cursor = "the card under the cursor";
    /** @type {Row[]} */
    const decisions = [];
    for (const { key, label, single, reasons } of actions) {
      decisions.push([key, `${label.toLowerCase()}: ${single ? cursor : `the selection, or ${cursor}`}`]);
      reasons.forEach((reason, at) => decisions.push([String(at + 1), `${label.toLowerCase()}: ${reason}`]));
    }
    if (data.undoable) decisions.push(["z", "undo"], ["shift z", "redo"]);
    this.isUsed.checked = !keyMap.isOff;
    this.reset.hidden = !keyMap.isChanged;
    const close = button("tool", "Close", () => this.node.close(), { key: "esc", autofocus: true });
    const choice = el(
      "label",
      {},
      this.isUsed,
      " Single keys act on the cards, while the focus is on a card or on the page itself",
    );
    const columns = el(
      "div",
      { class: "columns" },
      this.list("Decide", decisions),
      this.list("Move and select", ALWAYS),
      list("Mouse", MOUSE),
    );
    this.node.replaceChildren(
      el(
        "div",
        { class: "sheet" },
        el("h2", {}, "Keys"),
        columns,
        el("p", { class: "question" }, "To change a key, press its button here."),
        choice,
        this.question,
        this.reset,
        close,
      ),
    );
  }

  /**
   * Rows of keys, of which single characters are buttons that change them.
   *
   * @param {string} title
   * @param {Row[]} rows
   */
  list(title, rows) {
    return list(title, rows, (key, meaning) => {
      const label = this.grid.keyMap.label(key);
      const typed = el("kbd", {}, label);
      if (key.length > 1) return typed;
      return button("key", typed, () => this.wait(key), { "aria-label": `Change ${label}: ${meaning}` });
    });
  }

  /**
   * Waits for the new character of this key, or no longer.
   *
   * @param {string | null} key
   */
  wait(key) {
    this.waiting = key;
    setText(this.question, key ? `Press the new key for ${this.grid.keyMap.label(key)} (esc: keep it)` : "");
  }

  /**
   * Handles a key while the sheet is open; whether it did.
   *
   * @param {string} key
   */
  take(key) {
    const { waiting } = this;
    if (waiting && (key === "Escape" || (key.length === 1 && key !== " "))) {
      this.wait(null);
      if (key !== "Escape") this.change((keys) => keys.assign(waiting, key));
      return true;
    }
    if (key !== "Escape" && this.grid.keyMap.meant(key) !== "?") return false;
    this.node.close();
    this.grid.focus.toCursor(); // the next key is meant for the card, not for the button that opened the sheet
    return true;
  }

  /** @param {(keys: KeyMap) => void} how */
  change(how) {
    how(this.grid.keyMap);
    this.grid.relabel();
  }
}

/** @param {string} title @param {Row[]} rows @param {(key: string, meaning: string) => Node} drawn */
function list(title, rows, drawn = (key) => el("kbd", {}, key)) {
  return el(
    "section",
    {},
    el("h3", {}, title),
    el(
      "dl",
      {},
      ...rows.flatMap(([key, meaning]) => [
        el("dt", {}, ...key.split("|").map((each) => drawn(each, meaning))),
        el("dd", {}, meaning),
      ]),
    ),
  );
}

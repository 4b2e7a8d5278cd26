// The dialog that lists every key of this page, and where single keys are changed or switched off.

import { el, setText } from "../../shell/js/elements.js";

const ALWAYS = [
  ["← ↑ ↓ →|h k j l", "move the cursor"],
  ["space", "select the card under the cursor"],
  ["shift + arrows", "select while moving"],
  ["ctrl a|⌘ a", "select all on this page"],
  ["shift a", "select all that match, on every page"],
  ["esc", "clear the selection"],
  ["enter", "open the large view; arrows go on in it"],
  ["d", "compare with possible duplicates"],
  ["+|-", "zoom in the large view; so do a click and the wheel"],
  ["[|]", "page before, page after"],
  ["/", "go to the filter; enter comes back"],
  ["?", "this sheet"],
];

const MOUSE = [
  ["click", "move the cursor; a selection is never lost by it"],
  ["double click", "open the large view"],
  ["corner|ctrl click", "select one, or take it out"],
  ["shift click", "select up to here"],
  ["draw a box", "select what it touches"],
];

export class KeySheet {
  constructor(grid) {
    this.grid = grid;
    this.node = el("dialog", { class: "help", "aria-label": "Keys" });
    this.node.addEventListener("click", (event) => event.target === this.node && this.node.close()); // outside of it
    this.node.addEventListener("close", () => (this.wait(null), grid.focus.toCursor())); // where keys act
    this.isUsed = el("input", {
      type: "checkbox",
      onchange: () => this.change((keys) => keys.turn(!this.isUsed.checked)),
    });
    this.reset = el(
      "button",
      { type: "button", class: "tool", onclick: () => this.change((keys) => keys.reset()) },
      "Usual keys",
    );
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
    const decisions = actions.flatMap((action) => [
      [action.key, `${action.label.toLowerCase()}: ${action.single ? cursor : `the selection, or ${cursor}`}`],
      ...(action.reasons ?? []).map((reason, index) => [String(index + 1), `${action.label.toLowerCase()}: ${reason}`]),
    ]);
    if (data.undoable) decisions.push(["z", "undo"], ["shift z", "redo"]);
    this.isUsed.checked = !keyMap.isOff;
    this.reset.hidden = !keyMap.isChanged;
    const close = el(
      "button",
      { type: "button", class: "tool", autofocus: true, onclick: () => this.node.close() },
      "Close",
      el("kbd", {}, "esc"),
    );
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

  /** Rows of keys, of which single characters are buttons that change them. */
  list(title, rows) {
    return list(title, rows, (key, meaning) => {
      const typed = this.grid.keyMap.label(key);
      return key.length > 1
        ? el("kbd", {}, typed)
        : el(
            "button",
            {
              type: "button",
              class: "key",
              "aria-label": `Change ${typed}: ${meaning}`,
              onclick: () => this.wait(key),
            },
            el("kbd", {}, typed),
          );
    });
  }

  /** Waits for the new character of this key, or no longer. */
  wait(key) {
    this.waiting = key;
    setText(this.question, key ? `Press the new key for ${this.grid.keyMap.label(key)} (esc: keep it)` : "");
  }

  /** Handles a key while the sheet is open; whether it did. */
  take(key) {
    const { waiting } = this;
    if (waiting && key === "Escape") return (this.wait(null), true);
    if (waiting && key.length === 1 && key !== " ")
      return (this.wait(null), this.change((keys) => keys.assign(waiting, key)), true);
    if (key !== "Escape" && this.grid.keyMap.meant(key) !== "?") return false;
    this.node.close();
    this.grid.focus.toCursor(); // the next key is meant for the card, not for the button that opened the sheet
    return true;
  }

  change(how) {
    how(this.grid.keyMap);
    this.grid.relabel();
  }
}

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

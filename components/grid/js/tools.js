// The bar above the cards: the actions, their number of coins and their keys. One row at any width: what does not
// fit moves behind the last button.

import { arrange, el, setAttribute, setText } from "../../shell/js/elements.js";
import { count, icon } from "./dom.js";
import { Reasons, placeBelow } from "./reasons.js";

const SIZES = [
  ["S", 120, "Small cards"],
  ["M", 168, "Medium cards"],
  ["L", 248, "Large cards"],
];
const ALWAYS = 3; // actions that stay visible as long as possible
const READ = 5000; // ms until a message fades; a refusal stays

export class Tools {
  constructor(grid) {
    this.grid = grid;
    this.chosen = el("span", { class: "chosen-count" });
    this.verbs = el("span", { class: "verbs" });
    this.message = el("div", { class: "message", role: "status", "aria-live": "polite", popover: "manual" });
    this.all = tool("All", "ctrl a", "Select all on this page", () => grid.selectPage());
    this.everything = tool("", "", "Select all that match, on every page", () => grid.selectEverything());
    this.none = el(
      "button",
      {
        type: "button",
        class: "tool square",
        title: "Clear the selection (esc)",
        "aria-label": "Clear the selection",
        onclick: () => grid.clear(),
      },
      icon("cross"),
    );
    this.back = el("button", { type: "button", class: "tool", onclick: () => grid.bringBack() });
    this.picking = el("span", { class: "picking" });
    this.undo = el(
      "button",
      {
        type: "button",
        class: "tool square",
        "aria-label": "Undo",
        onclick: (event) => grid.decisions.press(event, () => grid.decisions.undoOrRedo("undo")),
      },
      icon("undo"),
    );
    this.redo = el(
      "button",
      {
        type: "button",
        class: "tool square",
        "aria-label": "Redo",
        onclick: (event) => grid.decisions.press(event, () => grid.decisions.undoOrRedo("redo")),
      },
      icon("redo"),
    );
    this.sizes = el("span", { class: "sizes", role: "group", "aria-label": "Card size" });
    for (const [label, size, title] of SIZES) {
      this.sizes.append(
        el(
          "button",
          { type: "button", title, "aria-label": title, "data-size": size, onclick: () => grid.resize(size) },
          label,
        ),
      );
    }
    this.help = el(
      "button",
      { type: "button", class: "tool square", "aria-label": "Keys", onclick: () => grid.help.show() },
      "?",
    );
    this.menu = el("div", { class: "menu", popover: "auto", onclick: () => this.menu.hidePopover() });
    this.more = el(
      "button",
      { type: "button", class: "tool square", title: "More", "aria-label": "More" },
      el("b", {}, "⋯"),
    );
    this.more.popoverTargetElement = this.menu;
    this.menu.addEventListener("beforetoggle", () => this.placeMenu());
    this.right = el("span", { class: "right" });
    this.lead = el("span", { class: "lead", hidden: true }); // the views of search results …
    this.also = []; // … and what else can be asked of them
    this.node = el(
      "div",
      { class: "tools", role: "toolbar", "aria-label": "What to do" },
      this.lead,
      this.verbs,
      this.picking,
      this.right,
      this.menu,
      this.message,
    );
    this.buttons = [];
  }

  /** Creates the buttons, once for each set of actions. */
  offer(actions, { undoable }) {
    const made = JSON.stringify(actions);
    this.undo.hidden = this.redo.hidden = !undoable;
    if (this.made === made) return;
    this.made = made;
    this.fitted = null;
    this.buttons = actions.map((action) => {
      const label = el("span");
      const button = el(
        "button",
        {
          type: "button",
          class: `verb ${action.tone}`,
          "data-verb": action.verb,
          onclick: (event) => this.grid.decisions.press(event, () => this.grid.decisions.make(action)),
        },
        label,
        el("kbd", {}, this.grid.keyMap.label(action.key)),
      );
      const reasons = action.reasons?.length ? new Reasons(this.grid, action) : null;
      return {
        action,
        button,
        label,
        reasons,
        node: reasons ? el("span", { class: "split" }, button, reasons.opener, reasons.menu) : button,
      };
    });
  }

  /** Names the keys as they are set now. */
  nameKeys() {
    const key = (name) => this.grid.keyMap.label(name);
    setAttribute(this.undo, "title", `Undo (${key("z")})`);
    setAttribute(this.redo, "title", `Redo (${key("shift z")})`);
    setAttribute(this.help, "title", `Keys (${key("?")})`);
    setText(this.everything.lastChild, key("shift a"));
  }

  /** Shows these before the actions, and those buttons after them. */
  join(lead, also) {
    this.lead.replaceChildren(...lead);
    this.lead.hidden = false;
    this.also = also;
  }

  /** Hides everything but the first part, or shows it again. */
  rest(isIdle) {
    for (const part of [this.verbs, this.picking, this.right]) part.hidden = isIdle;
    this.fitted = null;
    this.fit();
  }

  refresh(model) {
    this.nameKeys();
    const size = model.chosenCount;
    const matching = this.grid.data?.matching;
    const elsewhere = [...model.selection.keys()].filter((address) => !model.visible.includes(address)).length;
    for (const { action, button, label, reasons } of this.buttons) {
      setText(label, size > 1 && !action.single ? `${action.label} ${size.toLocaleString("en")}` : action.label);
      button.disabled = !model.targets(action).length;
      if (reasons) reasons.opener.disabled = button.disabled;
    }
    if (model.everything)
      setText(
        this.chosen,
        `${model.everything.except.length ? "" : "All "}${size.toLocaleString("en")} that match selected`,
      );
    else {
      const absent = elsewhere ? `, ${elsewhere.toLocaleString("en")} not on this page` : "";
      setText(this.chosen, size ? `${size.toLocaleString("en")} selected${absent}` : "");
    }
    this.none.hidden = !size;
    this.all.hidden = !model.visible.length || model.visible.every((address) => model.isChosen(address));
    this.everything.hidden = !this.grid.offersEverything;
    if (matching) setText(this.everything.firstChild, `All ${matching.count.toLocaleString("en")} that match`);
    const gone = model.canBringBack(matching);
    this.back.hidden = !gone;
    if (gone) setText(this.back, `Bring back ${count(gone, "selected coin")}`);
    for (const button of this.sizes.children)
      button.setAttribute("aria-pressed", String(Number(button.dataset.size) === this.grid.size));
    this.fit();
  }

  /** Moves actions that do not fit behind the last button, least important first. */
  fit({ width = this.width } = {}) {
    this.width = width;
    const verbs = this.buttons.map(({ node }) => node);
    const shown = [
      ...verbs,
      this.chosen,
      this.none,
      this.back,
      this.all,
      this.everything,
      ...this.also,
      this.undo,
      this.redo,
    ];
    // Measuring forces a layout, so only after a change of width.
    const now = JSON.stringify([width, ...shown.map((node) => (node.hidden ? null : node.textContent))]);
    if (!width || this.verbs.hidden || this.fitted === now) return;
    const isOpen = this.menu.matches(":popover-open");
    this.fitted = isOpen ? null : now; // again when the menu is closed: nothing leaves it while the user presses it
    const folding = [
      ...verbs.slice(ALWAYS).reverse(),
      ...this.also,
      this.sizes,
      this.help,
      this.all,
      this.everything,
      ...verbs.slice(1, ALWAYS).reverse(),
      this.redo,
      this.undo,
    ].filter((node) => !node.hidden);
    // From what is folded now, so that as few buttons as possible are moved.
    let folded = folding.filter((node) => this.menu.contains(node)).length;
    while (!this.fold(folding, folded) && folded < folding.length) folded += 1;
    while (folded && !isOpen && this.fold(folding, folded - 1)) folded -= 1;
    this.fold(folding, folded);
  }

  /**
   * Moves the first of these behind the last button, and all others into the bar; whether the bar has room for them.
   */
  fold(folding, number) {
    const folded = folding.slice(0, number).reverse();
    const unfolded = (...nodes) => nodes.filter((node) => !folded.includes(node));
    this.more.hidden = !number;
    arrange(this.menu, folded);
    arrange(this.verbs, unfolded(...this.buttons.map(({ node }) => node)));
    arrange(this.picking, unfolded(this.chosen, this.none, this.back, this.all, this.everything));
    arrange(this.right, unfolded(...this.also, this.undo, this.redo, this.sizes, this.help, this.more));
    return this.node.scrollWidth <= this.node.clientWidth;
  }

  placeMenu() {
    placeBelow(this.menu, this.more);
  }

  /** Whether a menu was open. */
  closeMenu() {
    const open = [this.menu, ...this.buttons.flatMap(({ reasons }) => reasons?.menu ?? [])].filter((menu) =>
      menu.matches(":popover-open"),
    );
    open.forEach((menu) => menu.hidePopover());
    return open.length > 0;
  }

  /** Shows a message with a button, which stays until the next one. */
  ask(text, label, act) {
    this.say(text, "asking");
    this.message.append(
      el("button", { type: "button", class: "verb", onclick: (event) => this.grid.decisions.press(event, act) }, label),
    );
  }

  /** Shows a message, also to screen readers. */
  say(text, tone = "") {
    if (!tone && this.grid.data.presents) return;
    const { message, grid } = this;
    setText(message, text);
    message.dataset.tone = tone;
    this.fading?.cancel();
    if (!tone) this.fading = message.animate({ opacity: [1, 0] }, { duration: 400, delay: READ, fill: "forwards" });
    // Above the dialog that was opened last.
    if (grid.viewer.isOpen || grid.comparison.isOpen) message.hidePopover();
    if (!message.matches(":popover-open")) message.showPopover();
  }
}

function tool(label, key, title, onclick) {
  return el("button", { type: "button", class: "tool", title, onclick }, label, el("kbd", {}, key));
}

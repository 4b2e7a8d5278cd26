// What can be done with the cards: the actions, their number of coins and their keys, in one row. What does not fit is
// in the menu at its end, with all that is rarely needed.

import { arrange, el, setAttribute, setHidden, setText } from "../../shell/js/elements.js";
import { openMainMenu } from "../../shell/js/streamlit_page.js";
import { switchesOf } from "../../shell/session/safe_mode.js";
import { button, count, icon } from "./dom.js";

/** @import { Attributes, Child } from "../../shell/js/elements.js" */
/** @import { Action } from "./decisions.js" */
/** @import { Grid, GridData } from "./main.js" */
/** @import { Model } from "./model.js" */

export const SIZES = { S: 110, M: 148, L: 248 };
const ALWAYS = 2; // actions that stay visible as long as possible
const ON_CARD = 3; // actions on the card under the cursor
const READ = 5000; // ms until a message fades; a refusal stays

export class Tools {
  /** @type {ReturnType<Tools["buttonOf"]>[]} */
  buttons = [];
  /** @type {HTMLElement[]} what else can be asked of search results */
  also = [];
  /** @type {string | null} the actions of the buttons, as one text */
  made = null;
  /** @type {string | null} what was measured last, as one text */
  fitted = null;
  width = 0;
  /** @type {{action: Action, node: HTMLElement}[]} */
  quick = [];
  /** @type {Animation | undefined} */
  fading;

  /** @param {Grid} grid */
  constructor(grid) {
    this.grid = grid;
    const square = (/** @type {string} */ name, /** @type {Child} */ label, /** @type {() => void} */ act) =>
      button("tool square", label, act, { "aria-label": name });
    this.chosen = el("span", { class: "chosen-count" });
    this.verbs = el("span", { class: "verbs" });
    this.message = el("div", { class: "message", role: "status", "aria-live": "polite", popover: "manual" });
    this.all = button("tool", "All", () => grid.selectPage(), { key: "ctrl a", title: "Select all on this page" });
    this.everything = button("tool", "", () => grid.selectEverything(), {
      key: "",
      title: "Select all that match, on every page",
    });
    this.none = square("Clear the selection", icon("cross"), () => grid.clear());
    this.none.title = "Clear the selection (esc)";
    this.back = button("tool", "", () => grid.bringBack());
    this.picking = el("span", { class: "picking" });
    this.found = el("span", { class: "counted" });
    const press = (/** @type {"undo" | "redo"} */ verb) => (/** @type {PointerEvent} */ event) =>
      grid.decisions.press(event, () => grid.decisions.undoOrRedo(verb));
    this.undo = button("tool", "Undo", press("undo"), { key: "" });
    this.redo = button("tool", "Redo", press("redo"), { key: "" });
    this.sizes = el("span", { class: "sizes", role: "group", "aria-label": "Card size" });
    this.sizeButtons = Object.entries(SIZES).map(([label, size]) => {
      const title = `${{ S: "Small", M: "Medium", L: "Large" }[label]} cards`;
      return {
        size,
        node: button("", label, () => grid.resize(size), { title, "aria-label": title, "data-size": size }),
      };
    });
    this.sizes.append(...this.sizeButtons.map(({ node }) => node));
    this.help = button("tool", "Keys", () => grid.help.show(), { key: "" });
    this.main = button("tool", "Theme and about", openMainMenu);
    this.switches = el("span", { class: "switches" });
    this.more = square("Menu", el("b", {}, "⋮"), () => {});
    this.more.title = "Menu";
    this.menu = menuOf(this.more, { class: "menu", onclick: () => this.menu.hidePopover() });
    this.right = el("span", { class: "right" });
    this.lead = el("span", { class: "lead", hidden: true }); // the views of search results
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
  }

  /** Whether no coin allows all of the verbs: those that the chosen ones do not allow are hidden. */
  get isMixed() {
    const tiers = this.buttons.flatMap(({ action }) => (action.tiers?.length ? [action.tiers] : []));
    const [first = []] = tiers;
    return !first.some((tier) => tiers.every((each) => each.includes(tier)));
  }

  /** The element of the component that they are in. */
  get host() {
    const top = this.node.getRootNode();
    return top instanceof ShadowRoot ? top.host : null;
  }

  /**
   * Creates the buttons, once for each set of actions.
   *
   * @param {Action[]} actions
   * @param {Pick<GridData, "undoable" | "counted" | "switches">} data
   */
  offer(actions, { undoable, counted = "", switches = [] }) {
    const made = JSON.stringify([actions, switches]);
    this.undo.hidden = this.redo.hidden = !undoable;
    setText(this.found, counted);
    if (this.made === made) return;
    this.made = made;
    this.fitted = null;
    this.buttons = actions.map((action) => this.buttonOf(action));
    this.switches.replaceChildren(...switchesOf(switches, "tool"));
    this.quick = actions.filter(({ glyph }) => glyph).map((action) => ({ action, node: this.quickOf(action) }));
    this.grid.cards.quick.replaceChildren(...this.quick.map(({ node }) => node));
  }

  /** @param {Action} action */
  quickOf(action) {
    const { decisions, keyMap } = this.grid;
    const press = (/** @type {PointerEvent} */ event) => {
      event.stopPropagation(); // it is no click on the card
      decisions.press(event, () => decisions.make(action));
    };
    const key = keyMap.label(action.key);
    return button("", action.glyph, press, { key, title: `${action.label} (${key})`, tabindex: "-1" });
  }

  /** @param {Action} action */
  buttonOf(action) {
    const { decisions, keyMap } = this.grid;
    const label = el("span");
    const node = button(`verb ${action.tone}`, label, (event) => decisions.press(event, () => decisions.make(action)), {
      key: keyMap.label(action.key),
      "data-verb": action.verb,
    });
    if (!action.reasons.length) return { action, button: node, label, node, opener: null, menu: null };
    // The reasons, for mouse and touch; the digits do the same.
    const title = `${action.label} with a reason`;
    const opener = button(`verb ${action.tone} opener`, "▾", () => {}, { title, "aria-label": title });
    const reasons = action.reasons.map((reason, at) =>
      button("tool", reason, (event) => decisions.press(event, () => decisions.make(action, { reason })), {
        key: keyMap.label(String(at + 1)),
      }),
    );
    const menu = menuOf(opener, { class: "menu", onclick: () => menu.hidePopover() }, ...reasons);
    return { action, button: node, label, opener, menu, node: el("span", { class: "split" }, node, opener, menu) };
  }

  /** Names the keys as they are set now. */
  nameKeys() {
    const key = (/** @type {string} */ name) => this.grid.keyMap.label(name);
    setText(this.undo.lastChild, key("z"));
    setText(this.redo.lastChild, key("shift z"));
    setText(this.help.lastChild, key("?"));
    setText(this.everything.lastChild, key("shift a"));
  }

  /**
   * Shows these before the actions, and those buttons after them.
   *
   * @param {HTMLElement[]} lead
   * @param {HTMLElement[]} also
   */
  join(lead, also) {
    this.lead.replaceChildren(...lead);
    this.lead.hidden = false;
    this.also = also;
  }

  /**
   * Hides everything but the first part, or shows it again.
   *
   * @param {boolean} isIdle
   */
  rest(isIdle) {
    for (const part of [this.verbs, this.picking]) part.hidden = isIdle;
    this.fitted = null;
    this.fit();
  }

  /** @param {Model} model */
  refresh(model) {
    this.nameKeys();
    const size = model.chosenCount;
    const { matching } = this.grid.data;
    const elsewhere = [...model.selection.keys()].filter((address) => !model.visible.includes(address)).length;
    const allowed = this.buttons.map(({ action }) => model.targets(action).length);
    const isNone = !allowed.some(Boolean);
    this.buttons.forEach(({ action, button, label, opener, node }, at) => {
      const many = model.everything ? size : allowed[at];
      setText(label, size > 1 && !action.single ? `${action.label} ${many.toLocaleString("en")}` : action.label);
      setHidden(node, !isNone && !allowed[at] && this.isMixed);
      button.disabled = !allowed[at];
      if (opener) opener.disabled = button.disabled;
    });
    const fitting = this.quick.filter(({ action }) => model.targets(action).length).slice(0, ON_CARD);
    this.quick.forEach((each) => setHidden(each.node, !fitting.includes(each)));
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
    for (const { node, size } of this.sizeButtons) setAttribute(node, "aria-pressed", String(size === this.grid.size));
    this.fit();
  }

  /** Moves actions that do not fit into the menu, least important first. */
  fit({ width = this.width } = {}) {
    this.width = width;
    const verbs = this.buttons.map(({ node }) => node);
    const { all, everything, also } = this;
    const shown = [...verbs, this.chosen, this.none, this.back, all, everything, ...also, this.found];
    // Measuring forces a layout, so only after a change of width.
    const now = JSON.stringify([width, ...shown.map((node) => (node.hidden ? null : node.textContent))]);
    if (!width || this.verbs.hidden || this.fitted === now) return;
    const isOpen = this.menu.matches(":popover-open");
    this.fitted = isOpen ? null : now; // again when the menu is closed: nothing leaves it while the user presses it
    const folding = [
      ...verbs.slice(ALWAYS).reverse(),
      this.found,
      everything,
      all,
      ...[...also].reverse(),
      ...verbs.slice(0, ALWAYS).reverse(),
    ].filter((node) => !node.hidden);
    // From what is folded now, so that as few buttons as possible are moved.
    let folded = folding.filter((node) => this.menu.contains(node)).length;
    while (!this.fold(folding, folded) && folded < folding.length) folded += 1;
    while (folded && !isOpen && this.fold(folding, folded - 1)) folded -= 1;
    this.fold(folding, folded);
  }

  /**
   * Moves the first of these into the menu, and all others into the bar; whether the bar has room for them.
   *
   * @param {HTMLElement[]} folding
   * @param {number} number
   */
  fold(folding, number) {
    const folded = folding.slice(0, number).reverse();
    const unfolded = (/** @type {HTMLElement[]} */ ...nodes) => nodes.filter((node) => !folded.includes(node));
    arrange(this.menu, [...folded, this.undo, this.redo, this.sizes, this.switches, this.help, this.main]);
    arrange(this.verbs, unfolded(...this.buttons.map(({ node }) => node)));
    arrange(this.picking, unfolded(this.chosen, this.none, this.back, this.all, this.everything));
    arrange(this.right, unfolded(...this.also, this.found, this.more));
    return this.node.scrollWidth <= this.node.clientWidth;
  }

  /** Whether a menu was open. */
  closeMenu() {
    const open = [this.menu, ...this.buttons.flatMap(({ menu }) => menu ?? [])].filter((menu) =>
      menu.matches(":popover-open"),
    );
    open.forEach((menu) => menu.hidePopover());
    return open.length > 0;
  }

  /**
   * Shows a message with a button, which stays until the next one.
   *
   * @param {string} text
   * @param {string} label
   * @param {() => void} act
   */
  ask(text, label, act) {
    this.say(text, "asking");
    this.message.append(button("verb", label, (event) => this.grid.decisions.press(event, act)));
  }

  /**
   * Says what was decided, with the button that undoes it.
   *
   * @param {string} text
   */
  sayDone(text) {
    this.say(text);
    const { decisions, keyMap } = this.grid;
    const undo = (/** @type {PointerEvent} */ event) => decisions.press(event, () => decisions.undoOrRedo("undo"));
    this.message.append(button("undo", "Undo", undo, { key: keyMap.label("z") }));
  }

  /**
   * Shows a message, also to screen readers.
   *
   * @param {string} text
   * @param {"" | "red" | "asking"} tone
   */
  say(text, tone = "") {
    if (!tone && this.grid.data.presents) return;
    const { message, grid } = this;
    setText(message, text);
    message.dataset.tone = tone;
    this.fading?.cancel();
    if (!tone) {
      this.fading = message.animate({ opacity: [1, 0] }, { duration: 400, delay: READ });
      this.fading.onfinish = () => message.hidePopover();
    }
    // Above the dialog that was opened last.
    if (grid.panel.isOpen || grid.comparison.isOpen) message.hidePopover();
    if (!message.matches(":popover-open")) message.showPopover();
  }
}

/**
 * The button that undoes the last decision, or repeats what was undone.
 *
 * @param {Grid} grid
 * @param {"undo" | "redo"} verb
 */
export function undoButton({ decisions }, verb) {
  const press = (/** @type {PointerEvent} */ event) => decisions.press(event, () => decisions.undoOrRedo(verb));
  return button("tool square", icon(verb), press, { "aria-label": verb === "undo" ? "Undo" : "Redo" });
}

/**
 * The menu that a button opens, below it or above it.
 *
 * @param {HTMLButtonElement} opener
 * @param {Attributes} attributes
 * @param {Node[]} children
 */
export function menuOf(opener, attributes, ...children) {
  const menu = el("div", { popover: "auto", ...attributes }, ...children);
  opener.popoverTargetElement = menu;
  menu.addEventListener("beforetoggle", () => placeBelow(menu, opener));
  return menu;
}

/**
 * Puts a menu below its button, or above it in the lower half of the window, in line with its edge that is nearer to
 * the edge of the window.
 *
 * @param {HTMLElement} menu
 * @param {HTMLElement} button
 */
function placeBelow(menu, button) {
  const { top, bottom, left, right } = button.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const isLeft = left + right < clientWidth;
  const isLow = top + bottom > clientHeight;
  Object.assign(menu.style, {
    top: isLow ? "auto" : `${bottom + 6}px`,
    bottom: isLow ? `${clientHeight - top + 6}px` : "auto",
    right: isLeft ? "auto" : `${clientWidth - right}px`,
    left: isLeft ? `${left}px` : "auto",
  });
}

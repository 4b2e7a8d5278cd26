// The keyboard: handled on the document before anything else on the page, but not while the user types. Single
// characters act only while the focus is in the grid or on the page itself, not on a control elsewhere.

import { KEYS, read, write } from "../../shell/js/storage.js";
import { fieldOfKey } from "../../shell/js/streamlit_page.js";
import { VERDICTS } from "./comparison.js";
import { filterField } from "./filter_line.js";
import { addressOf } from "./focus.js";

/** @import { Grid } from "./main.js" */

/** @typedef {Pick<KeyboardEvent, "shiftKey" | "ctrlKey" | "metaKey" | "altKey" | "repeat" | "timeStamp">} Modifiers */
/** @typedef {Modifiers & {key: string}} Key as the grid knows it */
/**
 * `typed`: key of the grid → its character, where they differ; always a permutation.
 *
 * @typedef {{isOff?: boolean, typed?: Record<string, string>}} Kept
 */

/** @type {Record<string, [x: number, y: number]>} */
const STEPS = {
  ArrowLeft: [-1, 0],
  h: [-1, 0],
  ArrowRight: [1, 0],
  l: [1, 0],
  ArrowUp: [0, -1],
  k: [0, -1],
  ArrowDown: [0, 1],
  j: [0, 1],
};
const ROLES = ["slider", "tab", "radio", "option", "menuitem", "combobox", "listbox"];
const WITH_ARROWS = ["canvas, audio, video", ...ROLES.map((role) => `[role=${role}]`)].join(", ");
const MOVES = /^( |Enter|Arrow.*|Home|End|Page.*)$/; // keys that a slider or a switch handles itself
const FIELDS = "input, textarea, select";
const CONTROLS = `button, a, summary, ${WITH_ARROWS}`;

const REST = 500; // ms without a key, after which the next one is meant for the visible cards
const SAME_PAGE = "[]z/?"; // keys that do not act on a card

/** @type {typeof globalThis & {memedexKeys?: ReturnType<typeof watch>}} what all grids of a document share */
const tab = globalThis;

/** @param {Grid} grid */
export function listenToKeys(grid) {
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    if (event.isComposing || event.defaultPrevented || !grid.root.isConnected) return;
    const target = event.composedPath()[0];
    if (grid.tagging.isOpen) return;
    const field = filterField();
    if (event.key === "Enter" && field && target === field) return leaveFilter(grid, field);
    if (isTyping(target) && !(isOwn(grid, target) && !MOVES.test(event.key))) return;
    if (isElsewhere(grid)) return grid.earlyKeys.rest();
    const pressed = meant(grid, event, target);
    if (!pressed) return;
    if (
      grid.help.isOpen
        ? pressInHelp(grid, event, target)
        : grid.filter.holds(event) || grid.earlyKeys.isTooEarly(pressed) || take(grid, pressed, target)
    ) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  };
  document.addEventListener("keydown", onKey, true);
  return () => document.removeEventListener("keydown", onKey, true);
}

/** @param {EventTarget} target */
function isTyping(target) {
  return target instanceof HTMLElement && (target.matches(FIELDS) || target.isContentEditable);
}

/**
 * A slider or a switch of the grid: it ignores letters, so they still act on the cards.
 *
 * @param {Grid} grid
 * @param {EventTarget} target
 */
function isOwn(grid, target) {
  return isOn(target, "input[type=range], input[type=checkbox]") && isIn(grid, target);
}

/** @param {EventTarget} target @param {string} selector */
function isOn(target, selector) {
  return target instanceof Element && target.matches(selector);
}

/** @param {Grid} grid @param {EventTarget} target */
function isIn({ root, tools }, target) {
  return target instanceof Node && (root.contains(target) || tools.node.contains(target));
}

/**
 * Whether one of the page's own dialogs or drawers is open; toasts and tooltips do not count.
 *
 * @param {Grid} grid
 */
function isElsewhere(grid) {
  return Boolean(grid.host?.closest("[inert]") || document.querySelector("[role=dialog]"));
}

/**
 * The event as the grid's own keys, or null for a character that is not meant for the cards.
 *
 * @param {Grid} grid
 * @param {KeyboardEvent} event
 * @param {EventTarget} target
 * @returns {Key | null}
 */
function meant(grid, event, target) {
  const { key, shiftKey, ctrlKey, metaKey, altKey, repeat, timeStamp } = event;
  const pressed = { key, shiftKey, ctrlKey, metaKey, altKey, repeat, timeStamp };
  if (key.length > 1) return pressed;
  if (ctrlKey || metaKey || altKey) return { ...pressed, key: key.toLowerCase() };
  const character = grid.help.isOpen ? key : isHere(grid, target) ? grid.keyMap.meant(key) : null;
  return character === null ? null : { ...pressed, key: character };
}

/**
 * Whether the focus is in the grid, or on the page itself and not on something else on it.
 *
 * @param {Grid} grid
 * @param {EventTarget} target
 */
function isHere(grid, target) {
  return isIn(grid, target) || !(target instanceof Element) || target.contains(grid.host ?? grid.root);
}

/**
 * Runs the action of the key; true if it has one.
 *
 * @param {Grid} grid
 * @param {Key} event
 * @param {EventTarget} target
 */
function take(grid, event, target) {
  const { key } = event;
  if (grid.tools.closeMenu() && key === "Escape") return (grid.focus.follow(), true);
  if ((event.ctrlKey || event.metaKey) && !event.altKey && key === "a" && !grid.panel.isLarge)
    return (grid.selectPage(), true);
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (key === "?") return (grid.help.show(), true);
  if ((key === "Enter" || key === " ") && isOn(target, CONTROLS)) return false;
  if (key.startsWith("Arrow") && isOn(target, WITH_ARROWS) && !isIn(grid, target)) return false;
  if (key === "z") return (event.repeat || grid.decisions.undoOrRedo(event.shiftKey ? "redo" : "undo"), true);
  if (grid.ranking?.views.hasCards === false) return false;
  // A key held down must not decide a whole queue.
  if (event.repeat && !STEPS[key]) return grid.actions.some((action) => action.key === key);
  if (grid.ranking?.views.why.open) return false;
  if (grid.comparison.isOpen) return inComparison(grid, key, event);
  if (key === "d") return (grid.compare(grid.model.cursor ?? ""), true);
  if (grid.panel.isLarge) return inLargePanel(grid, key);
  // A second press must not approve what the first has just selected.
  if (key === "a" && event.shiftKey) return (grid.selectEverything(), true);
  const step = STEPS[key];
  if (step) return (grid.step(step[0], step[1], { select: event.shiftKey }), true);
  if (key === " ") return (grid.toggle(), true);
  if (key === "Enter") return (grid.panel.show(grid.model.cursor), true);
  if (key === "Escape" && grid.panel.isOpen) return (grid.panel.close(), true);
  if (key === "Escape") return grid.clear();
  if (key === "Home" || key === "End") return (grid.edge(key === "End"), true);
  if (key === "y" && grid.ranking) return grid.ranking.views.askWhy();
  if (key === "/") return grid.filter.focus();
  if (key === "[" || key === "]") return grid.turn(key === "]" ? 1 : -1);
  return decide(grid, key);
}

/** @param {Grid} grid @param {string} key */
function inLargePanel(grid, key) {
  if (key === "Escape" || key === "Enter") return (grid.panel.close(), true);
  if (STEPS[key]) return (grid.panel.step(STEPS[key][0] + STEPS[key][1]), true);
  if (key === " ") return (grid.toggle(), true);
  if (key === "+" || key === "=" || key === "-") return (grid.panel.zoom(key === "-" ? -1 : 1), true);
  return decide(grid, key);
}

/** @param {Grid} grid @param {string} key @param {Key} event */
function inComparison(grid, key, event) {
  const { comparison } = grid;
  if (key === "Escape" || key === "Enter" || key === "d") return (comparison.close(), true);
  if (STEPS[key]) return (comparison.step(STEPS[key][0] + STEPS[key][1]), true);
  const verdict = VERDICTS.find((each) => each.key === key);
  if (verdict) return (comparison.judge(verdict, { all: event.shiftKey && verdict === VERDICTS[0] }), true);
  return decide(grid, key);
}

/**
 * The action of a key, or of a digit that means a reason.
 *
 * @param {Grid} grid
 * @param {string} key
 */
function decide(grid, key) {
  const place = grid.panel.told?.place;
  if (place && /^[a-z0-9.,]$/.test(key)) return (grid.tools.say(`${place.label} to decide this coin`), true);
  const action = grid.actions.find((each) => each.key === key);
  if (action) return (grid.decisions.make(action), true);
  const reasoned = grid.actions.find((each) => each.reasons.length);
  const reason = reasoned?.reasons[Number(key) - 1];
  if (!/^[1-9]$/.test(key) || !reasoned || !reason) return false;
  return (grid.decisions.make(reasoned, { reason }), true);
}

/** @param {Grid} grid @param {KeyboardEvent} event @param {EventTarget} target */
function pressInHelp(grid, { key, ctrlKey, metaKey, altKey }, target) {
  if (ctrlKey || metaKey || altKey || ((key === "Enter" || key === " ") && isOn(target, CONTROLS))) return false;
  return grid.help.take(key);
}

/**
 * Returns to the cards after the field itself has handled the key.
 *
 * @param {Grid} grid
 * @param {HTMLInputElement} field
 */
function leaveFilter(grid, field) {
  setTimeout(() => {
    field.blur();
    // If a new query is running, the focus goes to its first coin.
    grid.refresh({ focus: !grid.earlyKeys.isAskedAnew });
  });
}

/**
 * Which typed character acts as which key of the grid: as set in this browser. Single characters can be switched off
 * (WCAG 2.1.4); named keys such as arrows and Enter always work.
 */
export class KeyMap {
  constructor() {
    const { isOff = false, typed = {} } = read(KEYS, /** @type {Kept} */ ({}), "localStorage");
    this.isOff = isOff === true;
    this.typed = typed;
  }

  /** @param {boolean} isOff */
  turn(isOff) {
    this.isOff = isOff;
    this.store();
  }

  /**
   * The key of the grid that is meant by a character, or null while they are off.
   *
   * @param {string} character
   */
  meant(character) {
    if (character === " ") return " ";
    if (this.isOff) return null;
    const lower = character.toLowerCase();
    return this.keyOf(lower) ?? lower;
  }

  /** @param {string} character */
  keyOf(character) {
    return Object.keys(this.typed).find((key) => this.typed[key] === character);
  }

  /**
   * A key as it is typed, also one such as "shift a".
   *
   * @param {string} key
   */
  label(key) {
    const at = key.lastIndexOf(" ") + 1;
    return key.slice(0, at) + (this.typed[key.slice(at)] ?? key.slice(at));
  }

  /**
   * Uses this character for a key; the action that had it gets the key's former one, so that none is lost.
   *
   * @param {string} key
   * @param {string} character
   */
  assign(key, character) {
    const lower = character.toLowerCase();
    const former = this.label(key);
    const other = this.keyOf(lower) ?? lower;
    this.typed[other] = former;
    this.typed[key] = lower;
    for (const each of [other, key]) if (this.typed[each] === each) delete this.typed[each];
    this.store();
  }

  get isChanged() {
    return Object.keys(this.typed).length > 0;
  }

  reset() {
    this.typed = {};
    this.store();
  }

  store() {
    write(KEYS, { isOff: this.isOff, typed: this.typed }, "localStorage");
  }
}

/**
 * Whether a key is meant for the visible cards. A key typed while something else is loading (another page, a dialog,
 * other cards) is meant for that, so it decides nothing.
 */
export class EarlyKeys {
  since = performance.now();
  keys = (tab.memedexKeys ??= watch());

  /** @param {Grid} grid */
  constructor(grid) {
    this.grid = grid;
    this.keys.grids.add(grid);
    this.keys.leaving = false;
    this.keys.page = location.pathname;
  }

  /**
   * Whether this key came before its target had loaded.
   *
   * @param {Key} event
   */
  isTooEarly({ key, ctrlKey, metaKey, altKey, timeStamp }) {
    const { keys } = this;
    if (key === "Escape") this.rest();
    if ((key.length > 1 && key !== "Enter") || ctrlKey || metaKey || altKey) return false;
    // By the time of the key press: a busy page handles it later.
    const isEarly = timeStamp < this.since || timeStamp - keys.early < REST || keys.leaving || this.isGoing(key);
    if (isEarly) keys.early = timeStamp;
    return isEarly;
  }

  /**
   * Whether an earlier key opens a page, a dialog or other cards that have not loaded yet.
   *
   * @param {string} key
   */
  isGoing(key) {
    const goes = new Set(this.grid.acts.entries.map((act) => act.goes));
    if (goes.has("elsewhere")) return true;
    return (goes.has("page") || this.isAskedAnew) && !SAME_PAGE.includes(key);
  }

  /** Whether the line above the cards differs from the query they answer. It is empty while it loads. */
  get isAskedAnew() {
    const { line } = this.grid.data;
    const field = line && fieldOfKey(line.field);
    if (!line || !field || (!field.value && !this.keys.touched.has(field))) return false;
    return inOneLine(field.value) !== inOneLine(line.says);
  }

  /** After an open dialog, a pointer press or escape, the next key is meant for what is visible. */
  rest() {
    this.keys.leaving = false;
    this.keys.early = -Infinity;
  }

  stop() {
    this.keys.grids.delete(this.grid);
  }
}

/**
 * The text as an input field stores it.
 *
 * @param {string} text
 */
function inOneLine(text) {
  return text.replace(/[\r\n]/g, "").trim();
}

/** Records, for the lifetime of the document, keys that no grid handled and the targets of clicked links. */
function watch() {
  const keys = {
    early: -Infinity,
    leaving: false,
    page: "",
    grids: /** @type {Set<Grid>} */ (new Set()),
    touched: /** @type {WeakSet<Element>} */ (new WeakSet()),
  };
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const isHeard = [...keys.grids].some(({ root }) => root.isConnected);
    if (event.key.length === 1 && !isHeard && !isTyping(event.composedPath()[0])) keys.early = event.timeStamp;
  };
  // Going back by alt-← or a mouse button: this changes the page without a link.
  const wentBack = (/** @type {PopStateEvent} */ event) => {
    if (location.pathname === keys.page) keys.early = event.timeStamp;
    else keys.leaving = true;
  };
  const followed = (/** @type {PointerEvent} */ event) => {
    const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement && node.href);
    keys.leaving = false;
    if (!(link instanceof HTMLAnchorElement) || link.target || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const to = addressOf(link);
    keys.leaving = to.origin === location.origin && to.pathname !== location.pathname;
    if (!keys.leaving) keys.grids.forEach(({ focus }) => focus.leaveLink(link));
  };
  const onQuestion = (/** @type {Event} */ event) => {
    const place = event.composedPath().find((node) => isOn(node, "[class*=st-key-]"));
    const field = place instanceof Element && place.querySelector("input");
    if (field) keys.touched.add(field);
  };
  window.addEventListener("input", onQuestion, true);
  window.addEventListener("click", onQuestion, true); // the button that clears it
  window.addEventListener("keydown", onKey, true);
  window.addEventListener("click", followed, true);
  window.addEventListener("popstate", wentBack, true);
  window.addEventListener("pointerdown", () => keys.grids.forEach(({ earlyKeys }) => earlyKeys.rest()), true);
  // Nothing listened before this, but the browser counts keys: the user typed while the page was loading.
  if (performance.eventCounts?.get("keydown") && navigator.userActivation?.isActive) keys.early = performance.now();
  return keys;
}

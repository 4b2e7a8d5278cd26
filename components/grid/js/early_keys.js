// Whether a key is meant for the visible cards. A key typed while something else is loading (another
// page, a dialog, other cards) is meant for that, so it decides nothing.

import { fieldOfKey } from "../../shell/js/streamlit_page.js";

const REST = 500; // ms without a key, after which the next one is meant for the visible cards
const SAME_PAGE = "[]z/?"; // keys that do not act on a card

export class EarlyKeys {
  constructor(grid) {
    this.grid = grid;
    this.since = performance.now();
    this.keys = window.memedexKeys ??= watch();
    this.keys.grids.add(grid);
    this.keys.leaving = false;
    this.keys.page = location.pathname;
  }

  /** Whether this key came before its target had loaded. */
  isTooEarly({ key, ctrlKey, metaKey, altKey, timeStamp }) {
    const { keys } = this;
    if (key === "Escape") this.rest();
    if ((key.length > 1 && key !== "Enter") || ctrlKey || metaKey || altKey) return false;
    // By the time of the key press: a busy page handles it later.
    const isEarly = timeStamp < this.since || timeStamp - keys.early < REST || keys.leaving || this.isGoing(key);
    if (isEarly) keys.early = timeStamp;
    return isEarly;
  }

  /** Whether an earlier key opens a page, a dialog or other cards that have not loaded yet. */
  isGoing(key) {
    const goes = new Set(this.grid.acts.entries.map((act) => act.goes));
    if (goes.has("elsewhere")) return true;
    return (goes.has("page") || this.isAskedAnew) && !SAME_PAGE.includes(key);
  }

  /** Whether the line above the cards differs from the query they answer. It is empty while it loads. */
  get isAskedAnew() {
    const { line } = this.grid.data;
    const field = line && fieldOfKey(line.field);
    if (!field || (!field.value && !this.keys.touched.has(field))) return false;
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

/** The text as an input field stores it. */
function inOneLine(text) {
  return text.replace(/[\r\n]/g, "").trim();
}

/** Records, for the lifetime of the document, keys that no grid handled and the targets of clicked links. */
function watch() {
  const keys = { early: -Infinity, leaving: false, grids: new Set(), touched: new WeakSet() };
  const isField = (target) =>
    target instanceof Element && (target.matches("input, textarea, select") || target.isContentEditable);
  const onKey = (event) => {
    const isHeard = [...keys.grids].some(({ root }) => root.isConnected);
    if (event.key.length === 1 && !isHeard && !isField(event.composedPath()[0])) keys.early = event.timeStamp;
  };
  // Going back by alt-← or a mouse button: this changes the page without a link.
  const wentBack = (event) => {
    if (location.pathname === keys.page) keys.early = event.timeStamp;
    else keys.leaving = true;
  };
  const followed = (event) => {
    const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement && node.href);
    const isPlain = link && !link.target && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    // Streamlit's first page has no name.
    const to = isPlain && new URL(link.getAttribute("href") || ".", document.baseURI);
    keys.leaving = Boolean(to) && to.origin === location.origin && to.pathname !== location.pathname;
    if (to && !keys.leaving) keys.grids.forEach(({ focus }) => focus.leaveLink(link));
  };
  const onQuestion = (event) => {
    const field = event
      .composedPath()
      .find((node) => node instanceof Element && node.matches("[class*=st-key-]"))
      ?.querySelector("input");
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

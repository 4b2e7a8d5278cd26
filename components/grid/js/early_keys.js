// Whether a key is meant for the cards that are seen. Whoever types on while something else is on its way there (another
// page, a dialog, other cards) means that: such a key decides nothing.

const REST = 500; // ms without a key, after which the next one is an answer to what is seen
const SAME_PAGE = "[]z/?"; // keys that are about no card

export class EarlyKeys {
  constructor(grid) {
    this.grid = grid;
    this.since = performance.now();
    this.keys = window.memedexKeys ??= watch();
    this.keys.grids.add(grid);
    this.keys.leaving = false;
    this.keys.page = location.pathname;
  }

  /** Whether this key came too early for what it means. */
  isTooEarly({ key, ctrlKey, metaKey, altKey, timeStamp }) {
    const { keys } = this;
    if (key === "Escape") this.rest();
    if ((key.length > 1 && key !== "Enter") || ctrlKey || metaKey || altKey) return false;
    // By when it was pressed: a busy page hears of it later.
    const isEarly = timeStamp < this.since || timeStamp - keys.early < REST || keys.leaving || this.isGoing(key);
    if (isEarly) keys.early = timeStamp;
    return isEarly;
  }

  /** Whether what was pressed here leads elsewhere, to a dialog or to other cards, and is not there yet. */
  isGoing(key) {
    const { log } = this.grid;
    if (log.entries.some(({ goes }) => goes && goes !== "page")) return true;
    return (log.entries.some(({ goes }) => goes) || this.isAskedAnew) && !SAME_PAGE.includes(key);
  }

  /** Whether the line above the cards says something else than what they answer. While it loads, it is empty. */
  get isAskedAnew() {
    const { line } = this.grid.data;
    const field = line && document.querySelector(`.st-key-${CSS.escape(line.field)} input`);
    if (!field || (!field.value && !this.keys.touched.has(field))) return false;
    return inOneLine(field.value) !== inOneLine(line.says);
  }

  /** A dialog is open, a pointer or escape was pressed: what comes now is meant for what is there. */
  rest() {
    this.keys.leaving = false;
    this.keys.early = -Infinity;
  }

  stop() {
    this.keys.grids.delete(this.grid);
  }
}

/** As a field holds it. */
function inOneLine(text) {
  return text.replace(/[\r\n]/g, "").trim();
}

/** Notes, as long as the document lives, when a key came that no grid was there to hear, and where links lead. */
function watch() {
  const keys = { early: -Infinity, leaving: false, grids: new Set(), touched: new WeakSet() };
  const isField = (target) => target instanceof Element && (target.matches("input, textarea, select") || target.isContentEditable);
  const heard = (event) => {
    const isHeard = [...keys.grids].some(({ root }) => root.isConnected);
    if (event.key.length === 1 && !isHeard && !isField(event.composedPath()[0])) keys.early = event.timeStamp;
  };
  // Alt-←, or a mouse's own button for it: what leads to another page is no link then.
  const wentBack = (event) => {
    if (location.pathname === keys.page) keys.early = event.timeStamp;
    else keys.leaving = true;
  };
  const followed = (event) => {
    const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement && node.href);
    const isPlain = link && !link.target && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    const to = isPlain && new URL(link.getAttribute("href") || ".", document.baseURI); // Streamlit's first page has no name
    keys.leaving = Boolean(to) && to.origin === location.origin && to.pathname !== location.pathname;
  };
  const asked = (event) => {
    const field = event.composedPath().find((node) => node instanceof Element && node.matches("[class*=st-key-]"))?.querySelector("input");
    if (field) keys.touched.add(field);
  };
  window.addEventListener("input", asked, true);
  window.addEventListener("click", asked, true); // the cross that empties it
  window.addEventListener("keydown", heard, true);
  window.addEventListener("click", followed, true);
  window.addEventListener("popstate", wentBack, true);
  window.addEventListener("pointerdown", () => keys.grids.forEach(({ earlyKeys }) => earlyKeys.rest()), true);
  // Before this nobody listened, but browsers count: somebody has been typing while the page was loading.
  if (performance.eventCounts?.get("keydown") && navigator.userActivation?.isActive) keys.early = performance.now();
  return keys;
}

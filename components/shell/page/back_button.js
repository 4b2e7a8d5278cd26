// "Back" leads to what was there before the last click or key. Streamlit makes entries of the browser's history
// that nobody asked for: they replace the entry before. And what is typed into a field replaces the entry of what was
// there: a question gets its own. A link to other parameters of the page that is shown, and one in markup of our own,
// is followed as Back and Forward are: the address comes first, and each run has it, so none that overtakes the click
// loses it. Where there is no `navigation`, Streamlit's entries stay.

import { OWN_LINK, PAGE_LINK } from "../js/streamlit_page.js";

/** @typedef {Pick<URL, "origin" | "pathname" | "search">} Address */
/**
 * What this asks of the browser's Navigation API, of which TypeScript does not know yet.
 *
 * @typedef {Event & {
 *   navigationType: string,
 *   destination: {url: string, sameDocument: boolean},
 *   hashChange: boolean,
 * }} Navigate
 */

const GESTURES = ["keydown", "pointerdown"];
const QUESTIONS = ["q", "ask"]; // the parameters of the question boxes of Search and Memory

/**
 * Whether a click follows a link to other parameters of the page that is shown, in this tab; `isOwn` links may lead to
 * another page as well.
 *
 * @param {MouseEvent} click
 * @param {Address} to
 * @param {Address} from
 */
export function isFollowed({ button, ctrlKey, metaKey, shiftKey, altKey }, to, from, isOwn = false) {
  const isPlain = button === 0 && !ctrlKey && !metaKey && !shiftKey && !altKey;
  if (!isPlain || to.origin !== from.origin) return false;
  return to.pathname === from.pathname ? isOwn || to.search !== from.search : isOwn;
}

export class History {
  /** @type {{search: string, at: number} | null} */
  #step = null; // the last change of the query alone
  #arrivedAt = -Infinity;
  #touchedAt = -Infinity;

  /** @param {number} now when a key or the pointer was pressed */
  touch(now) {
    this.#touchedAt = now;
  }

  /** @param {number} now when another page is shown */
  arrive(now) {
    this.#arrivedAt = now;
    this.#step = null;
  }

  /**
   * Whether a new entry of the history should replace the one before:
   * - Streamlit changes pages in two steps, first the other page's query at this page's path, then the other path. In
   *   between, this page's own query is gone. No gesture comes between the two, however long a slow server takes.
   * - A page that has just been opened adds to its address what it shows, before anybody has touched it.
   *
   * @param {Address} to
   * @param {{from: Address, now: number}} shown
   */
  isUnasked(to, { from, now }) {
    if (to.pathname !== from.pathname) {
      const isSecond = to.search === this.#step?.search && this.#touchedAt <= this.#step.at;
      this.arrive(now);
      return isSecond;
    }
    if (this.#touchedAt <= this.#arrivedAt) return true;
    this.#step = { search: to.search, at: now };
    return false;
  }

  /**
   * Whether this address, which should replace the one before, answers another question that a person asked here.
   *
   * @param {Address} to
   * @param {{from: Address}} shown
   */
  isQuestion(to, { from }) {
    const questions = (/** @type {Address} */ { search }) =>
      QUESTIONS.map((name) => new URLSearchParams(search).get(name) ?? "").join();
    return to.pathname === from.pathname && this.#touchedAt > this.#arrivedAt && questions(to) !== questions(from);
  }
}

const known = new History();
let isListening = false;

function followLinks() {
  document.addEventListener(
    "click",
    (event) => {
      const link = event.target instanceof Element && event.target.closest(`${PAGE_LINK}, ${OWN_LINK}`);
      if (!(link instanceof HTMLAnchorElement)) return;
      if (!isFollowed(event, link, location, link.matches(OWN_LINK))) return;
      event.preventDefault();
      event.stopPropagation();
      history.pushState({}, "", link.href);
      dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
    },
    { capture: true },
  );
}

/** @param {EventTarget} navigation */
function keepEntries(navigation) {
  known.arrive(performance.now());
  for (const gesture of GESTURES)
    window.addEventListener(gesture, () => known.touch(performance.now()), { capture: true, passive: true });
  navigation.addEventListener("navigate", (given) => {
    const event = /** @type {Navigate} */ (given);
    if (event.navigationType === "traverse") known.arrive(performance.now());
    if (!event.destination.sameDocument || event.hashChange || !event.cancelable) return;
    const to = new URL(event.destination.url);
    if (event.navigationType === "push" && known.isUnasked(to, { from: location, now: performance.now() })) {
      event.preventDefault();
      history.replaceState(history.state, "", to);
    } else if (event.navigationType === "replace" && known.isQuestion(to, { from: location })) {
      event.preventDefault();
      history.pushState(history.state, "", to);
    }
  });
}

export default function () {
  const { navigation } = /** @type {typeof window & {navigation?: EventTarget}} */ (window);
  if (isListening) return;
  isListening = true;
  followLinks();
  if (!navigation) return;
  keepEntries(navigation);
  document.documentElement.dataset.history = "kept"; // from now on; tests wait for it
}

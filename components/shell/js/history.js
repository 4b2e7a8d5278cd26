// Which new addresses are no places to go back to, and which of those that replace one are.

const QUESTION = "q"; // the parameter of the search box
const AT_ONCE = 3000; // ms between the two steps of a change of pages, at most

/** Whether a click follows a link to other parameters of the page that is shown, in this tab. */
export function isOfThisPage({ button, ctrlKey, metaKey, shiftKey, altKey }, to, from) {
  const isPlain = button === 0 && !ctrlKey && !metaKey && !shiftKey && !altKey;
  return isPlain && to.origin === from.origin && to.pathname === from.pathname && to.search !== from.search;
}

export class History {
  #step = null; // {search, at}: the last change of the query alone
  #arrivedAt = -Infinity;
  #touchedAt = -Infinity;

  /** A key or the pointer was pressed. */
  touch(now) {
    this.#touchedAt = now;
  }

  /** Another page is shown. */
  arrive(now) {
    [this.#arrivedAt, this.#step] = [now, null];
  }

  /**
   * Whether a new entry of the history should replace the one before:
   * - Streamlit changes pages in two steps, first the other page's query at this page's path, then the other path. In
   *   between, this page's own query is gone.
   * - A page that has just been opened adds to its address what it shows, before anybody has touched it.
   */
  isUnasked(to, { from, now }) {
    if (to.pathname !== from.pathname) {
      const isSecond = this.#step !== null && to.search === this.#step.search && now - this.#step.at < AT_ONCE;
      this.arrive(now);
      return isSecond;
    }
    if (this.#touchedAt <= this.#arrivedAt) return true;
    this.#step = { search: to.search, at: now };
    return false;
  }

  /** Whether this address, which should replace the one before, answers another question that somebody asked here. */
  isQuestion(to, { from }) {
    const question = ({ search }) => new URLSearchParams(search).get(QUESTION) ?? "";
    return to.pathname === from.pathname && this.#touchedAt > this.#arrivedAt && question(to) !== question(from);
  }
}

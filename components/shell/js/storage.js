// The browser's storage, which may be disabled or full: then nothing survives a reload, and nothing else is lost.

/** Where the grid's keys are kept, and whether single characters act at all. */
export const KEYS = "memedex-keys";

/** @typedef {"localStorage" | "sessionStorage"} Kind */
/** @template Kept @typedef {{read: () => Kept | null, write: (kept: Kept | null) => void}} Store */

/**
 * What `use` returns of this browser's storage; undefined if there is none.
 *
 * @template Result
 * @param {(storage: Storage) => Result} use
 */
export function stored(use) {
  try {
    return use(window.localStorage);
  } catch {
    return undefined;
  }
}

/**
 * A value of this tab that survives a reload, or the fallback.
 *
 * @template Value
 * @param {string} key
 * @param {Value} fallback
 * @param {Kind} storage
 * @returns {Value}
 */
export function read(key, fallback, storage = "sessionStorage") {
  try {
    return JSON.parse(window[storage].getItem(key) ?? "null") ?? fallback;
  } catch {
    return fallback;
  }
}

/**
 * Keeps a value; null is removed.
 *
 * @param {string} key
 * @param {unknown} value
 * @param {Kind} storage
 */
export function write(key, value, storage = "sessionStorage") {
  try {
    if (value === null) window[storage].removeItem(key);
    else window[storage].setItem(key, JSON.stringify(value));
  } catch {
    // without storage it just does not survive a reload
  }
}

/**
 * Where a value is kept in this tab, even if the page is loaded again.
 *
 * @template Kept
 * @param {string} key
 * @returns {Store<Kept>}
 */
export function keptInTab(key) {
  return { read: () => read(key, /** @type {Kept | null} */ (null)), write: (kept) => write(key, kept) };
}

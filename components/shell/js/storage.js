// The browser's storage, which may be disabled or full: then nothing survives a reload, and nothing else is lost.
// @ts-check

/** @typedef {"localStorage" | "sessionStorage"} Kind */

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
 * @param {string} key
 * @param {any} fallback
 * @param {Kind} storage
 */
export function read(key, fallback, storage = "sessionStorage") {
  try {
    return JSON.parse(window[storage].getItem(key) ?? "null") ?? fallback;
  } catch {
    return fallback;
  }
}

/**
 * @param {string} key
 * @param {any} value
 * @param {Kind} storage
 */
export function write(key, value, storage = "sessionStorage") {
  try {
    window[storage].setItem(key, JSON.stringify(value));
  } catch {
    // without storage it just does not survive a reload
  }
}

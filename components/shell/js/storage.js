// The browser's storage, which may be disabled or full: then nothing survives a reload, and nothing else is lost.

/** What `use` returns of this browser's storage; undefined if there is none. */
export function stored(use) {
  try {
    return use(window.localStorage);
  } catch {
    return undefined;
  }
}

/** A value of this tab that survives a reload, or the fallback. */
export function read(key, fallback, storage = "sessionStorage") {
  try {
    return JSON.parse(window[storage].getItem(key)) ?? fallback;
  } catch {
    return fallback;
  }
}

export function write(key, value, storage = "sessionStorage") {
  try {
    window[storage].setItem(key, JSON.stringify(value));
  } catch {
    // without storage it just does not survive a reload
  }
}

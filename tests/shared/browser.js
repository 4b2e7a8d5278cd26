// The parts of a browser that modules without drawing need.

import { test as plain } from "node:test";

class MemoryStorage {
  #values = new Map();

  getItem(key) {
    return this.#values.get(key) ?? null;
  }

  setItem(key, value) {
    this.#values.set(key, String(value));
    this[key] = String(value); // so that Object.keys lists the keys of the storage
  }

  removeItem(key) {
    this.#values.delete(key);
    delete this[key];
  }
}

/** Runs a test in a fresh browser with empty storage. */
export function test(name, run) {
  plain(name, (t) => {
    globalThis.window = globalThis;
    for (const storage of ["localStorage", "sessionStorage"])
      Object.defineProperty(globalThis, storage, { value: new MemoryStorage(), configurable: true, writable: true });
    return run(t);
  });
}

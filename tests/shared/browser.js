// As much of a browser as the modules ask for that draw nothing.

import { test as plain } from "node:test";

class MemoryStorage {
  #values = new Map();

  getItem(key) {
    return this.#values.get(key) ?? null;
  }

  setItem(key, value) {
    this.#values.set(key, String(value));
    this[key] = String(value); // Object.keys lists a storage's keys
  }

  removeItem(key) {
    this.#values.delete(key);
    delete this[key];
  }
}

/** A test in a browser of its own, in which nothing is kept yet. */
export function test(name, run) {
  plain(name, (t) => {
    globalThis.window = globalThis;
    for (const storage of ["localStorage", "sessionStorage"]) Object.defineProperty(globalThis, storage, { value: new MemoryStorage(), configurable: true, writable: true });
    return run(t);
  });
}

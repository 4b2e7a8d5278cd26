// Which typed character acts as which key of the grid: as set in this browser. Single characters can be switched off
// (WCAG 2.1.4); named keys such as arrows and Enter always work.

import { read, write } from "../../shell/js/storage.js";

const STORED = "memedex-keys";

export class KeyMap {
  constructor() {
    const { isOff = false, typed = {} } = read(STORED, {}, "localStorage");
    this.isOff = isOff === true;
    this.typed = typed; // key of the grid → the character for it, where they differ; always a permutation
  }

  turn(isOff) {
    this.isOff = isOff;
    this.store();
  }

  /** The key of the grid that is meant by a character, or null while they are off. */
  meant(character) {
    if (character === " ") return " ";
    if (this.isOff) return null;
    const lower = character.toLowerCase();
    return Object.keys(this.typed).find((key) => this.typed[key] === lower) ?? lower;
  }

  /** A key as it is typed, also one such as "shift a". */
  label(key) {
    const at = key.lastIndexOf(" ") + 1;
    return key.slice(0, at) + (this.typed[key.slice(at)] ?? key.slice(at));
  }

  /** Uses this character for a key; the action that had it gets the key's former one, so that none is lost. */
  assign(key, character) {
    const lower = character.toLowerCase();
    const former = this.label(key);
    const other = Object.keys(this.typed).find((each) => this.typed[each] === lower) ?? lower;
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
    write(STORED, { isOff: this.isOff, typed: this.typed }, "localStorage");
  }
}

// The page's own line of words and filters, which is outside this component and may load after it: keys that are kept
// for it, and completions, offered in the browser's own list while typing.

import { el } from "../../shell/js/elements.js";

/** @import { Grid } from "./main.js" */
/** @import { KnownTag } from "./tag_field.js" */

/** @typedef {[line: string, label: string]} Offer */

const OFFERED = 12;
/** @type {Record<string, string[]>} */
const VALUES = {
  has: ["entity", "context", "visual", "emotions"],
  dup: ["yes", "no"],
  unfit: ["yes", "no", "nudity", "word", "hand"],
  language: ["latin", "chinese", "japanese", "korean", "cyrillic", "arabic", "thai", "hebrew", "greek", "devanagari"],
  decided: ["today"],
  by: ["me"],
  tier: ["pending", "approved", "library", "trash"],
  reason: ["copycat", "not a meme", "bad picture", "offensive", "scam", "none"],
};
const PLAIN = /^[\p{L}\p{N}][\p{L}\p{N}\p{M}_&+.'’-]*$/u; // names without special characters; all others are quoted
const PLACE = "[class*=_words], .st-key-q"; // by the keys of the two lines: above a grid, and on the search page

/** @returns {HTMLInputElement | null} */
export function filterField() {
  return document.querySelector(PLACE)?.querySelector("input") ?? null;
}

/** Focuses the field. While Streamlit loads it, keys are kept for it; otherwise they would decide coins. */
export class FilterField {
  typed = "";
  /** @type {MutationObserver | null} */
  watcher = null; // while the field has not loaded

  focus() {
    if (!document.querySelector(PLACE)) return false;
    if (!this.enter()) {
      this.typed = "";
      this.watcher = new MutationObserver(() => this.enter());
      this.watcher.observe(document.body, { childList: true, subtree: true });
    }
    return true;
  }

  /**
   * Whether this key was kept for the field.
   *
   * @param {KeyboardEvent} event
   */
  holds({ key, ctrlKey, metaKey }) {
    if (!this.watcher || ctrlKey || metaKey) return false;
    if (key === "Escape") this.stop();
    else if (key === "Backspace") this.typed = this.typed.slice(0, -1);
    else if (key.length === 1) this.typed += key;
    return true;
  }

  enter() {
    const field = filterField();
    if (!field) return false;
    field.focus();
    if (this.typed) {
      // React notices a value only if it is set with the element's native setter.
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(field, this.typed);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    this.stop();
    return true;
  }

  stop() {
    this.watcher?.disconnect();
    this.watcher = null;
    this.typed = "";
  }
}

export class Completion {
  list = el("datalist", { id: `memedex-line-${Math.random().toString(36).slice(2)}` });
  listening = new AbortController();
  /** @type {Promise<KnownTag[]> | undefined} */
  known;

  /**
   * `known()` fetches tags with their categories, most used first.
   *
   * @param {Grid} grid
   * @param {{known: () => Promise<KnownTag[]>}} seams
   */
  constructor(grid, { known }) {
    this.grid = grid;
    this.fetch = known;
    const onInput = (/** @type {Event} */ { target }) => {
      const field = filterField();
      if (field && target === field) this.offer(field);
    };
    const left = (/** @type {Event} */ { target }) => {
      const isOurs = target instanceof Element && target.getAttribute("list") === this.list.id;
      if (isOurs) target.removeAttribute("list");
    };
    const options = { signal: this.listening.signal };
    document.addEventListener("focusin", onInput, options);
    document.addEventListener("input", onInput, options);
    document.addEventListener("focusout", left, options);
  }

  /** @param {HTMLInputElement} field */
  async offer(field) {
    if (!this.grid.data.line?.keys.length) return;
    if (!this.list.isConnected) document.body.append(this.list);
    field.setAttribute("list", this.list.id);
    this.known ??= this.fetch();
    const known = await this.known;
    const found = completions(field.value, this.grid.data.line?.keys ?? [], known);
    this.list.replaceChildren(...found.map(([value, label]) => el("option", { value, label })));
  }

  stop() {
    this.listening.abort();
    this.list.remove();
  }
}

/**
 * Complete lines, each with a label for the addition: filter names, then their values.
 *
 * @param {string} line
 * @param {string[]} keys
 * @param {KnownTag[]} known
 * @returns {Offer[]}
 */
export function completions(line, keys, known) {
  const [, before, minus, word] = line.match(/^(.*?)(-?)([^\s"]*)$/s) ?? ["", line, "", ""];
  const [key, value] = word.includes(":") ? word.split(/:(.*)/s) : ["", word];
  const typed = value.toLowerCase();
  /** @type {Offer[]} */
  let found;
  if (!word.includes(":")) {
    const names = keys.filter((name) => typed && name.startsWith(typed));
    found = [...names.map((name) => /** @type {Offer} */ ([`${name}:`, `${name}:`])), ...labels("tag", typed, known)];
  } else if (key === "tag" || key === "category") found = labels(key, typed, known);
  else {
    const values = (VALUES[key] ?? []).filter((each) => each.startsWith(typed));
    found = values.map((each) => [`${key}:${quoted(each)}`, each]);
  }
  return found.slice(0, OFFERED).map(([text, label]) => [`${before}${minus}${text}`, label]);
}

/** @param {"tag" | "category"} key @param {string} typed @param {KnownTag[]} known @returns {Offer[]} */
function labels(key, typed, known) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const [tag, category, coins] of known) {
    const name = key === "tag" ? tag : category;
    counts.set(name, (counts.get(name) ?? 0) + coins);
  }
  return [...counts]
    .filter(([name]) => typed === "" || name.toLowerCase().startsWith(typed))
    .map(([name, coins]) => [`${key}:${quoted(name)}`, `${name} · ${coins.toLocaleString("en")}`]);
}

/** @param {string} name */
function quoted(name) {
  return PLAIN.test(name) ? name : `"${name}"`;
}

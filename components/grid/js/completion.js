// Completions for the line of words and filters, offered in the browser's own list while typing.

import { el } from "../../shell/js/elements.js";
import { filterField } from "./filter_field.js";

const OFFERED = 12;
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
const LABELLED = { tag: 0, category: 1 }; // index of their names in the server's data

export class Completion {
  /** `known()` fetches tags with their categories, most used first. */
  constructor(grid, { known }) {
    this.grid = grid;
    this.fetch = known;
    this.list = el("datalist", { id: `memedex-line-${Math.random().toString(36).slice(2)}` });
    this.onInput = (event) => event.target === filterField() && this.offer(event.target);
    document.addEventListener("focusin", this.onInput);
    document.addEventListener("input", this.onInput);
    document.addEventListener(
      "focusout",
      (this.left = (event) =>
        event.target.getAttribute?.("list") === this.list.id && event.target.removeAttribute("list")),
    );
  }

  async offer(field) {
    if (!this.grid.data.line?.keys?.length) return;
    if (!this.list.isConnected) document.body.append(this.list);
    field.setAttribute("list", this.list.id);
    this.known ??= this.fetch();
    const known = await this.known;
    const found = completions(field.value, this.grid.data.line?.keys ?? [], known);
    this.list.replaceChildren(...found.map(([value, label]) => el("option", { value, label })));
  }

  stop() {
    document.removeEventListener("focusin", this.onInput);
    document.removeEventListener("input", this.onInput);
    document.removeEventListener("focusout", this.left);
    this.list.remove();
  }
}

/** Complete lines, each with a label for the addition: filter names, then their values. */
export function completions(line, keys, known) {
  const [, before, minus, word] = line.match(/^(.*?)(-?)([^\s"]*)$/s) ?? [null, line, "", ""];
  const [key, value] = word.includes(":") ? word.split(/:(.*)/s) : [null, word];
  const typed = value.toLowerCase();
  if (key === null) {
    const names = keys.filter((name) => typed && name.startsWith(typed)).map((name) => [`${name}:`, `${name}:`]);
    return [...names, ...labels("tag", typed, known)]
      .map(([text, label]) => [`${before}${minus}${text}`, label])
      .slice(0, OFFERED);
  }
  const values =
    key in LABELLED
      ? labels(key, typed, known)
      : (VALUES[key] ?? []).filter((each) => each.startsWith(typed)).map((each) => [`${key}:${quoted(each)}`, each]);
  return values.map(([text, label]) => [`${before}${minus}${text}`, label]).slice(0, OFFERED);
}

function labels(key, typed, known) {
  if (key === "tag" && !typed && !known.length) return [];
  const counts = new Map();
  for (const each of known) counts.set(each[LABELLED[key]], (counts.get(each[LABELLED[key]]) ?? 0) + each[2]);
  return [...counts]
    .filter(([name]) => typed === "" || name.toLowerCase().startsWith(typed))
    .map(([name, coins]) => [`${key}:${quoted(name)}`, `${name} · ${coins.toLocaleString("en")}`]);
}

function quoted(name) {
  return PLAIN.test(name) ? name : `"${name}"`;
}

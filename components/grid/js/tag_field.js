// One field to add and remove tags: typed text is matched with known tags, Enter accepts it, chips show it.

import { el, fill } from "../../shell/js/elements.js";
import { button, count } from "./dom.js";

/** @typedef {[tag: string, category: string, coins: number]} KnownTag most used first */
/** @typedef {[tag: string, confidence: number, addresses: string[]]} Likely tag, and the coins that lack it */
/** @typedef {{known: KnownTag[], has: Record<string, number>, longest: number}} Tags and those of the coins, counted */
/** @typedef {{tag: string, category?: string, coins: number, removes: boolean, isNew?: boolean, rank: number}} Offer */
/** @typedef {{tag: string, state: string, coins?: number}} Chip */

const SHOWN = 8; // suggestions
const NEAR = 2; // letters that may be wrong

export class TagField {
  /** @type {KnownTag[] | null} */
  known = null; // until the server sends them
  /** @type {Record<string, number>} */
  has = {};
  /** @type {Likely[]} */
  likely = [];
  /** @type {Map<string, string[]>} suggested tag that not all of the coins get → addresses */
  only = new Map();
  /** @type {Map<string, boolean>} tag → whether it is new */
  added = new Map();
  /** @type {Set<string>} */
  removed = new Set();
  /** @type {string[]} entries made before the tags were known */
  early = [];
  /** @type {Offer[]} */
  offered = [];
  at = 0; // the marked offer
  among = 0; // how many coins

  /**
   * Enter in an empty field calls `applies()`; every change of the chips calls `changed()`.
   *
   * @param {{applies: () => void, changed: () => void}} seams
   */
  constructor({ applies, changed }) {
    this.applies = applies;
    this.changed = changed;
    const id = `memedex-tags-${Math.random().toString(36).slice(2)}`;
    this.list = el("ul", { class: "suggested", role: "listbox", id, "aria-label": "Known tags" });
    this.input = el("input", {
      type: "text",
      role: "combobox",
      "aria-label": "Tags",
      "aria-controls": id,
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "add a tag, or -tag to remove one",
      oninput: () => this.suggest(),
      onkeydown: (event) => this.pressed(event),
    });
    this.chips = el("span", { class: "chips" });
    this.likelyRow = el("div", { class: "likely", role: "group", "aria-label": "Suggested tags", hidden: true });
    this.node = el(
      "div",
      { class: "tag-field" },
      el(
        "div",
        { class: "typing", onclick: (event) => event.target === event.currentTarget && this.input.focus() },
        this.chips,
        this.input,
      ),
      this.list,
      this.likelyRow,
    );
    this.begin();
  }

  begin() {
    this.known = null;
    this.has = {};
    this.likely = [];
    this.early = [];
    for (const tags of [this.only, this.added, this.removed]) tags.clear();
    this.input.value = "";
    this.refresh();
    this.suggest();
  }

  /**
   * Takes the known tags, and processes earlier entries.
   *
   * @param {Tags} tags
   */
  know({ known, has, longest }) {
    this.known = known;
    this.has = has;
    this.input.maxLength = longest + 1; // and a minus
    const typed = this.input.value;
    const early = this.early.splice(0);
    for (const text of early) {
      this.input.value = text;
      this.suggest();
      if (text) this.take();
    }
    this.input.value = typed;
    this.refresh();
    this.suggest();
    if (early.at(-1) === "") this.applies();
  }

  /** @param {Likely[]} suggested tags that were learned */
  offerLikely(suggested) {
    this.likely = suggested;
    this.refresh();
  }

  get isChanged() {
    return this.added.size > 0 || this.removed.size > 0;
  }

  /** The typed text without a leading minus, which means removal. */
  get typed() {
    const text = this.input.value.replace(/,/g, " ").replace(/\s+/g, " ").trim();
    return text.startsWith("-") ? { name: text.slice(1).trim(), removes: true } : { name: text, removes: false };
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (event.isComposing) return;
    const { key } = event;
    if (key === "Enter" || (key === "," && this.typed.name)) {
      event.preventDefault();
      if (!this.known) this.enterEarly();
      else if (this.typed.name) this.take();
      else if (!event.repeat) this.applies();
    } else if (key === "ArrowDown" || key === "ArrowUp") {
      event.preventDefault();
      if (this.offered.length)
        this.mark((this.at + (key === "ArrowDown" ? 1 : -1) + this.offered.length) % this.offered.length);
    } else if (key === "Backspace" && !this.input.value) {
      const last = [...this.added.keys()].at(-1);
      if (last !== undefined) this.withdraw(last);
    }
  }

  /** Makes a chip of the marked suggestion; an unknown word only if the list offers it as a new tag. */
  take(offer = this.offered[this.at]) {
    if (!offer) return;
    const { tag, removes, isNew } = offer;
    if (removes) {
      this.removed.add(tag);
      this.added.delete(tag);
    } else if (this.removed.has(tag)) this.removed.delete(tag);
    else this.added.set(tag, Boolean(isNew));
    this.only.delete(tag);
    this.input.value = "";
    this.refresh();
    this.suggest();
    this.input.focus();
  }

  /**
   * Makes a chip of a suggestion; it is for the coins that probably lack the tag, not for all.
   *
   * @param {Likely} suggestion
   */
  accept([tag, , addresses]) {
    this.added.set(tag, false);
    if (addresses.length < this.among) this.only.set(tag, addresses);
    this.refresh();
    this.input.focus();
  }

  enterEarly() {
    this.early.push(this.input.value.trim());
    this.input.value = "";
    this.refresh();
  }

  /** @param {string} tag */
  withdraw(tag) {
    this.added.delete(tag);
    this.only.delete(tag);
    this.removed.delete(tag);
    this.refresh();
    this.input.focus();
  }

  suggest() {
    const { name, removes } = this.typed;
    this.offered = name ? this.offersFor(name, removes) : [];
    const isNone = name && this.known && !this.offered.length;
    const sentence = "None of these coins has such a tag.";
    fill(this.list, isNone ? [null] : this.offered, (offer) =>
      offer ? this.option(offer) : el("li", { class: "none" }, sentence),
    );
    this.list.hidden = !this.offered.length && !isNone;
    this.input.setAttribute("aria-expanded", String(!this.list.hidden));
    this.mark(0);
    this.changed();
  }

  /**
   * Known tags first, best match on top; then the word itself, labelled as a new tag.
   *
   * @param {string} name
   * @param {boolean} removes
   * @returns {Offer[]}
   */
  offersFor(name, removes) {
    if (!this.known) return [];
    const words = name.toLowerCase();
    /** @type {KnownTag[]} */
    const among = removes ? Object.entries(this.has).map(([tag, coins]) => [tag, "", coins]) : this.known;
    const ranked = among
      .map(([tag, category, coins]) => ({ tag, category, coins, removes, rank: rank(tag.toLowerCase(), words) }))
      .filter((offer) => offer.rank < Infinity)
      .sort((one, other) => one.rank - other.rank || other.coins - one.coins || one.tag.length - other.tag.length)
      .slice(0, SHOWN);
    const isKnown = ranked.some(({ rank }) => rank === 0);
    const fresh = { tag: name, coins: 0, removes, isNew: true, rank: 3 };
    // A typo match does not outrank the typed word; a prefix of a known tag does.
    const sure = ranked.filter(({ rank }) => rank < 3);
    return [...sure, ...(removes || isKnown ? [] : [fresh]), ...ranked.filter(({ rank }) => rank >= 3)];
  }

  /** @param {Offer} offer */
  option(offer) {
    const { tag, category, coins, removes, isNew } = offer;
    const note = isNew
      ? "new tag"
      : removes
        ? `remove · on ${coins.toLocaleString("en")}`
        : [category, coins ? coins.toLocaleString("en") : "unused"].filter(Boolean).join(" · ");
    return el(
      "li",
      {
        role: "option",
        class: isNew ? "new" : null,
        onpointerdown: (event) => event.preventDefault(),
        onclick: () => this.take(offer),
      },
      el("span", { dir: "auto" }, isNew ? `“${tag}”` : tag),
      el("small", {}, note),
    );
  }

  /** @param {number} at */
  mark(at) {
    this.at = at;
    [...this.list.children].forEach((node, place) => {
      node.id = `${this.list.id}-${place}`;
      node.setAttribute("aria-selected", String(place === at));
    });
    if (this.offered.length) this.input.setAttribute("aria-activedescendant", `${this.list.id}-${at}`);
    else this.input.removeAttribute("aria-activedescendant");
    this.list.children[at]?.scrollIntoView({ block: "nearest" });
  }

  refresh() {
    /** @type {Chip[]} */
    const kept = Object.entries(this.has).map(([tag, coins]) => ({
      tag,
      coins,
      state: this.removed.has(tag) ? "removed" : this.added.has(tag) ? "added" : "",
    }));
    const added = [...this.added]
      .filter(([tag]) => !(tag in this.has))
      .map(([tag, isNew]) => ({ tag, state: isNew ? "added new" : "added" }));
    const early = this.early.filter(Boolean).map((tag) => ({ tag, state: "early" }));
    const likely = this.likely.filter(([tag]) => !this.added.has(tag));
    this.likelyRow.hidden = !likely.length;
    fill(this.likelyRow, likely, (each) => this.likelyButton(each));
    fill(this.chips, [...kept, ...added, ...early], (each) => this.chip(each), this.among);
    this.changed();
  }

  /**
   * A suggestion that one click accepts; its figure says how often such a suggestion is right in this library.
   *
   * @param {Likely} suggestion
   */
  likelyButton(suggestion) {
    const [tag, confidence, addresses] = suggestion;
    const percent = `${Math.round(confidence * 100)} %`;
    const title = `Similar coins have this tag; such suggestions are right in ${percent} of cases`;
    const note = this.among > 1 ? `${count(addresses.length, "coin")} · ${percent}` : percent;
    return el(
      "button",
      { type: "button", title, "aria-label": `Add ${tag}, ${note}`, onclick: () => this.accept(suggestion) },
      el("span", { dir: "auto" }, `+ ${tag}`),
      el("small", {}, note),
    );
  }

  /** @param {Chip} chip */
  chip({ tag, state, coins = 0 }) {
    if (state === "early") return el("span", { class: "chip early" }, el("span", { dir: "auto" }, `${tag} …`));
    const isOurs = Boolean(state);
    const number = this.only.get(tag)?.length ?? coins;
    const note = state.includes("new") ? "new tag" : number && number < this.among ? `${number} of ${this.among}` : "";
    const turn = () => {
      if (isOurs) return this.withdraw(tag);
      this.removed.add(tag);
      this.refresh();
      this.input.focus();
    };
    const [sign, verb] = state === "removed" ? ["↺", "Keep"] : ["×", "Remove"];
    return el(
      "span",
      { class: `chip ${state}`, "data-tag": tag },
      el("span", { dir: "auto" }, tag),
      note && (state !== "added" || this.only.has(tag)) ? el("small", {}, note) : null,
      button("", sign, turn, { "aria-label": `${verb} ${tag}` }),
    );
  }
}

/**
 * How well a tag matches the typed text: 0 for equality, Infinity for no match.
 *
 * @param {string} tag
 * @param {string} typed
 */
function rank(tag, typed) {
  if (tag === typed) return 0;
  if (tag.startsWith(typed)) return 1;
  if (tag.split(/[\s-]/).some((word) => word.startsWith(typed))) return 2;
  if (typed.length > 2 && tag.includes(typed)) return 3;
  return isMisspelt(typed, tag) ? 4 : Infinity;
}

/**
 * Whether a text may be a tag with letters that are wrong, missing, superfluous or swapped.
 *
 * @param {string} typed
 * @param {string} tag
 */
export function isMisspelt(typed, tag) {
  return typed.length > 3 && distance(tag, typed) <= NEAR;
}

/**
 * The Damerau–Levenshtein distance of two words; stops above NEAR.
 *
 * @param {string} one
 * @param {string} other
 */
function distance(one, other) {
  if (Math.abs(one.length - other.length) > NEAR) return Infinity;
  const rows = [Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i++) {
    rows[i] = [i];
    for (let j = 1; j <= other.length; j++) {
      const changed = one[i - 1] === other[j - 1] ? 0 : 1;
      rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + changed);
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[one.length][other.length];
}

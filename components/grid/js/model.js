// The state of the page: the server's cards, with the unconfirmed decisions made here on top.

import { isOwn } from "../../shell/js/post.js";
import { read, write } from "../../shell/js/storage.js";

/** @import { Effect } from "./log.js" */

/** @typedef {{label: string, tone: string}} Mark */
/**
 * A coin as it is shown (`card` of components/grid/cards.py). A blank one has not come yet; a shadow says what became
 * of one that is not on the page any more. A ranked one has its row and `facets`.
 *
 * @typedef {{
 *   address: string,
 *   name: string,
 *   ticker: string,
 *   tier?: string,
 *   created_at: number,
 *   no_age?: boolean,
 *   created?: string,
 *   revision?: number,
 *   tags: string[],
 *   facts?: Record<string, number | string>,
 *   description?: string,
 *   picture: string,
 *   large: string,
 *   mark?: Mark | null,
 *   twin?: {text: string, title: string, tone: string} | null,
 *   blank?: boolean,
 *   shadow?: string,
 *   row?: number,
 *   facets?: boolean,
 *   branch?: {depth: number, up: number, edge: string},
 * }} Card
 */
/** @typedef {{filter: string, generation: number, count: number}} Matching */
/** @typedef {Map<string, number | null>} Selection address → revision */
/** @typedef {Matching & {except: string[]}} Everything all matching coins but some */
/** @typedef {{selection: Selection, everything: Everything | null}} Cleared */
/** @typedef {{label: string, decision: string}} Elsewhere */

/** @type {[question: string | null, address: string | null]} */
const NOWHERE = [null, null];

export class Model {
  /** @type {string | undefined} */
  question; // and order, as one text
  hidden = /** @type {Set<string>} */ (new Set());
  waiting = /** @type {Set<string>} */ (new Set()); // decided, without an effect on what is visible

  /** @param {string} key */
  constructor(key) {
    this.key = key;
    /** @type {Map<string, Card>} address → the last card from the server */
    this.cards = new Map();
    /** @type {string[]} addresses in the server's order */
    this.order = [];
    /**
     * As last given: what undo brings back before the server does.
     *
     * @type {Map<string, {card: Card, order: string[], index: number}>}
     */
    this.remembered = new Map();
    /** @type {Selection} */
    this.selection = new Map();
    /** @type {Everything | null} */
    this.everything = null;
    this.cleared = chosenBefore(key); // a selection that can be restored
    /** @type {string | null} */
    this.cursor = null;
    /** @type {string | null} */
    this.anchor = null;
    /** @type {Map<string, string[]>} decision → the cards that left with it, so that its undo shows immediately */
    this.hides = new Map();
    /** @type {Map<string, string[]>} address → the last decisions about it that were made here */
    this.decided = new Map();
    /** @type {Map<string, string>} address → reason */
    this.refused = new Map();
    this.isRanked = false;
    /** @type {[address: string, made: Elsewhere][]} what was decided elsewhere while it was on this page */
    this.elsewhere = [];
    /** @type {Map<string, Card>} address → its card, as it is shown since */
    this.shadows = new Map();
    /** @type {Set<string>} those that are shown no longer */
    this.passed = new Set();
    /** @type {string[]} */
    this.visible = [];
  }

  /**
   * `elsewhere` says what others made of cards that were on this page: they stay as shadows, where they were.
   *
   * @param {Card[]} cards
   * @param {Record<string, Elsewhere>} elsewhere
   */
  take(cards, elsewhere = {}) {
    this.cards = new Map(cards.map((card) => [card.address, card]));
    this.order = cards.map((card) => card.address);
    const { order } = this;
    cards.forEach((card, index) => this.remembered.set(card.address, { card, order, index }));
    this.elsewhere = Object.entries(elsewhere).filter(
      ([address]) => this.remembered.has(address) && !this.cards.has(address),
    );
    cards.forEach(({ address }) => this.passed.delete(address));
    for (const [address] of this.selection) {
      const card = this.cards.get(address);
      if (card) this.selection.set(address, card.revision ?? null);
    }
  }

  /**
   * A new query or order moves the cursor to its first coin. No action applies to coins that were selected for an
   * earlier query. Returns whether the query differs from the last one in this tab.
   */
  ask({ question = "", order = "" }) {
    const now = JSON.stringify([question, order]);
    if (this.question === now) return false;
    const [before, kept = null] = this.question ? [this.question] : read(`memedex-cursor:${this.key}`, NOWHERE);
    const isSame = before === now;
    this.question = now;
    if (before && JSON.parse(before)[0] !== question) this.clear({ least: 1 });
    this.anchor = null;
    this.moveTo(isSame ? kept : null);
    return !isSame && Boolean(question || order.trim());
  }

  /**
   * @param {string | null} address
   * @returns {Card | undefined}
   */
  card(address) {
    if (address === null) return undefined;
    return this.cards.get(address) ?? this.shadows.get(address) ?? this.remembered.get(address)?.card;
  }

  /** The visible cards, in order. */
  get shown() {
    return this.visible.flatMap((address) => this.card(address) ?? []);
  }

  /**
   * Recomputes the visible cards: the server's, without those decided, plus those undone.
   *
   * @param {{addresses: string[], effect?: Effect}[]} unconfirmed
   */
  settle(unconfirmed) {
    const hidden = /** @type {Set<string>} */ (new Set());
    const shown = /** @type {Set<string>} */ (new Set());
    this.waiting = new Set();
    for (const { effect, addresses } of unconfirmed) {
      for (const address of effect?.hide ?? []) {
        hidden.add(address);
        shown.delete(address);
      }
      for (const address of effect?.show ?? []) {
        hidden.delete(address);
        shown.add(address);
      }
      if (!effect) addresses.forEach((address) => this.waiting.add(address));
    }
    this.hidden = hidden;
    const visible = this.order.filter((address) => !hidden.has(address));
    this.shadows = this.shadowsAmong(hidden, shown);
    for (const address of this.shadows.keys()) visible.splice(this.placeAmong(visible, address), 0, address);
    for (const address of shown) {
      // Only the server knows its place among ranked results.
      if (!this.isRanked && !this.cards.has(address) && this.remembered.has(address))
        visible.splice(this.placeAmong(visible, address), 0, address);
    }
    this.replaceCursor(visible);
    this.visible = visible;
  }

  /**
   * Not of what this page decided itself, nor of what it brought back.
   *
   * @param {Set<string>} hidden
   * @param {Set<string>} shown
   */
  shadowsAmong(hidden, shown) {
    /** @type {Map<string, Card>} */
    const shadows = new Map();
    for (const [address, { label, decision }] of this.elsewhere) {
      const given = this.remembered.get(address);
      if (!given || hidden.has(address) || shown.has(address) || this.passed.has(address) || isOwn(decision)) continue;
      const last = this.shadows.get(address);
      shadows.set(
        address,
        last?.shadow === label ? last : { ...given.card, mark: { label, tone: "quiet" }, shadow: label },
      );
    }
    return shadows;
  }

  /** Shadows go with the next decision, when cards move anyway; the one under the cursor stays. */
  passShadows() {
    for (const address of this.shadows.keys()) if (address !== this.cursor) this.passed.add(address);
  }

  /**
   * The place of a card that the server left out: between the neighbours that it had; cards before it may have gone
   * since.
   *
   * @param {string[]} visible
   * @param {string} address
   */
  placeAmong(visible, address) {
    const { order, index } = this.remembered.get(address) ?? { order: [], index: 0 };
    const seen = new Set(visible);
    const next = order.slice(index + 1).find((each) => seen.has(each));
    if (next) return visible.indexOf(next);
    const previous = order.slice(0, index).findLast((each) => seen.has(each));
    return previous ? visible.indexOf(previous) + 1 : Math.min(index, visible.length);
  }

  /**
   * When the card under the cursor disappears, the cursor moves to the one that takes its place.
   *
   * @param {string[]} visible
   */
  replaceCursor(visible) {
    if (!visible.length) return;
    const still = new Set(visible);
    const cursor = this.cursor ?? "";
    if (still.has(cursor)) return;
    const was = this.visible.indexOf(cursor);
    const next = was < 0 ? null : this.visible.slice(was + 1).find((address) => still.has(address));
    const last = was < 0 ? visible[0] : visible[Math.min(was, visible.length - 1)];
    this.moveTo(next ?? last);
  }

  /** @param {string | null} address */
  moveTo(address) {
    this.cursor = address;
    write(`memedex-cursor:${this.key}`, [this.question, address]);
  }

  /**
   * The targets of an action: the selection, or the card under the cursor if there is none or only one is allowed; of
   * these, the coins whose tier allows it. The server knows those that are on another page.
   *
   * @param {{single?: boolean, tiers?: string[]}} action
   */
  targets({ single = false, tiers = [] } = {}) {
    const allows = (/** @type {string} */ address) => {
      const { blank, tier } = this.card(address) ?? {};
      return !blank && (!tier || !tiers.length || tiers.includes(tier));
    };
    if (this.everything && !single) return this.visible.filter((address) => this.isChosen(address) && allows(address));
    if (this.selection.size && !single) return [...this.selection.keys()].filter(allows);
    const cursor = this.cursor ?? "";
    return this.visible.includes(cursor) && allows(cursor) ? [cursor] : [];
  }

  /** @param {string} address */
  isChosen(address) {
    return this.everything ? !this.everything.except.includes(address) : this.selection.has(address);
  }

  /**
   * Selects all coins that match a filter, on all pages; later additions are not included.
   *
   * @param {Matching} matching
   */
  selectEverything(matching) {
    this.selection.clear();
    this.everything = { ...matching, except: [] };
    this.keepSelection();
  }

  /** The number of selected coins on all pages. */
  get chosenCount() {
    return this.everything ? this.everything.count - this.everything.except.length : this.selection.size;
  }

  /**
   * @param {Everything} everything
   * @param {string} address
   * @param {boolean} out
   */
  except(everything, address, out) {
    everything.except = everything.except.filter((each) => each !== address);
    if (out) everything.except.push(address);
  }

  /**
   * Clears the selection if the filter changes or nothing matches any more.
   *
   * @param {Matching | null} [matching]
   */
  hold(matching) {
    if (!this.everything) return;
    if (matching?.filter !== this.everything.filter || !matching.count) this.everything = null;
    else this.everything.count = Math.min(this.everything.count, matching.count);
    this.keepSelection();
  }

  /**
   * @param {string[]} addresses
   * @param {boolean} chosen
   */
  select(addresses, chosen) {
    for (const address of addresses) {
      const { blank, shadow } = this.card(address) ?? {};
      if (blank || (shadow && chosen && addresses.length > 1)) continue; // a whole page is meant as it is listed
      if (this.everything) this.except(this.everything, address, !chosen);
      else if (chosen) this.selection.set(address, this.card(address)?.revision ?? null);
      else this.selection.delete(address);
    }
    this.keepSelection();
  }

  /**
   * Clears the selection but remembers it, so that one wrong key does not destroy an hour of work. One coin is
   * selected again with one key, unless it may be out of sight: then `least` is 1.
   */
  clear({ least = 2 } = {}) {
    if (this.chosenCount >= least) this.cleared = { selection: new Map(this.selection), everything: this.everything };
    this.drop();
  }

  /** Clears it permanently after a decision. */
  drop() {
    this.everything = null;
    this.selection.clear();
    this.keepSelection();
  }

  /**
   * The number of coins that can be selected again; "all matching" only while its filter is active.
   *
   * @param {Matching | null} [matching]
   */
  canBringBack(matching) {
    // Without matches there is nothing to select.
    if (this.chosenCount || !this.cleared || matching?.count === 0) return 0;
    const { selection, everything } = this.cleared;
    if (!everything) return selection.size;
    return everything.filter === matching?.filter ? everything.count - everything.except.length : 0;
  }

  /** @param {Matching | null} [matching] */
  bringBack(matching) {
    if (!this.cleared || !this.canBringBack(matching)) return;
    const { selection, everything } = this.cleared;
    this.everything = everything;
    for (const [address, revision] of selection) this.selection.set(address, revision);
    this.cleared = null;
    this.keepSelection();
    this.hold(matching);
  }

  /**
   * Removes decided coins, so that no action applies to them again.
   *
   * @param {string[]} addresses
   */
  forget(addresses) {
    this.select(addresses, false);
    addresses.forEach((address) => this.cleared?.selection.delete(address));
    this.keepSelection();
  }

  /**
   * The addresses between two cards, both included, in the order of the page.
   *
   * @param {string} from
   * @param {string} to
   */
  range(from, to) {
    const [a, b] = [this.visible.indexOf(from), this.visible.indexOf(to)].sort((x, y) => x - y);
    return a < 0 ? [to] : this.visible.slice(a, b + 1);
  }

  /** Stores the selection, or the restorable one, for the next visit. */
  keepSelection() {
    const { selection, everything } = this.chosenCount > 1 || !this.cleared ? this : this.cleared;
    write(`memedex-selection:${this.key}`, { selection: Object.fromEntries(selection), everything });
  }
}

/**
 * The selection of the last visit: it is not active, but can be restored.
 *
 * @param {string} key
 * @returns {Cleared | null}
 */
function chosenBefore(key) {
  /** @type {{selection?: Record<string, number | null>, everything?: Everything | null}} */
  const none = {};
  const { selection, everything = null } = read(`memedex-selection:${key}`, none);
  const found = new Map(Object.entries(selection ?? {}));
  return found.size || everything ? { selection: found, everything } : null;
}

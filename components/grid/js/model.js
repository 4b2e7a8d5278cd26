// The state of the page: the server's cards, with the unconfirmed decisions made here on top.

import { isOwn } from "../../shell/js/post.js";
import { read, write } from "../../shell/js/storage.js";

export class Model {
  constructor(key) {
    this.key = key;
    this.cards = new Map(); // address → the last card from the server
    this.order = []; // addresses in the server's order
    // address → {card, order, index}, as last given: what undo brings back before the server does
    this.remembered = new Map();
    this.selection = new Map(); // address → revision
    this.everything = null; // all matching coins: {filter, generation, count, except}
    this.cleared = chosenBefore(key); // a selection that can be restored: {selection, everything}
    this.cursor = null;
    this.anchor = null;
    this.hides = new Map(); // decision → the cards that left with it, so that its undo shows immediately
    this.decided = new Map(); // address → the last decisions about it that were made here
    this.refused = new Map(); // address → reason
    this.isRanked = false;
    this.elsewhere = []; // [address, {label, decision}]: what was decided elsewhere while it was on this page
    this.shadows = new Map(); // address → its card, as it is shown since
    this.passed = new Set(); // those that are shown no longer
    this.visible = [];
  }

  /** `elsewhere` says what others made of cards that were on this page: they stay as shadows, where they were. */
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
      if (card) this.selection.set(address, card.revision);
    }
  }

  /**
   * A new query or order moves the cursor to its first coin. No action applies to coins that were selected for an
   * earlier query. Returns whether the query differs from the last one in this tab.
   */
  ask({ question = "", order = "" }) {
    const now = JSON.stringify([question, order]);
    if (this.question === now) return false;
    const [before, kept] = this.question ? [this.question] : read(`memedex-cursor:${this.key}`, [null, null]);
    const isSame = before === now;
    this.question = now;
    if (before && JSON.parse(before)[0] !== question) this.clear({ least: 1 });
    this.anchor = null;
    this.moveTo(isSame ? kept : null);
    return !isSame && Boolean(question || order.trim());
  }

  card(address) {
    return this.cards.get(address) ?? this.shadows.get(address) ?? this.remembered.get(address)?.card;
  }

  /** Recomputes the visible cards: the server's, without those decided, plus those undone. */
  settle(unconfirmed) {
    const hidden = new Set();
    const shown = new Set();
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

  /** Not of what this page decided itself, nor of what it brought back. */
  shadowsAmong(hidden, shown) {
    const shadows = new Map();
    for (const [address, { label, decision }] of this.elsewhere) {
      if (hidden.has(address) || shown.has(address) || this.passed.has(address) || isOwn(decision)) continue;
      const last = this.shadows.get(address);
      shadows.set(
        address,
        last?.shadow === label
          ? last
          : { ...this.remembered.get(address).card, mark: { label, tone: "quiet" }, shadow: label },
      );
    }
    return shadows;
  }

  /** Shadows go with the next decision, when cards move anyway; the one under the cursor stays. */
  passShadows() {
    for (const address of this.shadows.keys()) if (address !== this.cursor) this.passed.add(address);
  }

  /**
   * Where a card stands that the server left out: between the neighbours that it had; cards before it may have gone
   * since.
   */
  placeAmong(visible, address) {
    const { order, index } = this.remembered.get(address);
    const seen = new Set(visible);
    const next = order.slice(index + 1).find((each) => seen.has(each));
    if (next) return visible.indexOf(next);
    const previous = order.slice(0, index).findLast((each) => seen.has(each));
    return previous ? visible.indexOf(previous) + 1 : Math.min(index, visible.length);
  }

  /** When the card under the cursor disappears, the cursor moves to the one that takes its place. */
  replaceCursor(visible) {
    if (!visible.length) return;
    const still = new Set(visible);
    if (still.has(this.cursor)) return;
    const was = this.visible.indexOf(this.cursor);
    const next = was < 0 ? null : this.visible.slice(was + 1).find((address) => still.has(address));
    const last = was < 0 ? visible[0] : visible[Math.min(was, visible.length - 1)];
    this.moveTo(next ?? last);
  }

  moveTo(address) {
    this.cursor = address;
    write(`memedex-cursor:${this.key}`, [this.question, address]);
  }

  /** The targets of an action: the selection, or the card under the cursor if there is none or only one is allowed. */
  targets({ single = false } = {}) {
    if (this.everything && !single) return this.visible.filter((address) => this.isChosen(address));
    if (this.selection.size && !single) return [...this.selection.keys()];
    return this.visible.includes(this.cursor) && !this.card(this.cursor)?.blank ? [this.cursor] : [];
  }

  isChosen(address) {
    return this.everything ? !this.everything.except.includes(address) : this.selection.has(address);
  }

  /** Selects all coins that match a filter, on all pages; later additions are not included. */
  selectEverything(matching) {
    this.selection.clear();
    this.everything = { ...matching, except: [] };
    this.keepSelection();
  }

  /** The number of selected coins on all pages. */
  get chosenCount() {
    return this.everything ? this.everything.count - this.everything.except.length : this.selection.size;
  }

  except(address, out) {
    const { everything } = this;
    everything.except = everything.except.filter((each) => each !== address);
    if (out) everything.except.push(address);
  }

  /** Clears the selection if the filter changes or nothing matches any more. */
  hold(matching) {
    if (!this.everything) return;
    if (matching?.filter !== this.everything.filter || !matching.count) this.everything = null;
    else this.everything.count = Math.min(this.everything.count, matching.count);
    this.keepSelection();
  }

  select(addresses, chosen) {
    for (const address of addresses) {
      const { blank, shadow } = this.card(address) ?? {};
      if (blank || (shadow && chosen && addresses.length > 1)) continue; // a whole page is meant as it is listed
      if (this.everything) this.except(address, !chosen);
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

  /** The number of coins that can be selected again; "all matching" only while its filter is active. */
  canBringBack(matching) {
    // Without matches there is nothing to select.
    if (this.chosenCount || !this.cleared || matching?.count === 0) return 0;
    const { selection, everything } = this.cleared;
    if (!everything) return selection.size;
    return everything.filter === matching?.filter ? everything.count - everything.except.length : 0;
  }

  bringBack(matching) {
    if (!this.canBringBack(matching)) return;
    const { selection, everything } = this.cleared;
    this.everything = everything;
    for (const [address, revision] of selection) this.selection.set(address, revision);
    this.cleared = null;
    this.keepSelection();
    this.hold(matching);
  }

  /** Removes decided coins, so that no action applies to them again. */
  forget(addresses) {
    this.select(addresses, false);
    addresses.forEach((address) => this.cleared?.selection.delete(address));
    this.keepSelection();
  }

  /** The addresses between two cards, both included, in the order of the page. */
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

/** The selection of the last visit: it is not active, but can be restored. */
function chosenBefore(key) {
  const { selection, everything } = read(`memedex-selection:${key}`, {});
  const found = new Map(Object.entries(selection ?? {}));
  return found.size || everything ? { selection: found, everything } : null;
}

// What is on the page: the server's cards, and over them what was decided here and is not confirmed yet.

export class Model {
  constructor(key) {
    this.key = key;
    this.cards = new Map(); // address → card as the server last gave it
    this.order = []; // addresses in the server's order
    this.remembered = new Map(); // address → {card, index}: what undo brings back before the server does
    this.selection = new Map(Object.entries(read(`memedex-selection:${key}`, {}))); // address → revision
    this.cursor = read(`memedex-cursor:${key}`, null);
    this.everything = read(`memedex-everything:${key}`, null); // all that match: {filter, generation, count, except}
    this.anchor = null;
    this.history = []; // decisions made on this page, newest last, for an undo that is felt at once
    this.refused = new Map(); // address → reason
    this.isRanked = false;
    this.visible = [];
  }

  take(cards) {
    this.cards = new Map(cards.map((card) => [card.address, card]));
    this.order = cards.map((card) => card.address);
    cards.forEach((card, index) => this.remembered.set(card.address, { card, index }));
    for (const [address] of this.selection) {
      const card = this.cards.get(address);
      if (card) this.selection.set(address, card.revision);
    }
  }

  card(address) {
    return this.cards.get(address) ?? this.remembered.get(address)?.card;
  }

  /** Recomputes which cards are seen: the server's, less those decided, plus those taken back. */
  settle(unconfirmed) {
    const hidden = new Set();
    const shown = new Set();
    this.waiting = new Set();
    for (const { effect, addresses } of unconfirmed) {
      for (const address of effect?.hide ?? []) hidden.add(address), shown.delete(address);
      for (const address of effect?.show ?? []) hidden.delete(address), shown.add(address);
      if (!effect) addresses.forEach((address) => this.waiting.add(address));
    }
    this.hidden = hidden;
    const visible = this.order.filter((address) => !hidden.has(address));
    for (const address of shown) {
      const known = this.remembered.get(address);
      // Among ranked results its place is not known before the server says it.
      if (known && !this.isRanked && !this.cards.has(address)) visible.splice(Math.min(known.index, visible.length), 0, address);
    }
    this.replaceCursor(visible);
    this.visible = visible;
  }

  /** When the card under the cursor goes, the cursor is on the one that takes its place. */
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
    write(`memedex-cursor:${this.key}`, address);
  }

  /** What a verb is about: the selection, or without one, or for a verb about one coin, the card under the cursor. */
  targets({ single = false } = {}) {
    if (this.everything && !single) return this.visible.filter((address) => this.isChosen(address));
    if (this.selection.size && !single) return [...this.selection.keys()];
    return this.visible.includes(this.cursor) && !this.card(this.cursor)?.blank ? [this.cursor] : [];
  }

  isChosen(address) {
    return this.everything ? !this.everything.except.includes(address) : this.selection.has(address);
  }

  /** Chooses all that match a filter, also on other pages; what came later is not among them. */
  selectEverything(matching) {
    this.selection.clear();
    this.everything = { ...matching, except: [] };
    this.keepSelection();
  }

  /** How many are chosen, on all pages. */
  get chosenCount() {
    return this.everything ? this.everything.count - this.everything.except.length : this.selection.size;
  }

  except(address, out) {
    const { everything } = this;
    everything.except = everything.except.filter((each) => each !== address);
    if (out) everything.except.push(address);
  }

  /** Another filter, or nothing left: the choice goes with the filter it was made by. */
  hold(matching) {
    if (!this.everything) return;
    if (matching?.filter !== this.everything.filter || !matching.count) this.everything = null;
    else this.everything.count = Math.min(this.everything.count, matching.count);
    this.keepSelection();
  }

  select(addresses, chosen) {
    for (const address of addresses) {
      if (this.card(address)?.blank) continue;
      if (this.everything) this.except(address, !chosen);
      else if (chosen) this.selection.set(address, this.card(address)?.revision ?? null);
      else this.selection.delete(address);
    }
    this.keepSelection();
  }

  /** Empties the selection and remembers it, so that one wrong key does not destroy an hour of choosing. */
  clear() {
    this.everything = null;
    if (this.selection.size > 1) this.cleared = new Map(this.selection);
    this.selection.clear();
    this.keepSelection();
  }

  bringBack() {
    for (const [address, revision] of this.cleared ?? []) this.selection.set(address, revision);
    this.cleared = null;
    this.keepSelection();
  }

  /** The addresses between two cards, both included, in the order of the page. */
  range(from, to) {
    const [a, b] = [this.visible.indexOf(from), this.visible.indexOf(to)].sort((x, y) => x - y);
    return a < 0 ? [to] : this.visible.slice(a, b + 1);
  }

  keepSelection() {
    write(`memedex-selection:${this.key}`, Object.fromEntries(this.selection));
    write(`memedex-everything:${this.key}`, this.everything);
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
    // without storage it only does not survive a reload
  }
}

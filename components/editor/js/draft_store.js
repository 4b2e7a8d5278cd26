// Stores drafts: in this browser immediately, on the server a moment later, with retries until it succeeds.

import { newId } from "../../shell/js/post.js";
import { stored } from "../../shell/js/storage.js";

const PAUSE = 250; // ms between the last keystroke and sending
const SLOTS = "memedex-drafts:"; // how the keys of localStorage begin
const AGAIN = [1000, 2000, 5000]; // ms before each retry

/** @import { Words } from "./server.js" */

/** @typedef {{model: string, prompt: string, text: string}} Source the suggestion that a text started from */
/** @typedef {Record<string, Source>} Sources by facet */
/** @typedef {Words & {revision: number}} Base what was stored when the draft was begun */
/** @typedef {Words & {base: Base, sources?: Sources}} Typed */
/** @typedef {{client: string, n: number}} Window the window that a draft is from, and its number there */
/** @typedef {Typed & Window & {at?: number, isGone?: false}} Draft */
/** @typedef {Window & {isGone: true}} Gone */
/** @typedef {{key: string, text: string, draft: Draft}} Slot */
/** @typedef {"draft" | "keeping" | "failed"} State */
/** @typedef {{address: string, draft: Draft | Window, knows: string, seen: number}} Body */

export class DraftStore {
  place = ""; // of library and person
  timer = 0;
  /** @type {Promise<void> | null} */
  busy = null; // until the drafts that wait are sent

  /**
   * `ask(verb, body)` reaches the server; `say(state, why, address)` shows a state.
   *
   * @param {{
   *   ask: (verb: "keep" | "discard", body: Body) => Promise<{elsewhere?: Draft}>,
   *   beacon: (verb: "keep" | "discard", body: Body) => void,
   *   say: (state: State, why: string, address: string) => void,
   *   elsewhere: (address: string, draft: Draft) => void,
   * }} seams
   */
  constructor({ ask, beacon, say, elsewhere }) {
    this.ask = ask;
    this.beacon = beacon;
    this.say = say;
    this.elsewhere = elsewhere;
    this.client = newId();
    this.n = 0;
    /** @type {Record<string, string>} address → the client whose draft this one is based on */
    this.knows = {};
    /** @type {Map<string, number>} client and address → number of its last draft that is included here */
    this.seen = new Map();
    /** @type {Map<string, Draft | Gone>} address → a draft that the server does not have yet, or has to delete */
    this.waiting = new Map();
    /** @type {Map<string, string[]>} address → keys of other windows' slots that nobody has compared yet */
    this.others = new Map();
    /** @type {Map<string, Slot | undefined>} address → the slot whose words are shown here */
    this.continued = new Map();
    /** @type {WeakMap<Draft | Gone, string>} draft → why the server did not take it */
    this.whys = new WeakMap();
    this.failures = 0;
  }

  /**
   * What could not be stored and is sent again, and whether it only discards a draft.
   *
   * @returns {[address: string, why: string, isGone: boolean | undefined][]}
   */
  get failing() {
    return [...this.waiting].flatMap(([address, draft]) => {
      const why = this.whys.get(draft);
      return why === undefined ? [] : [[address, why, draft.isGone]];
    });
  }

  /**
   * Each window has a slot of its own for each coin: none overwrites or removes what another one wrote.
   *
   * @param {string} address
   */
  slot(address, client = this.client) {
    return `${SLOTS}${this.place}:${client}:${address}`;
  }

  /**
   * The draft to continue: the newest of this browser that the server never confirmed, otherwise the server's.
   *
   * @param {string} address
   * @param {Draft | null} [kept]
   */
  open(address, kept) {
    this.goOnFrom(address, kept);
    const isConfirmed = (/** @type {Slot} */ { draft }) => kept?.client === draft.client && kept.n >= draft.n;
    const slots = this.slots(address);
    slots.filter(isConfirmed).forEach((slot) => this.remove(slot));
    const isOwn = (/** @type {Slot} */ { draft }) => Number(draft.client === this.client);
    const [newest, ...others] = slots
      .filter((slot) => !isConfirmed(slot))
      .sort((one, other) => isOwn(other) - isOwn(one) || (other.draft.at ?? 0) - (one.draft.at ?? 0));
    // It may be on its way to the server.
    if (newest && (!kept || kept.client === newest.draft.client)) this.goOnFrom(address, newest.draft);
    this.continued.set(address, newest);
    this.others.set(
      address,
      others.map(({ key }) => key),
    );
    return newest?.draft ?? kept;
  }

  /**
   * What the windows of this browser wrote about a coin, as far as the server did not confirm it.
   *
   * @param {string} address
   */
  slots(address) {
    const keys = stored(() => Object.keys(localStorage)) ?? [];
    const found = keys.filter((key) => key.startsWith(SLOTS) && key.endsWith(`:${address}`));
    const slots = found.flatMap((key) => readSlot(key) ?? []);
    return slots.filter((slot) => slot.key === this.slot(address, slot.draft.client));
  }

  /**
   * The next slot of another window to compare with the text here; null if there is none.
   *
   * @param {string} address
   */
  nextOther(address) {
    const keys = this.others.get(address) ?? [];
    while (keys.length) {
      const slot = readSlot(keys.shift() ?? "");
      if (slot) return slot;
    }
    return null;
  }

  /**
   * Remove a slot unless its window has written to it since.
   *
   * @param {Slot} [slot]
   */
  remove(slot) {
    stored(() => slot && localStorage.getItem(slot.key) === slot.text && localStorage.removeItem(slot.key));
  }

  /**
   * Number a draft and store it in this window's slot; that replaces the slot which it continues.
   *
   * @param {string} address
   * @param {Typed} draft
   */
  write(address, draft) {
    /** @type {Draft} */
    const numbered = { ...draft, client: this.client, n: ++this.n, at: Date.now() };
    stored(() => {
      localStorage.setItem(this.slot(address), JSON.stringify(numbered));
      if (this.continued.get(address)?.key !== this.slot(address)) this.remove(this.continued.get(address));
      this.continued.delete(address);
    });
    return numbered;
  }

  /** @param {string} address */
  clear(address) {
    this.remove(this.continued.get(address));
    this.continued.delete(address);
    stored(() => localStorage.removeItem(this.slot(address)));
  }

  /**
   * @param {string} address
   * @param {Draft | null} [draft]
   */
  goOnFrom(address, draft) {
    this.knows[address] = draft?.client ?? "";
    if (draft) this.seen.set(`${draft.client} ${address}`, Math.max(draft.n, this.seenOf(address, draft.client)));
  }

  /**
   * @param {string} address
   * @param {string} client
   */
  seenOf(address, client) {
    return this.seen.get(`${client} ${address}`) ?? -1;
  }

  /**
   * Another window's draft is compared here: what waits was written without it, and must not replace it.
   *
   * @param {string} address
   * @param {Draft} draft
   */
  meet(address, draft) {
    this.waiting.delete(address);
    this.goOnFrom(address, draft);
  }

  /**
   * Whether a draft contains text that is not here: of another window, or of this one before it was sent.
   *
   * @param {string} address
   * @param {Draft} draft
   */
  isNews(address, draft) {
    return draft.client !== this.client && draft.n > this.seenOf(address, draft.client);
  }

  /**
   * @param {string} address
   * @param {Typed} draft
   */
  keep(address, draft) {
    const numbered = this.write(address, draft);
    this.waiting.set(address, numbered);
    this.say("keeping", "", address);
    this.sendSoon(PAUSE);
    return numbered;
  }

  /**
   * Store in this browser only: the server keeps the other window's draft until the user chooses.
   *
   * @param {string} address
   * @param {Typed} draft
   */
  hold(address, draft) {
    this.waiting.delete(address);
    this.write(address, draft);
    this.say("draft", "", address);
  }

  /**
   * The server has this draft already.
   *
   * @param {string} address
   */
  isKept(address) {
    this.waiting.delete(address);
    this.clear(address);
  }

  /**
   * There is no draft any more.
   *
   * @param {string} address
   */
  drop(address) {
    this.waiting.set(address, { isGone: true, client: this.client, n: ++this.n });
    this.clear(address);
    this.send();
  }

  /** @param {number} wait */
  sendSoon(wait) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(), wait);
  }

  /** Sends the latest draft of each coin, one after the other; resolves when none is left. */
  async send() {
    clearTimeout(this.timer);
    if (this.busy) return this.busy;
    this.busy = this.sendAll();
    await this.busy;
    this.busy = null;
  }

  async sendAll() {
    for (const [address, draft] of [...this.waiting]) {
      try {
        const answer = await this.ask(...this.request(address, draft));
        if (answer.elsewhere) {
          if (this.waiting.get(address)?.n === draft.n) this.waiting.delete(address); // it stays in this browser
          this.say("draft", "", address);
          this.elsewhere(address, answer.elsewhere);
          continue;
        }
        this.knows[address] = draft.isGone ? "" : this.client;
        this.done(address, draft);
      } catch (error) {
        const { message } = /** @type {Error} */ (error);
        this.whys.set(draft, message); // one coin's draft must not hold up the others
        this.say("failed", message, address);
      }
    }
    if (this.waiting.size > this.failing.length) return this.sendSoon(0); // typed meanwhile
    if (this.waiting.size) return this.sendSoon(AGAIN[Math.min(this.failures++, AGAIN.length - 1)]);
    this.failures = 0;
  }

  /**
   * @param {string} address
   * @param {Draft | Gone} draft
   * @returns {[verb: "keep" | "discard", body: Body]}
   */
  request(address, draft) {
    const knows = this.knows[address] ?? "";
    const seen = this.seenOf(address, knows);
    return draft.isGone
      ? ["discard", { address, draft: { client: draft.client, n: draft.n }, knows, seen }]
      : ["keep", { address, draft, knows, seen }];
  }

  /**
   * @param {string} address
   * @param {Draft | Gone} draft
   */
  done(address, draft) {
    if (this.waiting.get(address)?.n !== draft.n) return; // there is a newer one
    this.isKept(address);
    this.say("draft", "", address);
  }

  /**
   * Before the draft is committed: nothing older may arrive after it.
   *
   * @param {string} address
   */
  async settle(address) {
    await this.busy;
    this.waiting.delete(address);
  }

  /** @param {string} address */
  forget(address) {
    this.knows[address] = "";
    this.clear(address);
  }

  /** The page is closing: it cannot wait for answers. */
  flush() {
    for (const [address, draft] of this.waiting) this.beacon(...this.request(address, draft));
  }
}

/**
 * The draft stored under a key of this browser's storage; null if there is none.
 *
 * @param {string} key
 * @returns {Slot | null | undefined}
 */
function readSlot(key) {
  return stored(() => {
    const text = localStorage.getItem(key);
    const draft = JSON.parse(text ?? "null");
    return text && draft && { key, text, draft };
  });
}

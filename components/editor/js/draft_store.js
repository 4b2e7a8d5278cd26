// Stores drafts: in this browser immediately, on the server a moment later, with retries until it succeeds.

import { newId } from "../../shell/js/post.js";
import { stored } from "../../shell/js/storage.js";

const PAUSE = 250; // ms between the last keystroke and sending
const SLOTS = "memedex-drafts:"; // how the keys of localStorage begin
const AGAIN = [1000, 2000, 5000]; // ms before each retry

export class DraftStore {
  /** `ask(verb, body)` reaches the server; `say(state, why, address)` shows "draft", "keeping" or "failed". */
  constructor({ ask, beacon, say, elsewhere }) {
    Object.assign(this, { ask, beacon, say, elsewhere });
    this.client = newId();
    this.n = 0;
    this.knows = {}; // address → the client whose draft this one is based on
    this.seen = new Map(); // client and address → number of its last draft that is included here
    this.waiting = new Map(); // address → a draft that the server does not have yet, or has to delete
    this.others = new Map(); // address → keys of other windows' slots that nobody has compared yet
    this.continued = new Map(); // address → the slot whose words are shown here
    this.whys = new WeakMap(); // draft → why the server did not take it
    this.failures = 0;
  }

  /** What could not be stored and is sent again: address, reason, and whether it only discards a draft. */
  get failing() {
    const failed = [...this.waiting].filter(([, draft]) => this.whys.has(draft));
    return failed.map(([address, draft]) => [address, this.whys.get(draft), draft.isGone]);
  }

  /** Each window has a slot of its own for each coin: none overwrites or removes what another one wrote. */
  slot(address, client = this.client) {
    return `${SLOTS}${this.place}:${client}:${address}`;
  }

  /** The draft to continue: the newest of this browser that the server never confirmed, otherwise the server's. */
  open(address, kept) {
    this.goOnFrom(address, kept);
    const isConfirmed = ({ draft }) => kept?.client === draft.client && kept.n >= draft.n;
    const slots = this.slots(address);
    slots.filter(isConfirmed).forEach((slot) => this.remove(slot));
    const isOwn = ({ draft }) => Number(draft.client === this.client);
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

  /** What the windows of this browser wrote about a coin, as far as the server did not confirm it. */
  slots(address) {
    const keys = stored(() => Object.keys(localStorage)) ?? [];
    const slots = keys.filter((key) => key.startsWith(SLOTS) && key.endsWith(`:${address}`)).map(readSlot);
    return slots.filter((slot) => slot?.key === this.slot(address, slot?.draft.client));
  }

  /** The next slot of another window to compare with what stands here; null if there is none. */
  nextOther(address) {
    const keys = this.others.get(address) ?? [];
    while (keys.length) {
      const slot = readSlot(keys.shift());
      if (slot) return slot;
    }
    return null;
  }

  /** Remove a slot unless its window has written to it since. */
  remove(slot) {
    stored(() => slot && localStorage.getItem(slot.key) === slot.text && localStorage.removeItem(slot.key));
  }

  /** Number a draft and store it in this window's slot; that replaces the slot which it continues. */
  write(address, draft) {
    const numbered = { ...draft, client: this.client, n: ++this.n, at: Date.now() };
    stored(() => {
      localStorage.setItem(this.slot(address), JSON.stringify(numbered));
      if (this.continued.get(address)?.key !== this.slot(address)) this.remove(this.continued.get(address));
      this.continued.delete(address);
    });
    return numbered;
  }

  clear(address) {
    this.remove(this.continued.get(address));
    this.continued.delete(address);
    stored(() => localStorage.removeItem(this.slot(address)));
  }

  goOnFrom(address, draft) {
    this.knows[address] = draft?.client ?? "";
    if (draft) this.seen.set(`${draft.client} ${address}`, Math.max(draft.n, this.seenOf(address, draft.client)));
  }

  seenOf(address, client) {
    return this.seen.get(`${client} ${address}`) ?? -1;
  }

  /** Another window's draft is compared here: what waits was written without it, and must not replace it. */
  meet(address, draft) {
    this.waiting.delete(address);
    this.goOnFrom(address, draft);
  }

  /** Whether a draft contains text that is not here: of another window, or of this one before it was sent. */
  isNews(address, draft) {
    return draft.client !== this.client && draft.n > this.seenOf(address, draft.client);
  }

  keep(address, draft) {
    const numbered = this.write(address, draft);
    this.waiting.set(address, numbered);
    this.say("keeping", "", address);
    this.sendSoon(PAUSE);
    return numbered;
  }

  /** Store in this browser only: the server keeps the other window's draft until somebody chooses. */
  hold(address, draft) {
    this.waiting.delete(address);
    this.write(address, draft);
    this.say("draft", "", address);
  }

  /** The server has this draft already. */
  isKept(address) {
    this.waiting.delete(address);
    this.clear(address);
  }

  /** There is no draft any more. */
  drop(address) {
    this.waiting.set(address, { isGone: true, client: this.client, n: ++this.n });
    this.clear(address);
    this.send();
  }

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
        this.whys.set(draft, error.message); // one coin's draft must not hold up the others
        this.say("failed", error.message, address);
      }
    }
    if (this.waiting.size > this.failing.length) return this.sendSoon(0); // typed meanwhile
    if (this.waiting.size) return this.sendSoon(AGAIN[Math.min(this.failures++, AGAIN.length - 1)]);
    this.failures = 0;
  }

  request(address, draft) {
    const knows = this.knows[address] ?? "";
    const seen = this.seenOf(address, knows);
    return draft.isGone
      ? ["discard", { address, draft: { client: draft.client, n: draft.n }, knows, seen }]
      : ["keep", { address, draft, knows, seen }];
  }

  done(address, draft) {
    if (this.waiting.get(address)?.n !== draft.n) return; // there is a newer one
    this.isKept(address);
    this.say("draft", "", address);
  }

  /** Before the draft is committed: nothing older may arrive after it. */
  async settle(address) {
    await this.busy;
    this.waiting.delete(address);
  }

  forget(address) {
    this.knows[address] = "";
    this.clear(address);
  }

  /** The page is closing: it cannot wait for answers. */
  flush() {
    for (const [address, draft] of this.waiting) this.beacon(...this.request(address, draft));
  }
}

/** The draft stored under a key of this browser's storage; null if there is none. */
function readSlot(key) {
  return stored(() => {
    const text = localStorage.getItem(key);
    const draft = JSON.parse(text);
    return draft && { key, text, draft };
  });
}

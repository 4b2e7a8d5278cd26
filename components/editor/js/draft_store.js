// Stores drafts: in this browser immediately, on the server a moment later, with retries until it succeeds.

const PAUSE = 250; // ms between the last keystroke and sending
const AGAIN = [1000, 2000, 5000]; // ms before each retry

export class DraftStore {
  /** `ask(verb, body)` reaches the server; `say(state, why)` shows "draft", "keeping" or "failed". */
  constructor({ ask, beacon, say, elsewhere }) {
    Object.assign(this, { ask, beacon, say, elsewhere });
    this.client = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    this.n = 0;
    this.knows = {}; // address → the client whose draft this one is based on
    this.seen = new Map(); // client → number of its last draft that is included here
    this.waiting = new Map(); // address → a draft that the server does not have yet, or has to delete
    this.failures = 0;
  }

  get prefix() {
    return `memedex-draft:${this.place}:`;
  }

  /** The draft to continue: the browser's own if the server never confirmed it, otherwise the server's. */
  open(address, kept) {
    this.goOnFrom(address, kept);
    const own = stored(() => JSON.parse(localStorage.getItem(this.prefix + address))) ?? this.fromBefore(address);
    if (!own || (kept?.client === own.client && kept.n >= own.n)) return kept;
    return own;
  }

  /** A draft stored under the library's folder name, as before ids were used; it moves to the id. */
  fromBefore(address) {
    return stored(() => {
      const key = `memedex-draft:${this.placeBefore}:${address}`;
      const kept = localStorage.getItem(key);
      if (kept) localStorage.setItem(this.prefix + address, kept);
      localStorage.removeItem(key);
      return JSON.parse(kept);
    });
  }

  goOnFrom(address, draft) {
    this.knows[address] = draft?.client ?? "";
    if (draft) this.seen.set(draft.client, Math.max(draft.n, this.seen.get(draft.client) ?? 0));
  }

  /** Whether a draft contains text that is not here: of another window, or of this one before it was sent. */
  isNews(draft) {
    return draft.client !== this.client && draft.n > (this.seen.get(draft.client) ?? -1);
  }

  keep(address, draft) {
    const numbered = { ...draft, client: this.client, n: ++this.n };
    this.waiting.set(address, numbered);
    stored(() => localStorage.setItem(this.prefix + address, JSON.stringify(numbered)));
    this.say("keeping");
    this.sendSoon(PAUSE);
    return numbered;
  }

  /** Store in this browser only: the server keeps the other window's draft until somebody chooses. */
  hold(address, draft) {
    this.waiting.delete(address);
    stored(() => localStorage.setItem(this.prefix + address, JSON.stringify({ ...draft, client: this.client, n: ++this.n })));
    this.say("draft");
  }

  /** The server has this draft already. */
  isKept(address) {
    this.waiting.delete(address);
    stored(() => localStorage.removeItem(this.prefix + address));
  }

  /** There is no draft any more. */
  drop(address) {
    this.waiting.set(address, { isGone: true, n: ++this.n });
    stored(() => localStorage.removeItem(this.prefix + address));
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
        if (answer.failed) throw new Error(answer.failed);
        if (answer.elsewhere) {
          if (this.waiting.get(address)?.n === draft.n) this.waiting.delete(address); // it stays in this browser
          this.elsewhere(address, answer.elsewhere);
          continue;
        }
        this.knows[address] = draft.isGone ? "" : this.client;
        this.failures = 0;
        this.done(address, draft);
      } catch (error) {
        this.say("failed", error.message);
        this.sendSoon(AGAIN[Math.min(this.failures++, AGAIN.length - 1)]);
        return;
      }
    }
    if (this.waiting.size) this.sendSoon(0);
    else this.say("draft");
  }

  request(address, draft) {
    return draft.isGone ? ["discard", { address }] : ["keep", { address, draft, knows: this.knows[address] ?? "" }];
  }

  done(address, draft) {
    if (this.waiting.get(address)?.n === draft.n) this.isKept(address);
  }

  /** Before the draft is committed: nothing older may arrive after it. */
  async settle(address) {
    clearTimeout(this.timer);
    await this.busy;
    this.waiting.delete(address);
  }

  forget(address) {
    this.knows[address] = "";
    stored(() => localStorage.removeItem(this.prefix + address));
  }

  /** The page is closing: it cannot wait for answers. */
  flush() {
    for (const [address, draft] of this.waiting) this.beacon(...this.request(address, draft));
  }
}

/** Storage may be disabled or full; then only the server stores the draft, a moment later. */
function stored(use) {
  try {
    return use();
  } catch {
    return null;
  }
}

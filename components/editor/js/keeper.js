// Keeps what is typed: in this browser at once, on the server a moment later, again and again until it is there.

const PAUSE = 250; // ms between the last letter and the server
const AGAIN = [1000, 2000, 5000]; // ms after which a failed sending is tried again

export class Keeper {
  /** `ask(verb, body)` reaches the server; `say(state, why)` shows "draft", "keeping" or "failed". */
  constructor({ ask, beacon, say, elsewhere }) {
    Object.assign(this, { ask, beacon, say, elsewhere });
    this.client = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    this.n = 0;
    this.knows = {}; // address → whose draft this one goes on from
    this.waiting = new Map(); // address → the draft that the server does not have yet
    this.failures = 0;
  }

  get prefix() {
    return `memedex-draft:${this.place}:`;
  }

  /** The draft to go on with: the browser's own where the server never confirmed it, else the server's. */
  open(address, kept) {
    this.knows[address] = kept?.client ?? "";
    const own = stored(() => JSON.parse(localStorage.getItem(this.prefix + address)));
    if (!own || (kept?.client === own.client && kept.n >= own.n)) return kept;
    return own;
  }

  keep(address, draft) {
    const numbered = { ...draft, client: this.client, n: ++this.n };
    this.waiting.set(address, numbered);
    stored(() => localStorage.setItem(this.prefix + address, JSON.stringify(numbered)));
    this.say("keeping");
    this.sendSoon(PAUSE);
    return numbered;
  }

  sendSoon(wait) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(), wait);
  }

  /** One draft after the other, each coin's latest; resolves when nothing is under way. */
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
        const answer = await this.ask("keep", { address, draft, knows: this.knows[address] ?? "" });
        if (answer.failed) throw new Error(answer.failed);
        if (answer.elsewhere) {
          this.elsewhere(address, answer.elsewhere);
          this.done(address, draft);
          continue;
        }
        this.knows[address] = this.client;
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

  done(address, draft) {
    if (this.waiting.get(address)?.n !== draft.n) return;
    this.waiting.delete(address);
    stored(() => localStorage.removeItem(this.prefix + address));
  }

  /** Before the draft is committed or discarded: nothing older may arrive after it. */
  async settle(address) {
    clearTimeout(this.timer);
    await this.busy;
    const draft = this.waiting.get(address);
    this.waiting.delete(address);
    return draft;
  }

  forget(address) {
    this.knows[address] = "";
    stored(() => localStorage.removeItem(this.prefix + address));
  }

  /** The page is going away: no answer can be waited for. */
  flush() {
    for (const [address, draft] of this.waiting) this.beacon("keep", { address, draft, knows: this.knows[address] ?? "" });
  }
}

/** Storage may be switched off or full; the words are then with the server a moment later. */
function stored(use) {
  try {
    return use();
  } catch {
    return null;
  }
}

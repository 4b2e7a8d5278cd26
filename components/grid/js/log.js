// The numbered log: every decision stays in it, and in the browser's storage, until the server confirms its number.

const PREFIX = "memedex-log:";
const BATCH = 100; // ms between two sendings while keys come fast; the first one goes at once
const PATIENCE = 2500; // ms without a confirmation before the whole log is sent again
const LATER = 3; // times that this doubles: a page that takes long must not be begun anew for ever

export class DecisionLog {
  /**
   * `send` carries a value to the server; `waits` is told how many decisions it has not answered for a while, and 0 once
   * it has; `beacon` is {url, token} for the moment the page goes away.
   */
  constructor(grid, { send, waits }) {
    this.grid = grid;
    this.send = send;
    this.waits = waits;
    this.client = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    this.key = `${PREFIX}${grid}:${this.client}`;
    this.entries = [];
    this.next = 1;
    this.confirmed = 0;
    this.others = this.leftBehind();
    this.sentAt = 0;
    this.sendings = 0;
    this.inVain = 0;
  }

  add(entry) {
    const numbered = { n: this.next++, boot: this.boot, ...entry };
    this.entries.push(numbered);
    this.keep();
    this.sendSoon();
    return numbered;
  }

  /** What the server has settled, by client; returns the results that were not known yet. */
  confirm(confirmed) {
    const news = [];
    for (const [client, { n, results }] of Object.entries(confirmed)) {
      const waiting = this.others[client];
      if (client === this.client || !waiting) continue;
      news.push(...results.filter((result) => waiting.some((entry) => entry.n === result.n)));
      const left = waiting.filter((entry) => entry.n > n);
      if (left.length) this.others[client] = left;
      else {
        delete this.others[client];
        this.forget(client, n);
      }
    }
    const own = confirmed[this.client];
    if (!own || own.n <= this.confirmed) return news;
    const fresh = own.results.filter((result) => result.n > this.confirmed);
    this.confirmed = own.n;
    this.inVain = 0;
    this.entries = this.entries.filter((entry) => entry.n > own.n);
    this.keep();
    if (this.isLate && !this.entries.length) this.waits(0);
    this.isLate &&= this.entries.length > 0;
    return [...news, ...fresh];
  }

  /** What is still to be confirmed, for the server. */
  contents() {
    return { client: this.client, entries: this.entries.map(bare), others: this.others };
  }

  get isEmpty() {
    return !this.entries.length && !Object.keys(this.others).length;
  }

  sendSoon() {
    clearTimeout(this.timer);
    const wait = Math.max(0, this.sentAt + BATCH - performance.now());
    this.timer = setTimeout(() => this.sendNow(), this.sentAt ? wait : 0);
  }

  sendNow() {
    clearTimeout(this.timer);
    if (this.isEmpty) return;
    this.sentAt = performance.now();
    // Streamlit looks at a value only when it differs from the last, and what began with that may have been cut off.
    this.send({ ...this.contents(), sending: ++this.sendings });
    this.timer = setTimeout(() => this.sendAgain(), PATIENCE * 2 ** Math.min(this.inVain, LATER));
  }

  sendAgain() {
    this.inVain += 1;
    this.isLate = this.entries.length > 0;
    if (this.isLate) this.waits(this.entries.length);
    if (isAtWork() && this.inVain <= LATER) this.timer = setTimeout(() => this.sendAgain(), PATIENCE);
    else this.sendNow();
  }

  /** The page is going away: a run of the script may never start, a beacon still arrives. */
  flush() {
    if (this.isEmpty || !this.beacon) return;
    const body = JSON.stringify({ token: this.beacon.token, grid: this.grid, ...this.contents() });
    navigator.sendBeacon?.(this.beacon.url, body);
  }

  stop() {
    this.flush();
    clearTimeout(this.timer);
  }

  /** Drops what is confirmed of another tab's log, which may hold more by now than it did when it was read. */
  forget(client, n) {
    const key = `${PREFIX}${this.grid}:${client}`;
    stored((storage) => {
      const left = JSON.parse(storage.getItem(key) ?? "[]").filter((entry) => entry.n > n);
      if (left.length) storage.setItem(key, JSON.stringify(left));
      else storage.removeItem(key);
    });
  }

  keep() {
    if (this.entries.length) stored((storage) => storage.setItem(this.key, JSON.stringify(this.entries.map(bare))));
    else stored((storage) => storage.removeItem(this.key));
  }

  /** Logs that a reload or a closed tab left unconfirmed. Sending one twice is harmless: it is numbered. */
  leftBehind() {
    const found = {};
    stored((storage) => {
      for (const key of Object.keys(storage)) {
        if (!key.startsWith(`${PREFIX}${this.grid}:`)) continue;
        const entries = JSON.parse(storage.getItem(key));
        if (Array.isArray(entries) && entries.length) found[key.slice(key.lastIndexOf(":") + 1)] = entries;
      }
    });
    return found;
  }
}

/** Whether the server works for this page: what was sent waits there, and sent again it would begin the page anew. */
function isAtWork() {
  const app = document.querySelector("[data-testid=stApp]");
  return ["running", "rerunRequested"].includes(app?.dataset.testScriptState);
}

/** An entry without what only the page needs. */
function bare({ effect, undone, hides, goes, ...entry }) {
  return entry;
}

/** Storage may be switched off or full; the log then lives in memory, and in the beacon. */
function stored(use) {
  try {
    use(window.localStorage);
  } catch {
    // nothing is lost that was not already beyond reach
  }
}

// The numbered log: every decision stays here and in the browser's storage until the server confirms its number.
// Library, person and session are part of the key and of each decision, so none is sent to the wrong place.

import { isBusy, isLeaving, undecided } from "../../shell/js/hand.js";
import { newKey } from "../../shell/js/post.js";
import { stored } from "../../shell/js/storage.js";
import { count } from "./dom.js";

const PREFIX = "memedex-log:"; // then library, person, session, grid and client, each encoded
const UNNAMED = "memedex-log-unnamed:"; // from before logs had names: kept, but never sent
const NAMED = "memedex-named-logs"; // logs already reported in this tab
const BATCH = 100; // ms between two messages while keys come fast; the first one is sent immediately
const PATIENCE = 2500; // ms without a confirmation before the whole log is sent again
const ABANDONED = 60_000; // ms for one answer of the route
const LATER = 3; // how often this doubles: a slow page must not be restarted forever

export class DecisionLog {
  /**
   * `place` is {library, who, session}; `send` carries a value to the server; `waits` receives the number of decisions it has
   * not answered for a while, and 0 once it has; `heard` receives the confirmations of the route. `beacon` is {url, token}
   * of that route, which also answers while no script can run; without it, and for what needs the page, the script is run.
   */
  constructor(grid, { place, send, waits, heard = () => {}, canDecide = true }) {
    this.grid = grid;
    this.place = place;
    this.send = send;
    this.waits = waits;
    this.heard = heard;
    this.client = newKey();
    this.key = PREFIX + [place.library, place.who, place.session, grid, this.client].map(encodeURIComponent).join(":");
    this.entries = [];
    this.applied = []; // confirmed, but not in the cards of the page's last run
    this.shown = Infinity; // the generation of these cards
    this.next = 1;
    this.confirmed = 0;
    this.keys = {}; // client → the key of a log that was left behind
    this.foreign = { people: {}, libraries: 0, unnamed: [] };
    this.others = this.leftBehind();
    if (!canDecide) this.others = {}; // they would only be refused here: they wait for a page that can decide
    this.sentAt = 0;
    this.sendings = 0;
    this.inVain = 0;
  }

  add(entry) {
    const numbered = { n: this.next++, boot: this.boot, ...this.place, ...entry };
    this.entries.push(numbered);
    this.keep();
    this.sendSoon();
    return numbered;
  }

  /** Takes the server's confirmations, by client; returns the new results. */
  confirm(confirmed) {
    this.applied = this.applied.filter(({ generation }) => generation > this.shown);
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
    const cursors = new Map(this.entries.map(({ n, cursor }) => [n, cursor]));
    const fresh = own.results.filter(({ n }) => n > this.confirmed).map((result) => ({ ...result, cursor: cursors.get(result.n) }));
    this.confirmed = own.n;
    this.applied.push(...this.entries.filter(({ n }) => n <= own.n).map((entry) => carriedOut(entry, own.results)).filter(({ generation }) => generation > this.shown));
    this.inVain = 0;
    this.entries = this.entries.filter((entry) => entry.n > own.n);
    this.keep();
    if (this.isLate && !this.entries.length) this.waits(0);
    this.isLate &&= this.entries.length > 0;
    return [...news, ...fresh];
  }

  /** The unconfirmed decisions, for the server. */
  contents() {
    return { ...this.place, client: this.client, entries: this.entries.map(bare), others: this.others };
  }

  /** What was decided here and is not in the page's cards, in order. */
  get news() {
    return [...this.applied, ...this.entries];
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
    if (!this.beacon || this.entries.some(({ goes }) => goes)) this.ask();
    else if (!this.isPosting) this.post();
    this.timer = setTimeout(() => this.sendAgain(), PATIENCE * 2 ** Math.min(this.inVain, LATER));
  }

  /** Sends by a run of the page's script; a page that is being left sends by its beacon. */
  ask() {
    if (this.beacon && isLeaving()) return;
    // Streamlit ignores a value equal to the last one, whose run may have been interrupted.
    this.send({ ...this.contents(), sending: ++this.sendings });
  }

  /** Sends by the route; what it leaves undone (verbs of the page, another token) goes by a run. */
  async post() {
    const last = this.next - 1;
    this.isPosting = true;
    const confirmed = await this.answer();
    this.isPosting = false;
    if (this.isStopped) return;
    if (confirmed) this.heard(confirmed);
    if (this.isEmpty) clearTimeout(this.timer);
    else if (confirmed && this.entries.every(({ n }) => n > last) && !Object.keys(this.others).length) this.sendNow();
    else this.ask();
  }

  /** The route's confirmations; null if it refuses or cannot be reached. */
  async answer() {
    try {
      const answer = await fetch(this.beacon.url, { method: "POST", body: this.letter(), signal: AbortSignal.timeout(ABANDONED) });
      return answer.status === 200 ? (await answer.json()).confirmed : null;
    } catch {
      return null;
    }
  }

  letter() {
    return JSON.stringify({ token: this.beacon.token, grid: this.grid, ...this.contents() });
  }

  sendAgain() {
    this.inVain += 1;
    this.isLate = this.entries.length > 0;
    if (this.isLate) this.waits(this.entries.length);
    if ((this.isPosting || isBusy()) && this.inVain <= LATER) this.timer = setTimeout(() => this.sendAgain(), PATIENCE);
    else this.sendNow();
  }

  /** The page is closing: a run of the script may never start, but a beacon still arrives. */
  flush() {
    if (this.isEmpty || !this.beacon) return;
    navigator.sendBeacon?.(this.beacon.url, this.letter());
  }

  stop() {
    this.isStopped = true;
    this.flush();
    clearTimeout(this.timer);
    undecided.delete(this);
  }

  /** Drops confirmed entries of another tab's log, which may have grown since it was read. */
  forget(client, n) {
    const key = this.keys[client];
    stored((storage) => {
      const left = JSON.parse(storage.getItem(key) ?? "[]").filter((entry) => entry.n > n);
      if (left.length) storage.setItem(key, JSON.stringify(left));
      else storage.removeItem(key);
    });
  }

  keep() {
    if (this.entries.length) undecided.add(this);
    else undecided.delete(this);
    if (this.entries.length) stored((storage) => storage.setItem(this.key, JSON.stringify(this.entries.map(bare))));
    else stored((storage) => storage.removeItem(this.key));
  }

  /**
   * Logs of this library and person that a reload or a closed tab left unconfirmed. Sending one twice is harmless: it is
   * numbered. Logs of others stay where they are and are only counted.
   */
  leftBehind() {
    const found = {};
    const { foreign } = this;
    const own = this.key.slice(PREFIX.length).split(":");
    for (const key of stored((storage) => Object.keys(storage)) ?? []) {
      if (!key.startsWith(PREFIX)) continue;
      const entries = stored((storage) => JSON.parse(storage.getItem(key)));
      if (!Array.isArray(entries) || !entries.length) continue;
      const [library, who, , grid, client] = key.slice(PREFIX.length).split(":");
      if (!client) foreign.unnamed.push({ key, entries });
      else if (library !== own[0]) foreign.libraries += entries.length;
      else if (who !== own[1]) foreign.people[who] = (foreign.people[who] ?? 0) + entries.length;
      else if (grid === own[3]) {
        this.keys[client] = key;
        found[client] = entries;
      }
    }
    return found;
  }

  /** A message about logs in this browser that are not sent from here; "" if there is nothing new. */
  nameForeign() {
    const { people, libraries, unnamed } = this.foreign;
    const told = Object.entries(people).map(([encoded, number]) => {
      const who = decodeURIComponent(encoded);
      return `${count(number, "decision")} of ${who} will be stored when ${who} opens this library here again.`;
    });
    if (libraries) told.push(`${count(libraries, "decision")} made in another library will be stored when it is opened here again.`);
    const now = JSON.stringify(told);
    const isKnown = stored(() => window.sessionStorage.getItem(NAMED) === now);
    stored(() => window.sessionStorage.setItem(NAMED, now));
    const news = isKnown ? [] : told;
    if (unnamed.length) {
      const verbs = unnamed.flatMap(({ entries }) => entries.map(({ verb }) => verb));
      const each = [...new Set(verbs)].map((verb) => `${verbs.filter((other) => other === verb).length} × ${verb}`);
      news.push(`${count(verbs.length, "decision")} from before an update (${each.join(", ")}) do not say in which library they were made, and were not carried out. Decide again what is still wanted.`);
      for (const { key } of unnamed.splice(0)) {
        stored((storage) => {
          storage.setItem(UNNAMED + key.slice(PREFIX.length), storage.getItem(key));
          storage.removeItem(key);
        });
      }
    }
    return news.join(" ");
  }
}

/** A confirmed entry with the generation that has it, and the effect that was not refused. */
function carriedOut({ n, addresses, effect }, results) {
  const { generation = -Infinity, refused = [] } = results.find((result) => result.n === n) ?? {};
  const items = new Set(refused.map(({ item }) => item));
  const left = (list) => (items.has("") ? [] : list?.filter((address) => !items.has(address)));
  return { n, addresses, generation, effect: { hide: left(effect?.hide), show: left(effect?.show) } };
}

/** An entry without the fields that only the page needs. */
function bare({ effect, undone, hides, goes, cursor, ...entry }) {
  return entry;
}

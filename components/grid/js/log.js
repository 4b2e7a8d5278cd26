// The decisions made here: each stays in this page and in the browser's storage until the server has answered it.
// Library and person are part of the key, so none is sent to the wrong place; its id keeps it from being done twice.

import { undecided } from "../../shell/js/hand.js";
import { newId, post, postLast } from "../../shell/js/post.js";
import { stored } from "../../shell/js/storage.js";
import { count } from "./dom.js";

const PREFIX = "memedex-decisions:"; // then library, person and page, each encoded
const NAMED = "memedex-named-decisions"; // those already reported in this tab
const BATCH = 100; // ms between two messages while keys come fast; the first one is sent immediately
const PATIENCE = 2500; // ms without an answer before a person is told, and before the next try
const LATER = 3; // how often this doubles
const LARGEST = 1_000_000; // characters of one message; a decision about 10,000 coins has as many

/** @import { Server } from "../../shell/js/post.js" */

/** @typedef {{library: string, who: string}} Place */
/** @typedef {{hide?: string[], show?: string[]} | null} Effect what leaves and what comes back, by address */
/**
 * A verb and its coins, and what else the verb needs, such as a reason or tags.
 *
 * @typedef {{verb: string, addresses: string[], undoes?: string, [more: string]: unknown}} Decision
 */
/** @typedef {Decision & {id: string, effect?: Effect, cursor?: string}} Entry */
/**
 * What came of a decision (`_answer` of components/grid/decisions.py): `again` has the coins that are decided with a
 * reason to only if it is wanted, with the revisions that were seen by then.
 *
 * @typedef {{
 *   generation: number,
 *   verb: string,
 *   reason: string,
 *   again: Record<string, number | null>,
 *   done: string[],
 *   message: string,
 *   refused: {item: string, reason: string}[],
 * }} Answer
 */
/** @typedef {ReturnType<typeof carriedOut>} Applied */
/** @typedef {Answer & {id: string, cursor?: string}} Result */

export class DecisionLog {
  /** @type {Server | undefined} */
  server;
  timer = 0;
  isUnderWay = false;
  isStopped = false;
  isLate = false;

  /**
   * `heard(results)` receives what came of decisions, `waits(number)` how many are not
   * answered for a while, and 0 once they are; `refused()` asks for a run of the page, which brings another token.
   *
   * @param {{
   *   place: Place,
   *   heard: (results: Result[]) => void,
   *   waits: (number: number) => void,
   *   refused: () => void,
   *   canDecide?: boolean,
   *   sent?: typeof post,
   *   sentLast?: typeof postLast,
   * }} seams
   */
  constructor({ place, heard, waits, refused, canDecide = true, sent = post, sentLast = postLast }) {
    this.place = place;
    this.heard = heard;
    this.waits = waits;
    this.refused = refused;
    this.sent = sent;
    this.sentLast = sentLast;
    this.key = keyOf(place, newId());
    this.entries = /** @type {Entry[]} */ ([]); // made here, not answered
    this.left = /** @type {Entry[]} */ ([]); // made before a reload or in a tab that was closed, not answered
    this.applied = /** @type {Applied[]} */ ([]); // answered, but not in the cards of the page's last run
    this.shown = Infinity; // the generation of these cards
    this.foreign = { people: /** @type {Record<string, number>} */ ({}), libraries: 0 };
    this.keys = /** @type {string[]} */ ([]); // of the logs that `left` is from
    this.sentAt = 0;
    this.inVain = 0;
    if (canDecide) this.readLeft(); // else they would only be refused: they wait for a page that can decide
  }

  /** @param {Decision} decision */
  add(decision) {
    /** @type {Entry} */
    const entry = { id: newId(), ...decision };
    this.entries.push(entry);
    this.keep();
    this.sendSoon();
    return entry;
  }

  /**
   * A run of the page gives its server and the generation of its cards.
   *
   * @param {{server: Server, generation: number}} data
   */
  take({ server, generation }) {
    const isNew = this.server?.token !== server.token;
    this.server = server;
    this.shown = generation;
    this.applied = this.applied.filter((entry) => entry.generation > this.shown);
    if (isNew && !this.isEmpty) this.sendNow();
  }

  /** What was decided here and is not in the page's cards, in order. */
  get news() {
    return [...this.applied, ...this.entries];
  }

  get isEmpty() {
    return !this.entries.length && !this.left.length;
  }

  sendSoon() {
    clearTimeout(this.timer);
    const wait = Math.max(0, this.sentAt + BATCH - performance.now());
    this.timer = setTimeout(() => this.sendNow(), this.sentAt ? wait : 0);
  }

  async sendNow() {
    clearTimeout(this.timer);
    if (this.isUnderWay || this.isEmpty || this.isStopped || !this.server) return;
    this.isUnderWay = true;
    this.sentAt = performance.now();
    const late = setTimeout(() => this.sayLate(), PATIENCE);
    const { status, answer } = await this.sent(this.server, "decisions", this.message());
    clearTimeout(late);
    this.isUnderWay = false;
    if (this.isStopped) return;
    const results = answer ? this.answered(answer.answers) : [];
    if (results.length) {
      this.inVain = 0;
      this.heard(results);
      if (!this.isEmpty) await this.sendNow();
      return;
    }
    if (this.inVain) this.sayLate();
    if (400 <= status && status < 500) this.refused();
    this.timer = setTimeout(() => this.sendNow(), PATIENCE * 2 ** Math.min(this.inVain++, LATER));
  }

  /** The oldest decisions that are not answered, as many as one message takes. */
  message() {
    const entries = [];
    let size = 0;
    for (const entry of [...this.left, ...this.entries].map(forServer)) {
      size += JSON.stringify(entry).length;
      if (entries.length && size > LARGEST) break;
      entries.push(entry);
    }
    return { ...this.place, entries };
  }

  /**
   * Takes the answers, by id; returns them in order.
   *
   * @param {Record<string, Answer>} answers
   * @returns {Result[]}
   */
  answered(answers) {
    const found = [...this.left, ...this.entries].filter(({ id }) => id in answers);
    const isLeft = (/** @type {Entry} */ { id }) => !(id in answers);
    this.applied.push(
      ...this.entries.filter(({ id }) => id in answers).map((entry) => carriedOut(entry, answers[entry.id])),
    );
    this.applied = this.applied.filter((entry) => entry.generation > this.shown);
    this.entries = this.entries.filter(isLeft);
    this.left = this.left.filter(isLeft);
    this.keep();
    for (const key of this.keys) storeLog(key, readLog(key).filter(isLeft));
    if (this.isLate && this.isEmpty) this.waits(0);
    this.isLate &&= !this.isEmpty;
    return found.map(({ id, cursor }) => ({ ...answers[id], id, cursor }));
  }

  sayLate() {
    this.isLate = !this.isEmpty;
    if (this.entries.length) this.waits(this.entries.length);
  }

  /** The page is closing: it hears no answer, and the next page sends again what was not answered. */
  flush() {
    if (!this.isEmpty && this.server) this.sentLast(this.server, "decisions", this.message());
  }

  stop() {
    this.isStopped = true;
    this.flush();
    clearTimeout(this.timer);
    undecided.delete(this);
  }

  keep() {
    if (this.entries.length) undecided.add(this);
    else undecided.delete(this);
    storeLog(this.key, this.entries.map(forServer));
  }

  /** Logs of this library and person that a reload or a closed tab left unanswered; those of others are counted. */
  readLeft() {
    const [, library, who] = this.key.split(":");
    for (const key of stored((storage) => Object.keys(storage)) ?? []) {
      if (!key.startsWith(PREFIX)) continue;
      const entries = readLog(key);
      if (!entries.length) continue;
      const [, of, by] = key.split(":");
      if (of !== library) this.foreign.libraries += entries.length;
      else if (by !== who) this.foreign.people[by] = (this.foreign.people[by] ?? 0) + entries.length;
      else {
        this.keys.push(key);
        this.left.push(...entries);
      }
    }
  }

  /** A message about decisions in this browser that are not sent from here; "" if there is nothing new. */
  nameForeign() {
    const { people, libraries } = this.foreign;
    const told = Object.entries(people).map(([encoded, number]) => {
      const who = decodeURIComponent(encoded);
      return `${count(number, "decision")} of ${who} will be stored when ${who} opens this library here again.`;
    });
    if (libraries)
      told.push(`${count(libraries, "decision")} made in another library will be stored when it is opened here again.`);
    const now = JSON.stringify(told);
    const isKnown = stored(() => window.sessionStorage.getItem(NAMED) === now);
    stored(() => window.sessionStorage.setItem(NAMED, now));
    return isKnown ? "" : told.join(" ");
  }
}

/**
 * Ids of what can be undone and redone now, the next one last: those of the page's run, and what was decided since.
 *
 * @param {(Entry | Applied)[]} news
 * @param {{undo?: string[], redo?: string[]}} run
 */
export function undoable(news, { undo = [], redo = [] }) {
  let back = undo.toReversed();
  let again = redo.toReversed();
  for (const { id, verb, undoes, ...entry } of news) {
    if ("isRefused" in entry && entry.isRefused) continue;
    back = back.filter((each) => each !== id && each !== undoes);
    again = again.filter((each) => each !== id && each !== undoes);
    if (verb === "undo") again.push(id);
    else back.push(id);
    if (!undoes) again = [];
  }
  return { back, again };
}

/**
 * @param {Place} place
 * @param {string} page
 */
function keyOf({ library, who }, page) {
  return PREFIX + [library, who, page].map(encodeURIComponent).join(":");
}

/**
 * @param {string} key
 * @returns {Entry[]}
 */
function readLog(key) {
  const entries = stored((storage) => JSON.parse(storage.getItem(key) ?? "null"));
  return Array.isArray(entries) ? entries.filter((entry) => typeof entry?.id === "string") : [];
}

/**
 * @param {string} key
 * @param {Decision[]} entries
 */
function storeLog(key, entries) {
  stored((storage) => (entries.length ? storage.setItem(key, JSON.stringify(entries)) : storage.removeItem(key)));
}

/**
 * An answered entry with the generation that has it, and the effect that was not refused.
 *
 * @param {Entry} entry
 * @param {Answer} answer
 */
function carriedOut({ id, verb, undoes, addresses, effect }, { generation, refused }) {
  const items = new Set(refused.map(({ item }) => item));
  const left = (/** @type {string[]} */ list) => (items.has("") ? [] : list.filter((item) => !items.has(item)));
  const isRefused = items.has("") || (addresses.length > 0 && !left(addresses).length);
  return {
    id,
    verb,
    undoes,
    addresses,
    generation,
    isRefused,
    effect: { hide: left(effect?.hide ?? []), show: left(effect?.show ?? []) },
  };
}

/**
 * An entry without the fields that only the page needs.
 *
 * @param {Entry} whole
 */
function forServer({ effect, cursor, ...entry }) {
  return entry;
}

// Pending memories as a list of cards with the review page's keys: a accept, r reject, z undo, arrows.

import { activeIn, el, part, symbol } from "../../shell/js/elements.js";
import { hand, undecided } from "../../shell/js/hand.js";
import { newId, post } from "../../shell/js/post.js";
import { keptInTab } from "../../shell/js/storage.js";

/** @import { Server } from "../../shell/js/post.js" */
/** @import { Store } from "../../shell/js/storage.js" */
/** @import { Mount } from "../../shell/js/streamlit_page.js" */

/** @typedef {"accept" | "reject" | "undo"} Verb */
/** @typedef {{decision: string, values: {verb: Verb, id: string}}} Request */
/**
 * A memory that waits, as components/memory/pending.py draws it.
 *
 * @typedef {{
 *   id: string,
 *   kind: string,
 *   place: string,
 *   author: string,
 *   via: string,
 *   when: string,
 *   before: string | null,
 *   text: string,
 *   removes: boolean,
 *   flags: {label: string, reason: string}[],
 * }} Entry
 */
/** @typedef {{server: Server, form: string, at: number, entries: Entry[]}} QueueData */
/** @typedef {QueueData & {place: string, total: number, can_write: boolean}} ListData */

const TRIES = 4;
const AWAY = "The server cannot be reached. Your decisions are kept: reload the page to send them.";

/** @type {WeakMap<HTMLElement, List>} */
const open = new WeakMap();

/** Decisions about pending memories, sent one after the other; it knows nothing of the document. */
export class PendingQueue {
  /** @type {QueueData | null} */
  data = null;
  error = "";
  isUnderWay = false;
  waitsForRun = false;
  hadRun = false;
  run = () => {};
  /** @type {Map<string, number>} when each was confirmed, until a run that began later; both by the server's clock */
  decided = new Map();

  /**
   * `store`: where decisions wait for their confirmation, even if the page is loaded again.
   *
   * @param {{store: Store<Request[]>, changed: () => void, sent?: typeof post}} seams
   */
  constructor({ store, changed, sent = post }) {
    this.store = store;
    this.changed = changed;
    this.sent = sent;
    this.requests = store.read() ?? []; // oldest first
  }

  /**
   * A run of the page gives its data; `run` asks for another.
   *
   * @param {QueueData} data
   * @param {() => void} run
   */
  take(data, run) {
    const isNewToken = this.data?.server.token !== data.server.token;
    this.data = data;
    this.run = run;
    for (const [id, at] of this.decided) if (at < data.at) this.decided.delete(id); // the run knows it
    if (isNewToken || !this.waitsForRun) this.work();
  }

  /** The entries that wait for a decision of this page, in their order. */
  get entries() {
    const requested = new Set(this.requests.map(({ values }) => values.id));
    return (this.data?.entries ?? []).filter(({ id }) => !requested.has(id) && !this.decided.has(id));
  }

  /** @param {Verb} verb */
  decide(verb, id = "") {
    this.error = "";
    this.requests.push({ decision: newId(), values: { verb, id } });
    this.keep();
    this.changed();
    this.work();
  }

  keep() {
    this.store.write(this.requests.length ? this.requests : null);
  }

  async work() {
    const [request] = this.requests;
    if (this.isUnderWay || !request || !this.data) return;
    this.isUnderWay = true;
    this.waitsForRun = false;
    const { server, form } = this.data;
    const { status, text, answer } = await this.sent(server, "form", { form, ...request }, { tries: TRIES });
    this.isUnderWay = false;
    if ([401, 403, 404].includes(status) && !this.hadRun) {
      this.waitsForRun = this.hadRun = true;
      return this.run(); // which brings another token
    }
    this.hadRun = false;
    if (status === 0 || status >= 500) this.error = text || AWAY;
    else {
      this.requests.shift();
      if (status === 200) this.decided.set(request.values.id, answer.at);
      else {
        this.error = text;
        if (request.values.verb !== "undo") this.dropUndo();
      }
      this.keep();
    }
    this.changed();
    if (this.requests.length && !this.error) await this.work();
    else if (status === 200 || status === 409) this.run();
  }

  /** Drops the undo of the decision that was refused: the one behind it, unless it is of a later decision. */
  dropUndo() {
    let undoable = 1;
    const at = this.requests.findIndex(({ values }) => (undoable += values.verb === "undo" ? -1 : 1) === 0);
    if (at >= 0) this.requests.splice(at, 1);
  }
}

class List {
  focused = "";
  /** @type {Map<string, HTMLElement>} by the id of their entry */
  cards = new Map();

  /** @param {HTMLElement} root @param {ListData} data */
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.queue = new PendingQueue({ store: keptInTab(`memedex.pending ${data.place}`), changed: () => this.draw() });
    root.tabIndex = -1;
    const onKey = (/** @type {KeyboardEvent} */ event) => this.handleKey(event);
    document.addEventListener("keydown", onKey, true);
    this.stop = () => document.removeEventListener("keydown", onKey, true);
  }

  /**
   * Keys act while the focus is in the list or on the page itself, and nothing covers it.
   *
   * @param {KeyboardEvent} event
   */
  handleKey(event) {
    const target = /** @type {Node} */ (event.composedPath()[0]);
    const isHere = target === document.body || this.root.contains(target);
    if (isHere && this.root.isConnected && !event.isComposing && !event.defaultPrevented && !hand().isCovered)
      this.press(event);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.data.can_write) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.repeat && "arz".includes(key)) return event.preventDefault(); // a key that is held decides once
    const entries = this.queue.entries;
    const at = Math.max(
      0,
      entries.findIndex(({ id }) => id === this.focused),
    );
    if (key === "z") this.queue.decide("undo");
    else if (!entries.length) return;
    else if (key === "a" || key === "r") this.decide(key === "a" ? "accept" : "reject", entries[at].id);
    else if (key === "ArrowDown" || key === "ArrowRight") this.focus(entries[Math.min(at + 1, entries.length - 1)].id);
    else if (key === "ArrowUp" || key === "ArrowLeft") this.focus(entries[Math.max(at - 1, 0)].id);
    else return;
    event.preventDefault();
    event.stopImmediatePropagation(); // Streamlit has keys of its own
  }

  /**
   * Decides, and goes on to the next card.
   *
   * @param {Verb} verb
   * @param {string} id
   */
  decide(verb, id) {
    const entries = this.queue.entries;
    const at = entries.findIndex((entry) => entry.id === id);
    this.focused = (entries[at + 1] ?? entries[at - 1])?.id ?? "";
    this.queue.decide(verb, id);
    this.focus(this.focused);
  }

  /** @param {string} id */
  focus(id) {
    this.focused = id;
    for (const [of, card] of this.cards) card.tabIndex = of === id ? 0 : -1;
    (this.cards.get(id) ?? this.root).focus();
  }

  /** @param {ListData} data @param {() => void} ask */
  update(data, ask) {
    this.data = data;
    this.queue.take(data, ask);
    this.draw();
  }

  draw() {
    const { queue, data } = this;
    const entries = queue.entries;
    const hadFocus = this.root.contains(activeIn(this.root));
    if (!entries.some(({ id }) => id === this.focused)) this.focused = entries[0]?.id ?? "";
    const rest = data.total - (data.entries.length - entries.length);
    this.cards = new Map(entries.map((entry) => [entry.id, this.card(entry)]));
    this.root.replaceChildren(
      el(
        "div",
        { class: "head", hidden: rest < 1 },
        el("span", {}, rest === 1 ? "1 memory waits" : `${rest} memories wait`),
        data.can_write ? el("span", { class: "keys" }, "a accept · r reject · z undo · arrows move") : null,
      ),
      el("div", { class: "error", role: "alert", hidden: !queue.error }, queue.error),
      ...this.cards.values(),
    );
    if (hadFocus) this.focus(this.focused);
    if (queue.requests.length) undecided.add(queue);
    else undecided.delete(queue);
  }

  /** @param {Entry} entry */
  card(entry) {
    const { id, kind, place, author, via, when, before, text, removes, flags } = entry;
    const buttons = [this.button(entry, "accept", "Accept", "check"), this.button(entry, "reject", "Reject", "close")];
    return el(
      "article",
      {
        class: "card",
        "data-id": id,
        tabindex: id === this.focused ? 0 : -1,
        onfocus: () => this.focused !== id && this.focus(id),
      },
      el(
        "div",
        { class: "about" },
        el("span", {}, place ? `${kind} · ${place}` : kind),
        el("span", {}, `${author} · ${via} · ${when}`),
      ),
      before === null ? null : el("del", { class: "text" }, before),
      el(removes ? "del" : "p", { class: "text" }, text),
      flags.length
        ? el(
            "ul",
            { class: "flags" },
            ...flags.map(({ label, reason }) => el("li", {}, el("strong", {}, label), el("span", {}, reason))),
          )
        : null,
      this.data.can_write ? el("div", { class: "foot" }, ...buttons) : null,
    );
  }

  /** @param {Entry} entry @param {Verb} verb @param {string} label @param {string} sign */
  button({ id }, verb, label, sign) {
    const press = () => this.decide(verb, id);
    return el("button", { class: verb, type: "button", onclick: press }, symbol(sign), el("span", {}, label));
  }
}

/** @param {Mount<ListData>} mount */
export default function ({ data, parentElement, setTriggerValue }) {
  const root = part(parentElement, ".memedex-pending", HTMLElement);
  let list = open.get(root);
  if (!list || list.data.place !== data.place) {
    list?.stop();
    list = new List(root, data);
    open.set(root, list);
  }
  list.update(data, () => setTriggerValue("done", performance.now()));
  return () => {
    const own = open.get(root);
    if (root.isConnected || !own) return; // Streamlit also calls this for a run that a newer one overtook
    own.stop();
    undecided.delete(own.queue);
    open.delete(root);
  };
}

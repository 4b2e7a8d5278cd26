// The parts of a page that keep themselves up to date, such as bars of jobs: they share one stream, which says when the
// page has to run again.

import { Connection } from "./connection.js";
import { el, part, setText } from "./elements.js";
import { arrive, hand, watchHand } from "./hand.js";
import { mayOffer, mayRun, NEVER, news, outdated } from "./outdated.js";
import { parts } from "./parts.js";

/** @import { State } from "./connection.js" */
/** @import { PartData } from "./parts.js" */
/** @import { Mount } from "./streamlit_page.js" */

const LOOK = 250; // ms between two looks at whether the hand rests, while the page is out of date

/** @typedef {{data: PartData, ask: () => void, draw: ((data: PartData, state: Partial<State>) => void) | null}} Part */
/** @typedef {{part: Part, names: string[]}} Late a part whose data is not true any more, and what changed */

class LivePage {
  /** @type {Map<HTMLElement, Part>} by its place in the document */
  parts = new Map();
  /** @type {Partial<State>} what the server has told */
  state = {};
  /** @type {Record<string, string>} */
  jobNames = {};
  lastRun = { ...NEVER };
  /** @type {number | null} */
  lateSince = null;
  isRefused = false; // the server wants another token; the page's next run brings it
  /** @type {Connection | null} */
  connection = null;
  timer = 0;
  stopWatching = () => {};
  // "3 new coins · Show", at the foot of the window while the person at the page is in the middle of something
  offer = el("button", { class: "offer", type: "button", onclick: () => this.run() });

  /**
   * A run of the page gives a part its data; `ask` runs the page.
   *
   * @param {HTMLElement} root
   * @param {PartData} data
   * @param {() => void} ask
   */
  take(root, data, ask) {
    arrive();
    this.connection ??= this.begin();
    const before = this.parts.get(root);
    const draw = before?.data.part === data.part ? before.draw : (parts[data.part]?.(root) ?? null);
    this.parts.set(root, { data, ask, draw });
    for (const { id, name } of data.bars ?? []) this.jobNames[id] = name;
    this.isRefused = false;
    this.connection.at({ url: data.url, token: data.server.token });
    draw?.(data, this.state);
    this.look();
  }

  /** @param {HTMLElement} root */
  drop(root) {
    this.parts.delete(root);
    if (!this.parts.size) this.end();
  }

  begin() {
    this.stopWatching = watchHand();
    const refused = () => {
      this.isRefused = true;
      this.look();
    };
    return new Connection({ tell: (message) => this.hear(message), refused });
  }

  end() {
    clearTimeout(this.timer);
    this.connection?.stop();
    this.stopWatching();
    this.connection = null;
    this.state = {};
  }

  /** @param {Partial<State>} message */
  hear(message) {
    Object.assign(this.state, message);
    for (const { id, name } of message.bars ?? []) this.jobNames[id] = name;
    for (const { draw, data } of this.parts.values()) draw?.(data, this.state);
    this.look();
  }

  get shown() {
    return [...this.parts].filter(([root]) => root.isConnected);
  }

  /** @returns {Late[]} */
  late() {
    return this.shown
      .map(([, part]) => ({ part, names: this.isRefused ? ["token"] : outdated(part.data, this.state) }))
      .filter(({ names }) => names.length);
  }

  /** Runs the page if it is out of date and the hand rests; else looks again soon, and offers to run it. */
  look() {
    clearTimeout(this.timer);
    const late = this.late();
    if (!late.length) {
      this.lateSince = null;
      this.lastRun.times = 0;
      return this.offer.remove();
    }
    const now = performance.now();
    this.lateSince ??= now;
    const { lastRun, lateSince } = this;
    const doing = hand();
    if (mayRun(doing, { now, names: late.flatMap((part) => part.names), lastRun })) this.run();
    else if (!this.isRefused && !doing.isWorking && mayOffer({ now, lateSince, lastRun })) this.suggest(late);
    this.timer = setTimeout(() => this.look(), LOOK);
  }

  /** @param {Late[]} late */
  suggest(late) {
    const all = this.shown;
    const [place] = all.find(([, { data }]) => data.part === "bars") ?? all[0];
    const shown = Object.assign(
      {},
      ...all.map(([, { data }]) => ({ ...data.shown, ...("pending" in data && { pending: data.pending }) })),
    );
    const names = late.flatMap((part) => part.names);
    setText(this.offer, `${news(names, { shown, state: this.state, jobNames: this.jobNames })} · Show`);
    if (this.offer.parentNode !== place) place.append(this.offer);
  }

  run() {
    const late = this.late();
    if (!late.length) return;
    this.lastRun = { at: performance.now(), times: this.lastRun.times + 1, names: late.flatMap(({ names }) => names) };
    this.offer.remove();
    late[0].part.ask();
  }
}

/** @type {LivePage | undefined} */
let page;

/** @param {Mount<PartData>} mount */
export default function ({ data, parentElement, setTriggerValue }) {
  const root = part(parentElement, ".memedex-live", HTMLElement);
  const live = (page ??= new LivePage());
  live.take(root, data, () => setTriggerValue("outdated", performance.now()));
  return () => {
    // Streamlit also calls this, on a page that stays, for a run of this function that a newer one overtook.
    if (!root.isConnected) live.drop(root);
  };
}

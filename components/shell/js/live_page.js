// All parts of one page with the stream that they share, and when the page is run again.

import { Connection } from "./connection.js";
import { arrive, hand, watchHand } from "./hand.js";
import { Offer } from "./offer.js";
import { mayOffer, mayRun, news, outdated } from "./outdated.js";
import { parts } from "./parts.js";

const LOOK = 250; // ms between two looks at whether the hand rests, while the page is out of date

export class LivePage {
  parts = new Map(); // a place in the document → {data, ask, draw}
  state = {}; // what the server has told
  jobNames = {};
  lastRun = { at: -Infinity, times: 0 };
  lateSince = null;
  refusedToken = null; // the server wants another; the page's next run brings it

  /** A run of the page gives a part its data; `ask` runs the page. */
  take(root, data, ask) {
    arrive();
    if (!this.connection) this.begin();
    let part = this.parts.get(root);
    if (part?.data.part !== data.part) {
      part = { draw: parts[data.part]?.(root) };
      this.parts.set(root, part);
    }
    Object.assign(part, { data, ask });
    for (const { id, name } of data.bars ?? []) this.jobNames[id] = name;
    this.refusedToken = null;
    this.connection.at({ url: data.url, token: data.server.token });
    part.draw?.(data, this.state);
    this.look();
  }

  drop(root) {
    this.parts.delete(root);
    if (!this.parts.size) this.end();
  }

  begin() {
    this.connection = new Connection({ tell: (message) => this.hear(message), refused: (token) => this.refuse(token) });
    this.offer ??= new Offer(() => this.run());
    this.stopWatching = watchHand();
  }

  end() {
    clearTimeout(this.timer);
    this.connection.stop();
    this.stopWatching();
    this.connection = null;
    this.state = {};
  }

  hear(message) {
    Object.assign(this.state, message);
    for (const { id, name } of message.bars ?? []) this.jobNames[id] = name;
    for (const { draw, data } of this.parts.values()) draw?.(data, this.state);
    this.look();
  }

  refuse(token) {
    this.refusedToken = token;
    this.look();
  }

  /** The parts whose data is not true any more, with the names of what changed. */
  late() {
    const there = [...this.parts].filter(([root]) => root.isConnected).map(([, part]) => part);
    return there
      .map((part) => ({ part, names: this.refusedToken ? ["token"] : outdated(part.data, this.state) }))
      .filter(({ names }) => names.length);
  }

  /** Runs the page if it is out of date and the hand rests; else looks again soon, and offers to run it. */
  look() {
    clearTimeout(this.timer);
    const late = this.late();
    if (!late.length) {
      this.lateSince = null;
      this.lastRun.times = 0;
      return this.offer.hide();
    }
    const now = performance.now();
    this.lateSince ??= now;
    const doing = hand();
    const names = late.flatMap((part) => part.names);
    if (mayRun(doing, { now, names, lastRun: this.lastRun })) this.run();
    else if (
      !this.refusedToken &&
      !doing.isWorking &&
      mayOffer({ now, lateSince: this.lateSince, lastRun: this.lastRun })
    )
      this.suggest(late);
    this.timer = setTimeout(() => this.look(), LOOK);
  }

  suggest(late) {
    const all = [...this.parts].filter(([root]) => root.isConnected);
    const [place] = all.find(([, { data }]) => data.part === "bars") ?? all[0];
    const shown = Object.assign(
      {},
      ...all.map(([, { data }]) => ({ ...data.shown, ...("pending" in data && { pending: data.pending }) })),
    );
    this.offer.show(
      place,
      news(
        late.flatMap(({ names }) => names),
        { shown, state: this.state, jobNames: this.jobNames },
      ),
    );
  }

  run() {
    const late = this.late();
    const [first] = late;
    if (!first) return;
    this.lastRun = { at: performance.now(), times: this.lastRun.times + 1, names: late.flatMap(({ names }) => names) };
    this.offer.hide();
    first.part.ask();
  }
}

// What each part of the page draws from its data and from what the server has told since.

import { arrange, el, setText, symbol } from "./elements.js";
import { post } from "./post.js";

/** @import { Badge, Job, State } from "./connection.js" */
/** @import { Values } from "./outdated.js" */
/** @import { Server } from "./post.js" */

/**
 * What a run of the page gives a part, as `_mount` of components/shell/page/live.py does: which values the page shows,
 * and when they were read. A part that draws has what it draws.
 *
 * @typedef {{
 *   part: string,
 *   url: string,
 *   server: Server,
 *   canStop: boolean,
 *   shown: Values,
 *   at: number,
 *   badges?: Badge[],
 *   bars?: Job[] | null,
 *   pending?: number,
 *   job?: number,
 *   text?: string,
 * }} PartData
 */
/** @typedef {(data: PartData, state: Partial<State>) => void} Draw */

const BARS = 2; // on a page that is about something else
const TRIES = 4; // to pause or stop a job, which may be sent again

/**
 * Makes for each kind of part what draws it into its place; those without one show nothing.
 *
 * @type {Record<string, (root: HTMLElement) => Draw>}
 */
export const parts = {
  badges: (root) => (data, state) =>
    root.replaceChildren(el("div", { class: "badges" }, ...(newer(data, state).badges ?? []).map(badge))),

  bars: (root) => {
    const bars = new Bars();
    const list = el("div", { class: "bars" });
    const more = el("div", { class: "more" });
    root.append(list);
    return (data, state) => {
      if (!data.bars) return arrange(list, []);
      const jobs = (newer(data, state).bars ?? []).filter(({ quiet }) => !quiet);
      more.hidden = jobs.length <= BARS;
      setText(more, more.hidden ? "" : `and ${jobs.length - BARS} more on Jobs`);
      arrange(list, [...bars.draw(jobs.slice(0, BARS), data, "line"), more]);
    };
  },

  job: (root) => {
    const bars = new Bars();
    return (data, state) => {
      const own = data.bars ?? [];
      const newest = newer(data, state).bars?.filter(({ id }) => id === own[0]?.id);
      arrange(root, bars.draw(newest?.length ? newest : own, data, "figures"));
    };
  },

  answer: (root) => {
    const text = el("div", { class: "answer" });
    root.append(text);
    return (data, state) => setText(text, state.answers?.[String(data.job)] || data.text || "…");
  },
};

/**
 * What is newer: what the server told last, or what the page's run knows.
 *
 * @param {PartData} data
 * @param {Partial<State>} state
 */
function newer(data, state) {
  return Number(state.at) > data.at ? state : data;
}

/** @param {Badge} badge */
function badge({ label, icon, color, help }) {
  return el("span", { class: `badge ${color}`, title: help }, symbol(icon), label);
}

/** Bars of jobs, each in the node it has already: a button that is pressed must not be exchanged. */
class Bars {
  /** @type {Map<number, Bar>} */
  known = new Map();

  /** @param {Job[]} jobs @param {PartData} data @param {"line" | "figures"} words */
  draw(jobs, data, words) {
    for (const id of this.known.keys()) if (!jobs.some((job) => job.id === id)) this.known.delete(id);
    return jobs.map((job) => {
      const bar = this.known.get(job.id) ?? new Bar(job.id);
      this.known.set(job.id, bar);
      return bar.draw(job, data, words);
    });
  }
}

class Bar {
  fault = "";
  /** @type {Server | null} */
  server = null;

  /** @param {number} id */
  constructor(id) {
    this.text = el("div", { class: "line" });
    this.done = el("div", { class: "done" });
    this.track = el("div", { class: "track", role: "progressbar" }, this.done);
    this.note = el("span", { class: "badge yellow" }, "stopping");
    this.pause = this.button("Pause", "It can be continued later, also after a restart.", id);
    this.stop = this.button("Stop", "What is done is kept; the rest is left.", id);
    const progress = el("div", { class: "progress" }, this.text, this.track);
    this.node = el("div", { class: "bar" }, progress, this.note, this.pause, this.stop);
  }

  /** @param {Job} job @param {PartData} data @param {"line" | "figures"} words */
  draw(job, data, words) {
    this.server = data.server;
    setText(this.text, this.fault || job[words]);
    this.done.style.width = `${job.fraction * 100}%`;
    this.track.setAttribute("aria-valuenow", String(Math.round(job.fraction * 100)));
    this.track.setAttribute("aria-label", job.name);
    this.note.hidden = !job.stopping;
    this.pause.hidden = job.stopping || !data.canStop || !job.pausable;
    this.stop.hidden = job.stopping || !data.canStop;
    return this.node;
  }

  /** @param {string} label @param {string} help @param {number} id */
  button(label, help, id) {
    const press = async () => {
      if (!this.server) return;
      button.disabled = true;
      const message = { job: id, verb: label.toLowerCase() };
      const { status, text } = await post(this.server, "job", message, { tries: TRIES });
      const isOwn = (status && status <= 500) || status === 503; // else there was no answer, or one of a proxy
      this.fault = status === 200 ? "" : isOwn ? text : "The server cannot be reached; try again.";
      if (this.fault) setText(this.text, this.fault);
      button.disabled = false;
    };
    const button = el("button", { type: "button", title: help, onclick: press }, label);
    return button;
  }
}

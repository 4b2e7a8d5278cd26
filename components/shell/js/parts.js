// What each part of the page draws from its data and from what the server has told since.

import { arrange } from "./arrange.js";
import { el, icon, setText } from "./elements.js";
import { post } from "./post.js";

const BARS = 2; // on a page that is about something else
const TRIES = 4; // to pause or stop a job, which may be sent again

/**
 * Makes for each kind of part a function (data, state) that draws it into its place; those without one show nothing.
 */
export const parts = {
  badges: (root) => (data, state) =>
    root.replaceChildren(el("div", "badges", ...newer(data, state, "badges").map(badge))),

  bars: (root) => {
    const bars = new Bars();
    const list = el("div", "bars");
    const more = el("div", "more");
    root.append(list);
    return (data, state) => {
      if (!data.bars) return arrange(list, []);
      const jobs = newer(data, state, "bars").filter(({ quiet }) => !quiet);
      more.hidden = jobs.length <= BARS;
      setText(more, more.hidden ? "" : `and ${jobs.length - BARS} more on Jobs`);
      arrange(list, [...bars.draw(jobs.slice(0, BARS), data, "line"), more]);
    };
  },

  job: (root) => {
    const bars = new Bars();
    return (data, state) => {
      const [own] = data.bars;
      const job = newer(data, state, "bars").find(({ id }) => id === own.id) ?? own;
      arrange(root, bars.draw([job], data, "figures"));
    };
  },

  answer: (root) => {
    const text = el("div", "answer");
    root.append(text);
    return (data, state) => setText(text, state.answers?.[data.job] || data.text || "…");
  },
};

/** A value as the server told it last, or as the page's run knows it if that was later. */
function newer(data, state, name) {
  return state.at > data.at ? state[name] : data[name];
}

function badge({ label, icon: name, color, help }) {
  const node = el("span", `badge ${color}`, icon(name), label);
  node.title = help;
  return node;
}

/** Bars of jobs, each in the node it has already: a button that is pressed must not be exchanged. */
class Bars {
  known = new Map();

  draw(jobs, data, words) {
    for (const id of this.known.keys()) if (!jobs.some((job) => job.id === id)) this.known.delete(id);
    return jobs.map((job) => {
      if (!this.known.has(job.id)) this.known.set(job.id, new Bar(job.id));
      return this.known.get(job.id).draw(job, data, words);
    });
  }
}

class Bar {
  constructor(id) {
    this.text = el("div", "line");
    this.done = el("div", "done");
    this.track = el("div", "track", this.done);
    this.track.setAttribute("role", "progressbar");
    this.note = el("span", "badge yellow", "stopping");
    this.pause = this.button("Pause", "It can be continued later, also after a restart.", id);
    this.stop = this.button("Stop", "What is done is kept; the rest is left.", id);
    this.node = el("div", "bar", el("div", "progress", this.text, this.track), this.note, this.pause, this.stop);
  }

  draw(job, data, words) {
    this.data = data;
    setText(this.text, this.fault || job[words]);
    this.done.style.width = `${job.fraction * 100}%`;
    this.track.setAttribute("aria-valuenow", Math.round(job.fraction * 100));
    this.track.setAttribute("aria-label", job.name);
    this.note.hidden = !job.stopping;
    this.pause.hidden = job.stopping || !data.canStop || !job.pausable;
    this.stop.hidden = job.stopping || !data.canStop;
    return this.node;
  }

  button(label, help, id) {
    const button = el("button", "", label);
    button.type = "button";
    button.title = help;
    button.addEventListener("click", async () => {
      button.disabled = true;
      const { status, text } = await post(
        this.data.server,
        "job",
        { job: id, verb: label.toLowerCase() },
        { tries: TRIES },
      );
      const isOwn = (status && status <= 500) || status === 503; // else there was no answer, or one of a proxy
      this.fault = status === 200 ? "" : isOwn ? text : "The server cannot be reached; try again.";
      if (this.fault) setText(this.text, this.fault);
      button.disabled = false;
    });
    return button;
  }
}

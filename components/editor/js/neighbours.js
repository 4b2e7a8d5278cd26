// The nearest records of this text, and how well it describes its own picture.

import { el, fill } from "../../shell/js/elements.js";
import { whyNot } from "./server.js";

/** @import { Row } from "./facet.js" */
/** @import { Editor } from "./main.js" */
/** @import { Nearest, Neighbour } from "./server.js" */

const LOOK_PAUSE = 180; // ms after the last keystroke

export class Neighbours {
  address = ""; // of the coin that was asked for
  /** @type {Row | null} */
  row = null;
  timer = 0;
  isAsking = false;
  isAsked = false; // again, meanwhile
  isStopped = false;

  /** @param {Editor} editor */
  constructor(editor) {
    this.editor = editor;
    this.title = el("h3", {}, "Nearest");
    this.fit = el("div", { class: "fit", hidden: true });
    this.list = el("ol", { class: "neighbours" });
    this.node = el("aside", { class: "nearest", "aria-live": "off" }, this.title, this.fit, this.list);
  }

  /** Whether what is shown was asked for the coin in the editor, and not for the one before. */
  get isOfThisCoin() {
    return this.address === this.editor.address;
  }

  /**
   * Searches again after a pause; an answer to an outdated request is dropped.
   *
   * @param {Row} row
   */
  ask(row, { wait = LOOK_PAUSE } = {}) {
    clearTimeout(this.timer);
    if (!this.isOfThisCoin) this.say("");
    this.address = this.editor.address;
    this.row = row;
    this.timer = setTimeout(() => this.look(), wait);
  }

  /** One request at a time: the model takes seconds for twenty pages, and every pause requests again. */
  async look() {
    const { row } = this;
    if (!row) return;
    this.editor.measure([row]);
    if (this.isAsking) {
      this.isAsked = true;
      return;
    }
    const { address } = this.editor;
    const { text } = row;
    this.isAsking = true;
    const slow = setTimeout(() => this.node.classList.add("behind"), 400);
    try {
      const answer = await this.editor.server.ask("look", { address, facet: row.facet, text });
      if (address === this.editor.address && row === this.row && !this.isStopped) this.take(row, answer);
    } catch (error) {
      if (row === this.row) {
        this.entitle(row);
        this.say(whyNot(error));
      }
    } finally {
      clearTimeout(slow);
      this.isAsking = false;
      if (this.isAsked) {
        this.isAsked = false;
        if (!this.isStopped) this.look();
      } else this.node.classList.remove("behind");
    }
  }

  /** @param {Row} row @param {Nearest} answer */
  take(row, answer) {
    if (!answer.waits) return this.show(row, answer);
    this.say("The model is being loaded …");
    this.ask(row, { wait: 1500 });
  }

  /** @param {Row} row */
  entitle(row) {
    this.title.textContent = `Nearest by ${row.purpose.label.toLowerCase()}`;
    this.node.classList.add("told");
  }

  /** @param {Row} row @param {Nearest} answer */
  show(row, { neighbours = [], place, pictures = 0, agreement = 0 }) {
    this.entitle(row);
    if (!row.text.trim()) return this.say("Write something to see the nearest coins here.");
    this.fit.hidden = typeof place !== "number";
    if (typeof place === "number") {
      const share = pictures > 1 ? (place - 1) / (pictures - 1) : 0;
      this.fit.dataset.tone = place <= 3 || share <= 0.02 ? "good" : share <= 0.25 ? "plain" : "warn";
      this.fit.title = `Cosine of text and picture ${agreement.toFixed(3)}, compared with every picture of the library`;
      this.fit.replaceChildren(
        el("b", {}, `This text finds its picture at rank\u00a0${place.toLocaleString("en")}`),
        el("span", {}, ` of\u00a0${pictures.toLocaleString("en")}`),
      );
    }
    if (neighbours.length) fill(this.list, neighbours, (other) => this.neighbour(other));
    else this.list.replaceChildren(el("li", { class: "quiet" }, "No other coin of the library has this facet yet."));
  }

  /** @param {Neighbour} other */
  neighbour({ address, name, picture, text, cosine }) {
    const bar = el("i", { class: "bar" });
    bar.style.setProperty("--share", `${Math.max(0, Math.min(1, cosine)) * 100}%`);
    return el(
      "li",
      { title: text, "data-address": address },
      el("img", { src: picture, alt: "", loading: "lazy", width: "46", height: "46" }),
      el(
        "div",
        {},
        el("div", { class: "line" }, el("b", { dir: "auto" }, name), el("code", {}, cosine.toFixed(2))),
        bar,
        el("div", { class: "text", dir: "auto" }, text),
      ),
    );
  }

  /** @param {string} sentence */
  say(sentence) {
    this.fit.hidden = true;
    this.list.replaceChildren(el("li", { class: "quiet" }, sentence));
  }

  stop() {
    clearTimeout(this.timer);
    this.isStopped = true;
  }
}

// The slider of time: which coins there were until a day, and how the library grew.

import { button } from "../../grid/js/dom.js";
import { el } from "../../shell/js/elements.js";
import { canRecord } from "./film.js";

const STEPS = 400;
const SECONDS = 60; // of the growth from first to last
const DAY = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

/** @import { Film } from "./film.js" */
/** @import { Points } from "./view.js" */

export class Timeline {
  until = Infinity; // UNIX seconds, as these two:
  first = Infinity;
  last = -Infinity;
  playing = 0; // the request for the next frame

  /** @type {Film | null} of the growth that is played */
  film = null;

  /**
   * @param {() => void} moved is called when another moment is chosen
   * @param {() => Film} record begins a film of the map
   */
  constructor(moved, record) {
    this.moved = moved;
    this.record = record;
    this.range = el("input", {
      type: "range",
      min: "0",
      max: String(STEPS),
      value: String(STEPS),
      "aria-label": "Coins in the library until",
    });
    this.range.addEventListener("input", () => {
      this.pause();
      this.turn();
    });
    this.button = button("", "▶", () => this.toggle(), { "aria-label": "Play how the library grew" });
    this.save = button("", "Save video", () => this.toggleFilm(), { title: "Record the growth, one minute" });
    this.save.hidden = !canRecord();
    this.output = el("output");
    this.root = el("div", { class: "time", hidden: true }, this.button, this.range, this.output, this.save);
  }

  /**
   * Takes the times at which the coins came into the library, by row, of which those with a position exist.
   *
   * @param {Uint32Array} times
   * @param {Points["x"]} x
   */
  span(times, x) {
    let [first, last] = [Infinity, -Infinity];
    for (let row = 0; row < times.length; row += 1) {
      if (Number.isNaN(x[row]) || !times[row]) continue;
      first = Math.min(first, times[row]);
      last = Math.max(last, times[row]);
    }
    Object.assign(this, { first, last });
    this.root.hidden = !(last > first);
    this.turn(false);
  }

  turn(tell = true) {
    const at = Number(this.range.value);
    this.until = at >= STEPS ? Infinity : this.first + ((this.last - this.first) * at) / STEPS;
    this.output.textContent = this.root.hidden
      ? ""
      : at >= STEPS
        ? "all days"
        : `until ${DAY.format(new Date(this.until * 1000))}`;
    this.range.setAttribute("aria-valuetext", this.output.textContent);
    if (tell) this.moved();
  }

  toggle() {
    if (this.playing) return this.pause();
    if (Number(this.range.value) >= STEPS) this.range.value = "0";
    const [from, began] = [Number(this.range.value), performance.now()];
    const step = () => {
      const at = from + ((performance.now() - began) / 1000 / SECONDS) * STEPS;
      this.range.value = String(Math.min(STEPS, at));
      this.turn();
      if (at >= STEPS) this.pause();
      else this.playing = requestAnimationFrame(step);
    };
    this.button.textContent = "❚❚";
    this.playing = requestAnimationFrame(step);
  }

  /** Plays from the beginning and records it, or ends and saves what was recorded. */
  toggleFilm() {
    if (this.film) return this.pause();
    this.pause();
    this.range.value = "0";
    this.turn();
    this.film = this.record();
    this.save.textContent = "Stop and save";
    this.toggle();
  }

  /** Stops to play; a film of it is saved. */
  pause() {
    cancelAnimationFrame(this.playing);
    this.playing = 0;
    this.button.textContent = "▶";
    this.film?.save("memedex-map");
    this.endFilm();
  }

  /** Stops to play, and saves nothing. */
  stop() {
    this.film?.discard();
    this.endFilm();
    this.pause();
  }

  endFilm() {
    this.film = null;
    this.save.textContent = "Save video";
  }
}

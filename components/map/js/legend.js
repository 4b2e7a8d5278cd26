// What the colours mean; a click on one hides its coins, or shows them again.

import { button } from "../../grid/js/dom.js";
import { activeIn, el } from "../../shell/js/elements.js";
import { ramp } from "./colours.js";

/** @typedef {{title: string, legend: {label: string, colour: string}[], range: string[]}} Colours and a range's ends */

export class Legend {
  /** @type {Set<number>} numbers of colours */
  hidden = new Set();
  root = el("div", { class: "legend", role: "group" });
  /** @type {Colours | null} */
  shown = null;

  /** @param {() => void} changed is called when colours are hidden or shown */
  constructor(changed) {
    this.changed = changed;
  }

  /** @param {Colours} colours */
  show(colours) {
    const { title, legend, range } = colours;
    if (this.shown?.title !== title) this.hidden.clear(); // other colours
    this.shown = colours;
    this.root.setAttribute("aria-label", title);
    const named = legend.map(({ label, colour }, number) => ({ label, colour, number })).filter(({ label }) => label);
    const numbers = named.map(({ number }) => number);
    /** @type {HTMLElement[]} */
    const rows = named.map(({ label, colour, number }) => {
      const dot = el("i");
      dot.style.background = colour;
      if (named.length < 2) return el("div", {}, dot, label);
      const row = button("", dot, (event) => this.toggle(number, event.altKey, numbers), {
        "aria-pressed": String(!this.hidden.has(number)),
        title: "Hide or show; with alt, show these alone",
      });
      row.append(label);
      return row;
    });
    if (range.length) {
      const strip = el("div", { class: "ramp" });
      const colours = [0, 0.33, 0.66, 1].map((part) => `rgb(${ramp(part)})`);
      strip.style.background = `linear-gradient(90deg, ${colours.join(",")})`;
      rows.push(strip, el("div", { class: "ends" }, ...range.map((end) => el("span", {}, end))));
    }
    const focused = [...this.root.children].findIndex((row) => row === activeIn(row));
    const shown = [el("div", { class: "title" }, title), ...rows];
    this.root.replaceChildren(...shown);
    if (focused > 0) shown[focused]?.focus();
  }

  /** @param {number} number @param {boolean} alone @param {number[]} numbers */
  toggle(number, alone, numbers) {
    if (alone) this.hidden = new Set(numbers.filter((one) => one !== number));
    else if (!this.hidden.delete(number)) this.hidden.add(number);
    if (this.hidden.size === numbers.length) this.hidden.clear();
    if (this.shown) this.show(this.shown);
    this.changed();
  }
}

// What the colours mean; a click on one hides its coins, or shows them again.

import { el } from "../../shell/js/elements.js";
import { ramp } from "./colours.js";

export class Legend {
  /** `changed()` is called when colours are hidden or shown. */
  constructor(changed) {
    this.changed = changed;
    this.hidden = new Set(); // numbers of colours
    this.root = el("div", { class: "legend", role: "group" });
  }

  show({ title, legend, range }) {
    if (this.title !== title) this.hidden.clear(); // other colours
    this.title = title;
    this.root.setAttribute("aria-label", title);
    const named = legend.map(({ label, colour }, number) => ({ label, colour, number })).filter(({ label }) => label);
    const rows = named.map(({ label, colour, number }) => {
      const dot = el("i");
      dot.style.background = colour;
      if (named.length < 2) return el("div", {}, dot, label);
      const pressed = String(!this.hidden.has(number));
      return el(
        "button",
        {
          type: "button",
          "aria-pressed": pressed,
          title: "Hide or show; with alt, show these alone",
          onclick: (event) => this.toggle(number, event.altKey, named),
        },
        dot,
        label,
      );
    });
    if (range.length) {
      const strip = el("div", { class: "ramp" });
      const colours = [0, 0.33, 0.66, 1].map((part) => `rgb(${ramp(part)})`);
      strip.style.background = `linear-gradient(90deg, ${colours.join(",")})`;
      rows.push(strip, el("div", { class: "ends" }, ...range.map((end) => el("span", {}, end))));
    }
    const focused = [...this.root.children].indexOf(this.root.getRootNode().activeElement);
    this.root.replaceChildren(el("div", { class: "title" }, title), ...rows);
    this.data = { title, legend, range };
    if (focused > 0) this.root.children[focused]?.focus();
  }

  toggle(number, alone, named) {
    if (alone) this.hidden = new Set(named.map((one) => one.number).filter((one) => one !== number));
    else if (!this.hidden.delete(number)) this.hidden.add(number);
    if (this.hidden.size === named.length) this.hidden.clear();
    this.show(this.data);
    this.changed();
  }
}

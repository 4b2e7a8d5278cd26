// Five weights and their presets. Dragging ranks anew in the page; the server hears of it when the hand rests.

import { el, setText } from "./dom.js";
import { FACET_NAMES } from "./bars.js";
import { Calibration } from "./calibration.js";

const REST = 400; // ms without movement
const PRESETS = [
  ["Reference", { image: 0, entity: 4, context: 3, visual: 2, emotions: 1 }, "4 / 3 / 2 / 1 for the captions"],
  ["Looks", { image: 3, entity: 1, context: 0, visual: 4, emotions: 0 }, "how it looks"],
  ["Meaning", { image: 0, entity: 2, context: 4, visual: 0, emotions: 1 }, "what it means"],
  ["Mood", { image: 0, entity: 0, context: 1, visual: 1, emotions: 4 }, "how it feels"],
  ["Picture only", { image: 4, entity: 0, context: 0, visual: 0, emotions: 0 }, "the picture alone"],
];
const MEANINGS = { image: "the picture itself", entity: "what is in it", context: "what it means", visual: "how it looks", emotions: "how it feels" };

export class Sliders {
  constructor(ranking) {
    this.ranking = ranking;
    this.rows = FACET_NAMES.map((name) => this.row(name));
    this.presets = PRESETS.map(([label, weights, title]) => ({ weights, button: el("button", { type: "button", title, onclick: () => this.set(weights) }, label) }));
    this.presetRow = el("div", { class: "presets", role: "group", "aria-label": "Presets" }, ...this.presets.map(({ button }) => button));
    this.note = el("p", { class: "note" });
    this.calibration = new Calibration(ranking);
    this.node = el(
      "section",
      { class: "sliders", "aria-label": "Weights" },
      el("div", { class: "settings" }, this.presetRow, this.calibration.node),
      el("div", { class: "rows" }, ...this.rows.map(({ node }) => node)),
      this.note,
    );
  }

  row(name) {
    const input = el("input", { type: "range", min: "0", max: "10", step: "0.1", "aria-label": `Weight of ${name}`, title: MEANINGS[name] });
    const value = el("output", {});
    const share = el("span", { class: "share" });
    input.addEventListener("input", () => this.moved());
    // What counts as one movement for ▲▼ begins when the hand takes hold.
    input.addEventListener("pointerdown", () => this.ranking.holdPlaces());
    return { name, input, value, share, node: el("label", { class: `row ${name}` }, el("span", { class: "label" }, el("i", { class: `dot ${name}` }), name), input, value, share) };
  }

  /** Presets that people saved under a name, beside the built-in ones. */
  offer(saved) {
    const made = JSON.stringify(saved ?? {});
    if (this.made === made) return;
    this.made = made;
    const own = Object.entries(saved ?? {}).map(([label, weights]) => ({ weights, button: el("button", { type: "button", class: "own", onclick: () => this.set(weights) }, label) }));
    this.presets = [...this.presets.slice(0, PRESETS.length), ...own];
    this.presetRow.replaceChildren(...this.presets.map(({ button }) => button));
  }

  get weights() {
    return Object.fromEntries(this.rows.map(({ name, input }) => [name, Number(input.value)]));
  }

  set(weights) {
    this.ranking.holdPlaces();
    this.put(weights);
    this.moved();
  }

  /** Takes the server's weights, unless a hand is on the sliders or its last movement is still to be sent. */
  take(weights) {
    if (!this.timer) this.put(weights);
    this.paint();
  }

  put(weights) {
    for (const { name, input } of this.rows) input.value = String(weights[name] ?? 0);
  }

  moved() {
    this.paint();
    this.ranking.again();
    this.restSoon();
  }

  restSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = null;
      this.ranking.rest();
    }, REST);
  }

  paint() {
    const weights = this.weights;
    const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
    for (const { name, input, value, share, node } of this.rows) {
      const weight = weights[name];
      setText(value, String(weight));
      setText(share, total ? `${Math.round((weight / total) * 100)} %` : "");
      input.style.setProperty("--filled", `${weight * 10}%`);
      node.classList.toggle("off", !weight);
    }
    for (const preset of this.presets) {
      const same = FACET_NAMES.every((name) => preset.weights[name] === weights[name]);
      preset.button.setAttribute("aria-pressed", String(same));
    }
    setText(this.note, total ? "" : "All weights are zero: nothing is searched. Give at least one facet a weight.");
  }

  stop() {
    clearTimeout(this.timer);
  }
}

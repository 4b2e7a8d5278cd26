// A strip of five weights, its presets in a menu. Dragging re-ranks in the page; the server is notified when the
// slider rests.

import { el, setText } from "../../shell/js/elements.js";
import { FACET_NAMES } from "./bars.js";
import { Calibration } from "./calibration.js";
import { placeBelow } from "./reasons.js";
import { WordSwitch } from "./word_switch.js";

const REST = 400; // ms without movement
const MEANINGS = {
  image: "the picture itself",
  entity: "what is in it",
  context: "what it means",
  visual: "how it looks",
  emotions: "how it feels",
};

export class Sliders {
  constructor(ranking) {
    this.ranking = ranking;
    this.rows = FACET_NAMES.map((name) => this.row(name));
    this.presets = [];
    this.presetRow = el("div", { class: "presets", role: "group", "aria-label": "Presets" });
    this.note = el("p", { class: "note" });
    this.calibration = new Calibration(ranking);
    this.words = new WordSwitch(ranking);
    this.usual = null;
    this.movedFor = null; // the query for which the user moved them here
    this.back = el("button", { type: "button", class: "tool", onclick: () => this.set(this.usual) }, "Usual weights");
    this.own = el(
      "p",
      { class: "own-weights", role: "status", hidden: true },
      el("span", {}, "Weights from an earlier query, or from the link: not the usual ones."),
      " ",
      this.back,
    );
    this.menu = el("div", { class: "menu settings", popover: "auto" }, this.presetRow, this.calibration.node);
    this.chosen = el("span", {});
    this.opener = el(
      "button",
      { type: "button", class: "verb weights", title: "Other weights, and the scale of the scores" },
      this.chosen,
      el("span", { "aria-hidden": "true" }, "▾"),
    );
    this.opener.popoverTargetElement = this.menu;
    this.menu.addEventListener("beforetoggle", () => placeBelow(this.menu, this.opener));
    this.node = el(
      "section",
      { class: "sliders", "aria-label": "Weights" },
      this.opener,
      el("div", { class: "rows" }, ...this.rows.map(({ node }) => node)),
      this.words.node,
      this.menu,
      this.note,
      this.own,
    );
  }

  row(name) {
    const input = el("input", {
      type: "range",
      min: "0",
      max: "10",
      step: "0.1",
      "aria-label": `Weight of ${name}`,
      title: MEANINGS[name],
    });
    const value = el("output", {});
    const share = el("span", { class: "share" });
    input.addEventListener("input", () => this.moved());
    // One movement for ▲▼ starts when a slider is grabbed.
    input.addEventListener("pointerdown", () => this.ranking.holdPlaces());
    return {
      name,
      input,
      value,
      share,
      node: el(
        "label",
        { class: `row ${name}` },
        el("span", { class: "label" }, el("i", { class: `dot ${name}` }), name),
        input,
        value,
        share,
      ),
    };
  }

  /** Presets by name: the built-in ones with an explanation, and saved ones. */
  offer(presets) {
    const made = JSON.stringify(presets);
    if (this.made === made) return;
    this.made = made;
    this.presets = presets.map(([label, weights, title]) => ({
      label,
      weights,
      button: el(
        "button",
        { type: "button", class: title ? null : "own", title: title || null, onclick: () => this.choose(weights) },
        label,
      ),
    }));
    this.presetRow.replaceChildren(...this.presets.map(({ button }) => button));
  }

  choose(weights) {
    this.menu.hidePopover();
    this.set(weights);
  }

  get weights() {
    return Object.fromEntries(this.rows.map(({ name, input }) => [name, Number(input.value)]));
  }

  set(weights) {
    this.ranking.holdPlaces();
    this.put(weights);
    this.moved();
  }

  /** Takes the server's weights, unless a slider is being moved or its last value is still to be sent. */
  take(weights, usual = null) {
    this.usual = usual;
    if (!this.timer) this.put(weights);
    this.paint();
  }

  put(weights) {
    for (const { name, input } of this.rows) input.value = String(weights[name] ?? 0);
  }

  moved() {
    this.movedFor = this.ranking.query;
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
    const isSame = (preset) => FACET_NAMES.every((name) => preset.weights[name] === weights[name]);
    for (const preset of this.presets) preset.button.setAttribute("aria-pressed", String(isSame(preset)));
    setText(this.chosen, this.presets.find(isSame)?.label ?? "Own weights");
    this.own.hidden = !isCarried(weights, { usual: this.usual, query: this.ranking.query, movedFor: this.movedFor });
    setText(this.note, total ? "" : "All weights are zero: nothing is searched. Give at least one facet a weight.");
  }

  stop() {
    clearTimeout(this.timer);
  }
}

/** Whether weights are neither the usual ones nor moved for this query: that deserves a sign. */
export function isCarried(weights, { usual, query, movedFor }) {
  return Boolean(usual) && movedFor !== query && FACET_NAMES.some((name) => weights[name] !== usual[name]);
}

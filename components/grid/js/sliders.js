// A strip of five weights; its presets and the scale of the scores in a menu. Dragging re-ranks in the page; the server
// is notified when the slider rests.

import { el, setAttribute, setText } from "../../shell/js/elements.js";
import { changesOf, FACET_NAMES, RAW, rank } from "./rank.js";
import { menuOf } from "./tools.js";

/** @import { Weights } from "./rank.js" */
/** @import { FacetWeights, Preset, Ranking } from "./ranking.js" */

const REST = 400; // ms without movement
/** @type {Record<string, string>} */
const MEANINGS = {
  image: "the picture itself",
  entity: "what is in it",
  context: "what it means",
  visual: "how it looks",
  emotions: "how it feels",
};

const SCALES = {
  raw: "Raw: cosines as they are; texts lie closer to texts than to pictures.",
  calibrated: "All five on one scale: equal weights have equal say.",
};

export class Sliders {
  /** @type {{label: string, weights: FacetWeights, button: HTMLButtonElement}[]} */
  presets = [];
  offered = "";
  /** @type {FacetWeights | null} */
  usual = null;
  /** @type {string | null} the query for which the user moved them here */
  movedFor = null;
  timer = 0;

  /** @param {Ranking} ranking */
  constructor(ranking) {
    this.ranking = ranking;
    this.rows = FACET_NAMES.map((name) => this.row(name));
    this.presetRow = el("div", { class: "presets", role: "group", "aria-label": "Presets" });
    this.note = el("p", { class: "note" });
    this.scale = el("input", { type: "checkbox", onchange: () => ranking.calibrate(this.scale.checked) });
    this.scaleNote = el("span", { class: "told-scale", role: "status" });
    this.scaleSwitch = el("label", { class: "switch" }, this.scale, "Calibrated");
    this.calibration = el("div", { class: "calibration", hidden: true }, this.scaleSwitch, this.scaleNote);
    this.words = el("input", { type: "checkbox", onchange: () => ranking.fuse(this.words.checked) });
    this.wordSwitch = el(
      "label",
      {
        class: "switch",
        hidden: true,
        title: "Coins that have the words themselves, in name, ticker, description, captions or tags, score higher",
      },
      this.words,
      el("i", { class: "dot words" }),
      "Matching words",
    );
    const back = () => this.set(this.usual ?? {});
    this.own = el(
      "p",
      { class: "own-weights", role: "status", hidden: true },
      el("span", {}, "Weights from an earlier query, or from the link: not the usual ones."),
      " ",
      el("button", { type: "button", class: "tool", onclick: back }, "Usual weights"),
    );
    this.chosen = el("span", {});
    this.opener = el(
      "button",
      { type: "button", class: "verb weights", title: "Other weights, and the scale of the scores" },
      this.chosen,
      el("span", { "aria-hidden": "true" }, "▾"),
    );
    // On a phone, which has no room for it beside the cards.
    const fold = el(
      "button",
      {
        type: "button",
        class: "tool fold",
        "aria-expanded": "false",
        onclick: () => setAttribute(fold, "aria-expanded", String(this.node.classList.toggle("unfolded"))),
      },
      "Sliders",
    );
    this.menu = menuOf(this.opener, { class: "menu settings" }, this.presetRow, this.calibration);
    this.node = el(
      "section",
      { class: "sliders", "aria-label": "Weights" },
      this.opener,
      fold,
      el("div", { class: "rows" }, ...this.rows.map(({ node }) => node)),
      this.wordSwitch,
      this.menu,
      this.note,
      this.own,
    );
  }

  /** @param {string} name */
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

  /**
   * Presets by name: the built-in ones with an explanation, and saved ones.
   *
   * @param {Preset[]} presets
   */
  offer(presets) {
    const offered = JSON.stringify(presets);
    if (this.offered === offered) return;
    this.offered = offered;
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

  /** @param {FacetWeights} weights */
  choose(weights) {
    this.menu.hidePopover();
    this.set(weights);
  }

  get weights() {
    return Object.fromEntries(this.rows.map(({ name, input }) => [name, Number(input.value)]));
  }

  /** @param {FacetWeights} weights */
  set(weights) {
    this.ranking.holdPlaces();
    this.put(weights);
    this.moved();
  }

  /**
   * Takes the server's weights, unless a slider is being moved or its last value is still to be sent.
   *
   * @param {FacetWeights} weights
   * @param {FacetWeights | null} usual
   */
  take(weights, usual) {
    this.usual = usual;
    if (!this.timer) this.put(weights);
    this.paint();
  }

  /** @param {FacetWeights} weights */
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
    this.stop();
    this.timer = setTimeout(() => {
      this.timer = 0;
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
    const isSame = (/** @type {{weights: FacetWeights}} */ preset) =>
      FACET_NAMES.every((name) => preset.weights[name] === weights[name]);
    for (const preset of this.presets) preset.button.setAttribute("aria-pressed", String(isSame(preset)));
    setText(this.chosen, this.presets.find(isSame)?.label ?? "Own weights");
    this.own.hidden = !isCarried(weights, { usual: this.usual, query: this.ranking.query, movedFor: this.movedFor });
    setText(this.note, total ? "" : "All weights are zero: nothing is searched. Give one of the five a weight.");
  }

  /** Shows the scale of the scores and what it changes; this ranks twice, so not while a slider moves. */
  showScale() {
    const { calibrated, similarities, data } = this.ranking;
    this.calibration.hidden = !data.calibrated && !data.uncalibrated;
    this.scaleSwitch.hidden = !data.calibrated;
    if (data.uncalibrated) setText(this.scaleNote, data.uncalibrated);
    if (!data.calibrated || !similarities) return;
    this.scale.checked = calibrated;
    if (!calibrated) return setText(this.scaleNote, SCALES.raw);
    const [raw, now] = [RAW, data.calibrated].map((scale) =>
      rank(similarities, this.weights, data.top, scale).list.map(({ row }) => row),
    );
    const { moved, came } = changesOf(new Map(raw.map((row, at) => [row, at])), now);
    const changes =
      moved || came
        ? `Compared with raw: ${moved.toLocaleString("en")} changed rank, ${came.toLocaleString("en")} new.`
        : "No change in these results.";
    setText(this.scaleNote, `${SCALES.calibrated} ${changes}`);
  }

  /** Shows whether matching words count besides meaning, unless no coin has any of the words. */
  showWords() {
    const { fused } = this.ranking;
    this.wordSwitch.hidden = fused === null;
    this.words.checked = Boolean(fused);
  }

  stop() {
    clearTimeout(this.timer);
  }
}

/**
 * Whether weights are neither the usual ones nor moved for this query: that deserves a sign.
 *
 * @param {Weights} weights
 * @param {{usual: FacetWeights | null, query: string, movedFor: string | null}} asked
 */
export function isCarried(weights, { usual, query, movedFor }) {
  return usual !== null && movedFor !== query && FACET_NAMES.some((name) => weights[name] !== usual[name]);
}

// Raw or calibrated: the switch, a one-sentence explanation, and its effect at the current weights.

import { el, setText } from "../../shell/js/elements.js";
import { RAW, rank } from "./rank.js";

const MEANING = {
  raw: "Raw: cosines as they are; texts lie closer to texts than to pictures.",
  calibrated: "All facets on one scale: equal weights have equal say.",
};

export class Calibration {
  constructor(ranking) {
    this.ranking = ranking;
    this.input = el("input", { type: "checkbox", onchange: () => ranking.calibrate(this.input.checked) });
    this.note = el("span", { class: "told-scale", role: "status" });
    this.label = el("label", { class: "switch" }, this.input, "Calibrated");
    this.node = el("div", { class: "calibration", hidden: true }, this.label, this.note);
  }

  /** Updates the display; ranks twice, so not while a slider moves. */
  show() {
    const { ranking } = this;
    const { calibrated: scale, uncalibrated } = ranking.grid.data?.ranking ?? {};
    this.node.hidden = !scale && !uncalibrated;
    this.label.hidden = !scale;
    if (uncalibrated) setText(this.note, uncalibrated);
    if (!scale || !ranking.similarities) return;
    this.input.checked = Boolean(ranking.calibrated);
    setText(this.note, ranking.calibrated ? `${MEANING.calibrated} ${this.changed(scale)}` : MEANING.raw);
  }

  changed(scale) {
    const { similarities, weights, grid } = this.ranking;
    const [raw, calibrated] = [RAW, scale].map((one) =>
      rank(similarities, weights, grid.data.ranking.top, one).list.map(({ row }) => row),
    );
    const was = new Map(raw.map((row, at) => [row, at]));
    const came = calibrated.filter((row) => !was.has(row)).length;
    const moved = calibrated.filter((row, at) => was.has(row) && was.get(row) !== at).length;
    return moved || came
      ? `Compared with raw: ${moved.toLocaleString("en")} changed rank, ${came.toLocaleString("en")} new.`
      : "No change in these results.";
  }
}

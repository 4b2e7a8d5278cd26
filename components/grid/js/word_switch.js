// Whether matching words count besides meaning; one click leaves only the weighted cosines.

import { el } from "../../shell/js/elements.js";

export class WordSwitch {
  constructor(ranking) {
    this.ranking = ranking;
    this.input = el("input", { type: "checkbox", onchange: () => ranking.fuse(this.input.checked) });
    this.node = el(
      "label",
      {
        class: "switch",
        hidden: true,
        title: "Coins that have the words themselves, in name, ticker, description, captions or tags, score higher",
      },
      this.input,
      el("i", { class: "dot words" }),
      "Matching words",
    );
  }

  /** Hidden if no coin has any of the words. */
  show() {
    const { fused } = this.ranking;
    this.node.hidden = fused === null;
    this.input.checked = Boolean(fused);
  }
}

// How results are looked at: as cards, as a table, or two settings side by side; raw or calibrated.

import { el } from "./dom.js";
import { ResultTable } from "./table.js";
import { Versus } from "./versus.js";
import { explainOrder, whyDialog } from "./why.js";

export class Views {
  constructor(ranking) {
    this.ranking = ranking;
    this.table = new ResultTable(ranking);
    this.versus = new Versus(ranking);
    this.why = whyDialog();
    this.view = "cards";
    this.buttons = [["cards", "Cards"], ["table", "Table"], ["versus", "Compare"]].map(([view, label]) => el("button", { type: "button", "data-view": view, onclick: () => this.choose(view) }, label));
    this.found = el("span", { class: "found", role: "status" });
    this.ask = el("button", { type: "button", class: "tool", title: "The two selected results, or the one under the cursor and its neighbour (y)", onclick: () => this.askWhy() }, "Why this order?", el("kbd", {}, "y"));
    this.csv = el("button", { type: "button", class: "tool", hidden: true, onclick: () => this.table.download() }, "Download CSV");
    this.calibrated = el("input", { type: "checkbox", onchange: () => ranking.calibrate(this.calibrated.checked) });
    this.calibration = el("label", { class: "switch", title: "Raw: cosines as they are. Calibrated: each facet's cosines brought to one scale, by fixed figures of this library, so that equal weights are equal say." }, this.calibrated, "Calibrated");
    this.node = el("div", { class: "views" }, el("span", { class: "sizes", role: "group", "aria-label": "View" }, ...this.buttons), this.found, el("span", { class: "right" }, this.calibration, this.ask, this.csv), this.why);
    this.choose("cards");
  }

  choose(view) {
    const { grid } = this.ranking;
    this.view = view;
    if (view === "versus") this.versus.pin();
    for (const button of this.buttons) button.setAttribute("aria-pressed", String(button.dataset.view === view));
    this.table.node.hidden = view !== "table";
    this.versus.node.hidden = view !== "versus";
    this.csv.hidden = view !== "table";
    if (grid.frame) grid.frame.hidden = view !== "cards";
    this.show();
  }

  show() {
    const { scores, grid } = this.ranking;
    this.table.show();
    this.versus.show();
    if (!scores) return;
    const hits = scores.list.length;
    this.found.textContent = !hits ? "" : scores.drop ? `${scores.drop} stand out; then relevance drops` : "No clear drop in relevance";
    this.ask.disabled = hits < 2;
    const offered = grid.data?.ranking.calibrated;
    this.calibration.hidden = !offered;
    this.calibrated.checked = Boolean(this.ranking.calibrated);
  }

  /** The two results selected; else the one under the cursor, and the one above it (below the first). */
  askWhy() {
    const results = this.ranking.results().map((result, at) => ({ ...result, place: at + 1 }));
    const { model } = this.ranking.grid;
    const chosen = results.filter(({ card }) => model.isChosen(card.address));
    const at = Math.max(0, results.findIndex(({ card }) => card.address === model.cursor));
    const two = chosen.length >= 2 ? chosen.slice(0, 2) : [results[at ? at - 1 : 0], results[at || 1]];
    if (!two[0] || !two[1]) return false;
    explainOrder(this.why, two);
    this.why.showModal();
    return true;
  }
}

// The views of the results: cards, a table, or two settings side by side.

import { el, setAttribute, setText } from "../../shell/js/elements.js";
import { ResultTable } from "./table.js";
import { Versus } from "./versus.js";
import { explainOrder, whyDialog } from "./why.js";

export class Views {
  constructor(ranking) {
    this.ranking = ranking;
    this.table = new ResultTable(ranking);
    this.versus = new Versus(ranking);
    this.why = whyDialog();
    this.buttons = [
      ["cards", "Cards"],
      ["table", "Table"],
      ["versus", "Compare"],
      ["map", "Map"],
    ].map(([view, label]) =>
      el("button", { type: "button", "data-view": view, onclick: () => this.turnTo(view) }, label),
    );
    this.found = el("span", { role: "status" });
    this.ask = el(
      "button",
      { type: "button", class: "tool", onclick: () => this.askWhy() },
      "Why this order?",
      el("kbd"),
    );
    this.csv = el(
      "button",
      { type: "button", class: "tool", hidden: true, onclick: () => this.table.download() },
      "Download CSV",
    );
    this.switch = el("span", { class: "sizes", role: "group", "aria-label": "View" }, ...this.buttons);
    ranking.grid.tools.join([this.switch, this.csv], [this.ask]);
    ranking.sliders.node.append(el("span", { class: "found" }, this.found), this.why);
  }

  /** Switches the view and notifies the server: the map is a separate component. */
  turnTo(view) {
    this.isChosen = true;
    if (view === "versus") this.versus.pin();
    this.choose(view);
    this.ranking.grid.tell("view", view);
  }

  /** Uses the view from the link until the user chooses one. */
  take(view, held) {
    if (this.isChosen || view === this.view) return;
    if (held) this.versus.hold(held);
    this.choose(view);
  }

  get hasCards() {
    return this.view === "cards" || this.view === "table";
  }

  choose(view) {
    const { grid } = this.ranking;
    this.view = view;
    for (const button of this.buttons) button.setAttribute("aria-pressed", String(button.dataset.view === view));
    this.table.node.hidden = view !== "table";
    this.versus.node.hidden = view !== "versus";
    this.csv.hidden = view !== "table";
    this.ask.hidden = !this.hasCards;
    grid.frame.hidden = view !== "cards";
    grid.tools.rest(!this.hasCards); // no actions on coins that are not visible
    this.show();
  }

  show() {
    const { scores } = this.ranking;
    this.table.show();
    this.versus.show();
    const key = this.ranking.grid.keyMap.label("y");
    setText(this.ask.lastChild, key);
    setAttribute(this.ask, "title", `The two selected results, or the one under the cursor and its neighbour (${key})`);
    if (!scores) return;
    const hits = scores.list.length;
    setText(this.found, hits ? changes(scores) : "");
    this.found.title = this.found.textContent;
    this.ask.disabled = hits < 2;
  }

  /** The two results selected; else the one under the cursor, and the one above it (below the first). */
  askWhy() {
    const results = this.ranking.results().map((result, at) => ({ ...result, place: at + 1 }));
    const { model } = this.ranking.grid;
    const chosen = results.filter(({ card }) => model.isChosen(card.address));
    const at = Math.max(
      0,
      results.findIndex(({ card }) => card.address === model.cursor),
    );
    const two = chosen.length >= 2 ? chosen.slice(0, 2) : [results[at ? at - 1 : 0], results[at || 1]];
    if (!two[0] || !two[1]) return false;
    explainOrder(this.why, two);
    this.why.showModal();
    return true;
  }
}

/** The effect of the last movement: results with another rank, and new results. */
function changes({ list, before }) {
  if (!before?.size) return "";
  const came = list.filter(({ row }) => !before.has(row)).length;
  const moved = list.filter(({ row }, at) => before.has(row) && before.get(row) !== at).length;
  return moved || came ? `${moved.toLocaleString("en")} changed rank, ${came.toLocaleString("en")} new` : "no change";
}

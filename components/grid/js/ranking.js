// Search results: the server's similarities ranked here, and the cards it has sent for them.

import { el } from "./dom.js";
import { FACET_NAMES, listenToBars } from "./bars.js";
import { rank } from "./rank.js";
import { Sliders } from "./sliders.js";

export class Ranking {
  constructor(grid) {
    this.grid = grid;
    this.node = el("div", {});
    this.pool = new Map(); // row → card, of this query
  }

  /** A query's similarities, weights and cards. */
  take({ ranking, cards, similarities }) {
    const { grid } = this;
    if (!this.sliders) {
      listenToBars(grid);
      this.sliders = new Sliders(this);
      this.node.replaceChildren(this.sliders.node);
    }
    if (this.query !== ranking.query) {
      this.pool.clear();
      this.similarities = null;
      this.places = null;
    }
    this.query = ranking.query;
    if (similarities) this.similarities = { columns: FACET_NAMES.map((name) => floats(similarities.getChild(name))), means: ranking.means.map((mean) => mean ?? NaN) };
    // A page that came back without its similarities says so once; the server then sends them again.
    if (!this.similarities && this.knows !== "") grid.tell("knows", (this.knows = ""));
    else if (similarities) grid.tell("knows", (this.knows = ranking.query));
    for (const card of cards) this.pool.set(card.row, card);
    this.sliders.take(ranking.weights);
  }

  get weights() {
    return this.sliders?.weights;
  }

  rank() {
    if (!this.similarities) return;
    const { model, data } = this.grid;
    const { list } = rank(this.similarities, this.weights, data.ranking.top + (model.hidden?.size ?? 0));
    this.scores = { list, top: list[0]?.score ?? 0, before: this.places };
    model.take(list.map((hit) => this.cardOf(hit)));
  }

  cardOf({ row }) {
    return this.pool.get(row) ?? blank(row);
  }

  /** The hits of the cards now seen, in their order; null where nothing is ranked. */
  scoresOfVisible() {
    if (!this.scores) return null;
    const byAddress = new Map(this.scores.list.map((hit) => [this.cardOf(hit).address, hit]));
    return { ...this.scores, list: this.grid.model.visible.map((address) => byAddress.get(address)) };
  }

  /** Remembers where each result is now, for the ▲▼ of the next movement. */
  holdPlaces() {
    this.places = new Map((this.scores?.list ?? []).map((hit, index) => [hit.row, index]));
  }

  /** The weights were moved: everything in its new place at once. */
  again() {
    this.grid.cards.changedAt = 0;
    this.grid.paint();
  }

  tellWeights() {
    this.grid.tell("weights", this.weights);
  }

  stop() {
    this.sliders?.stop();
  }
}

const blanks = new Map();

/** The place of a result whose card the server has not sent yet. */
function blank(row) {
  if (!blanks.has(row)) blanks.set(row, { address: `row-${row}`, row, name: "…", ticker: "", created_at: 0, tags: [], picture: "", blank: true, facets: true });
  return blanks.get(row);
}

/** An Arrow column as floats, NaN where the record lacks the facet. */
function floats(column) {
  const values = new Float32Array(column.length);
  for (let row = 0; row < column.length; row++) values[row] = column.get(row) ?? NaN;
  return values;
}

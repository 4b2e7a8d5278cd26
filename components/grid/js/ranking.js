// Search results: the server's similarities ranked here, and the cards it has sent for them.

import { el } from "../../shell/js/elements.js";
import { FACET_NAMES, listenToBars } from "./bars.js";
import { DeferredCards } from "./deferred_cards.js";
import { Places } from "./places.js";
import { RAW, rank } from "./rank.js";
import { Sliders } from "./sliders.js";
import { Views } from "./views.js";

export class Ranking {
  constructor(grid) {
    this.grid = grid;
    this.node = el("div", {});
    this.pool = new Map(); // row → card, of this query
    this.late = new DeferredCards({
      request: () => ({ server: grid.data.server, query: this.query }),
      came: (cards) => this.fill(cards),
    });
  }

  /** A query's similarities, weights and cards. */
  take({ ranking, cards, similarities }) {
    const { grid } = this;
    if (!this.sliders) {
      listenToBars(grid);
      this.sliders = new Sliders(this);
      this.views = new Views(this);
      this.node.replaceChildren(this.sliders.node);
      grid.root.dataset.ranked = "";
      grid.frame.after(this.views.table.node, this.views.versus.node);
    }
    if (this.query !== ranking.query) {
      this.pool.clear();
      this.similarities = null;
      this.places = null;
    }
    this.query = ranking.query;
    if (!this.sliders.timer) {
      this.calibrated = ranking.calibrate;
      this.countWords(ranking.fused);
    }
    if (similarities) {
      const groups = similarities.getChild("group");
      const words = ranking.words && {
        ...ranking.words,
        fused: this.isFused,
        shares: floats(similarities.getChild("words")),
      };
      this.similarities = {
        columns: FACET_NAMES.map((name) => floats(similarities.getChild(name))),
        means: ranking.means.map((mean) => mean ?? NaN),
        groups: groups && floats(groups),
        words,
        pictures: ranking.pictures && { ...ranking.pictures, silent: floats(similarities.getChild("silent")) },
        pinned: ranking.pinned ?? [],
      };
      this.alone = new Places(this.similarities);
    }
    // A restored page has none, nor has one whose run was interrupted before they were sent.
    if (!this.similarities) grid.tell("requested", Date.now());
    this.keep(cards);
    this.sliders.offer(ranking.presets);
    this.sliders.take(ranking.weights, ranking.usual);
    this.sliders.calibration.show();
    this.sliders.words.show();
    this.views.take(ranking.view, ranking.held);
  }

  /** The scale of the cosines: raw, or calibrated for the library. */
  get scale() {
    return (this.calibrated && this.grid.data.ranking.calibrated) || RAW;
  }

  calibrate(on) {
    this.holdPlaces();
    this.calibrated = on;
    this.again();
    this.sliders.calibration.show();
    this.sliders.restSoon();
  }

  /** Whether the words of the query count; null if no record has any. */
  get fused() {
    return this.similarities?.words ? this.isFused : null;
  }

  countWords(on) {
    this.isFused = Boolean(on);
    if (this.similarities?.words) this.similarities.words.fused = this.isFused;
  }

  fuse(on) {
    this.holdPlaces();
    this.countWords(on);
    this.again();
    this.sliders.restSoon();
  }

  get weights() {
    return this.sliders?.weights;
  }

  rank() {
    if (!this.similarities) return;
    const { model, data } = this.grid;
    const { list } = rank(this.similarities, this.weights, data.ranking.top + (model.hidden?.size ?? 0), this.scale);
    this.scores = {
      list,
      top: mostGiven(list),
      before: this.places,
      disagreement: (row) => this.alone.disagreement(row),
    };
    model.isRanked = true;
    model.take(list.map((hit) => this.cardOf(hit)));
  }

  /** The card of a result; a blank one is shown and the card requested if the server has not sent it yet. */
  cardOf({ row }) {
    const card = this.pool.get(row);
    if (!card) this.late.want(row);
    return card ?? blank(row);
  }

  /** Fills blank cards with the received ones, keeping the cursor. */
  keep(cards) {
    const { model } = this.grid;
    for (const card of cards) {
      if (model.cursor === blankAddress(card.row)) model.moveTo(card.address);
      this.pool.set(card.row, card);
    }
  }

  fill(cards) {
    this.keep(cards);
    if (this.sliders.timer) this.again();
    else this.grid.paint({ glide: false });
  }

  /** The current results with their cards. */
  results() {
    const seen = this.scoresOfVisible();
    return this.grid.model.visible.map((address, at) => ({ card: this.grid.model.card(address), hit: seen.list[at] }));
  }

  /** The hits of the visible cards, in order; null if nothing is ranked. */
  scoresOfVisible() {
    if (!this.scores) return null;
    const byAddress = new Map(this.scores.list.map((hit) => [this.cardOf(hit).address, hit]));
    return { ...this.scores, list: this.grid.model.visible.map((address) => byAddress.get(address)) };
  }

  /** Remembers the current rank of each result, for the ▲▼ of the next movement. */
  holdPlaces() {
    this.places = new Map((this.scores?.list ?? []).map((hit, index) => [hit.row, index]));
  }

  /** Ranks again after the weights changed. */
  again() {
    const { grid } = this;
    if (grid.frame.hidden) return grid.paint();
    this.rank();
    grid.model.settle(grid.log.news);
    grid.cards.move(grid.model, { scores: this.scoresOfVisible() });
    this.views.show();
    grid.refresh();
  }

  /** The slider rests: the document takes the order that was only drawn. */
  rest() {
    this.grid.paint();
    this.sliders.calibration.show();
    this.tellWeights();
  }

  tellWeights() {
    this.grid.tell("weights", {
      ...this.weights,
      calibrated: Boolean(this.calibrated),
      fused: this.isFused,
      at: Date.now(),
    });
  }

  stop() {
    this.late.stop();
    this.sliders?.stop();
  }
}

/** The largest total of facets and words of one result: a full bar. */
function mostGiven(list) {
  let most = 0;
  for (const { facets, words } of list)
    most = Math.max(
      most,
      facets.reduce((sum, { contribution }) => sum + Math.max(0, contribution), words.contribution),
    );
  return most;
}

const blanks = new Map();

/** A placeholder for a result whose card the server has not sent yet. */
function blank(row) {
  if (!blanks.has(row))
    blanks.set(row, {
      address: blankAddress(row),
      row,
      name: "…",
      ticker: "",
      created_at: 0,
      tags: [],
      picture: "",
      blank: true,
      facets: true,
    });
  return blanks.get(row);
}

function blankAddress(row) {
  return `row-${row}`;
}

/** An Arrow column as floats, NaN if the record lacks the facet. */
function floats(column) {
  const values = new Float32Array(column.length);
  for (let row = 0; row < column.length; row++) values[row] = column.get(row) ?? NaN;
  return values;
}

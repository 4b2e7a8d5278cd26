// Search results: the server's similarities ranked here, and the cards it has sent for them.

import { post } from "../../shell/js/post.js";
import { listenToBars } from "./bars.js";
import { FACET_NAMES, Places, RAW, rank } from "./rank.js";
import { Sliders } from "./sliders.js";
import { Views } from "./views.js";

/** @import { Server } from "../../shell/js/post.js" */
/** @import { Grid, GridData } from "./main.js" */
/** @import { Card } from "./model.js" */
/** @import { Hit, Pictures, Scale, Similarities, Words } from "./rank.js" */
/** @import { Setting, View } from "./views.js" */

/** @typedef {Card & {row: number}} RankedCard */
/** @typedef {Record<string, number>} FacetWeights */
/** @typedef {[name: string, weights: FacetWeights, title: string]} Preset people's own have no title */
/**
 * What the page needs to rank by itself (`_ranking_data` of components/grid/results.py).
 *
 * @typedef {{
 *   query: string,
 *   means: (number | null)[],
 *   deviations: number[],
 *   floor: number | null,
 *   weights: FacetWeights,
 *   usual: FacetWeights | null,
 *   top: number,
 *   presets: Preset[],
 *   calibrated: Scale | null,
 *   uncalibrated: string,
 *   calibrate: boolean,
 *   words: Pick<Words, "strength"> | null,
 *   fused: boolean,
 *   pictures: Omit<Pictures, "silent"> | null,
 *   pinned: number[],
 *   view: View,
 *   held: Setting | null,
 * }} RankingData
 */
/** @typedef {{length: number, get: (row: number) => number | null}} ArrowColumn */
/** @typedef {{getChild: (name: string) => ArrowColumn | null}} ArrowTable */
/**
 * The results in order, the largest total of one, and their places before the last movement, by row.
 *
 * @typedef {{
 *   list: Hit[],
 *   top: number,
 *   before: Map<number, number> | null,
 *   disagreement: (row: number) => string,
 *   barsLater?: boolean,
 * }} Scores
 */

const AT_ONCE = 200;

export class Ranking {
  /** @type {Map<number, RankedCard>} by row, of this query */
  pool = new Map();
  query = "";
  /** @type {Similarities | null} */
  similarities = null;
  /** @type {Places | null} the places by single facets … */
  alone = null;
  /** @type {Map<number, number> | null} … and those of before a movement, by row */
  places = null;
  /** @type {Scores | null} */
  scores = null;
  calibrated = false;
  isFused = false;

  /** @param {Grid} grid @param {RankingData} data */
  constructor(grid, data) {
    this.grid = grid;
    this.data = data;
    this.late = new DeferredCards({
      request: () => ({ server: grid.data.server, query: this.query }),
      came: (cards) => this.fill(cards),
    });
    listenToBars(grid, this);
    this.sliders = new Sliders(this);
    this.views = new Views(this);
    grid.root.dataset.ranked = "";
    grid.root.prepend(this.sliders.node);
    grid.frame.after(this.views.table.node, this.views.versus.node);
  }

  /**
   * A query's similarities, weights and cards.
   *
   * @param {RankingData} ranking
   * @param {GridData} data
   */
  take(ranking, { cards, similarities }) {
    const { grid } = this;
    if (this.query !== ranking.query) {
      this.pool.clear();
      this.similarities = null;
      this.places = null;
    }
    this.data = ranking;
    this.query = ranking.query;
    if (!this.sliders.timer) {
      this.calibrated = ranking.calibrate;
      this.countWords(ranking.fused);
    }
    if (similarities) {
      const floats = (/** @type {string} */ name) => floatsOf(similarities.getChild(name));
      const { deviations, floor, words, pictures, pinned } = ranking;
      this.similarities = {
        columns: FACET_NAMES.map(floats),
        means: ranking.means.map((mean) => mean ?? NaN),
        deviations,
        floor,
        groups: similarities.getChild("group") && floats("group"),
        words: words && { ...words, fused: this.isFused, shares: floats("words") },
        pictures: pictures && { ...pictures, silent: floats("silent") },
        pinned,
      };
      this.alone = new Places(this.similarities);
    }
    // A restored page has none, nor has one whose run was interrupted before they were sent.
    if (!this.similarities) grid.tell("requested", Date.now());
    this.keep(/** @type {RankedCard[]} */ (cards));
    this.sliders.offer(ranking.presets);
    this.sliders.take(ranking.weights, ranking.usual);
    this.sliders.showScale();
    this.sliders.showWords();
    this.views.take(ranking.view, ranking.held);
  }

  /** The scale of the cosines: raw, or calibrated for the library. */
  get scale() {
    return (this.calibrated && this.data.calibrated) || RAW;
  }

  /** @param {boolean} on */
  calibrate(on) {
    this.holdPlaces();
    this.calibrated = on;
    this.again();
    this.sliders.showScale();
    this.sliders.restSoon();
  }

  /** Whether the words of the query count; null if no record has any. */
  get fused() {
    return this.similarities?.words ? this.isFused : null;
  }

  /** @param {boolean} on */
  countWords(on) {
    this.isFused = on;
    if (this.similarities?.words) this.similarities.words.fused = this.isFused;
  }

  /** @param {boolean} on */
  fuse(on) {
    this.holdPlaces();
    this.countWords(on);
    this.again();
    this.sliders.restSoon();
  }

  get weights() {
    return this.sliders.weights;
  }

  rank() {
    const { similarities, alone } = this;
    if (!similarities || !alone) return;
    const { model } = this.grid;
    const { list } = rank(similarities, this.weights, this.data.top + model.hidden.size, this.scale);
    this.scores = {
      list,
      top: mostGiven(list),
      before: this.places,
      disagreement: (row) => alone.disagreement(row),
    };
    model.isRanked = true;
    model.take(list.map((hit) => this.cardOf(hit)));
  }

  /**
   * The card of a result; a blank one is shown and the card requested if the server has not sent it yet.
   *
   * @param {Hit} hit
   */
  cardOf({ row }) {
    const card = this.pool.get(row);
    if (!card) this.late.want(row);
    return card ?? blank(row);
  }

  /**
   * Fills blank cards with the received ones, keeping the cursor.
   *
   * @param {RankedCard[]} cards
   */
  keep(cards) {
    const { model } = this.grid;
    for (const card of cards) {
      if (model.cursor === blankAddress(card.row)) model.moveTo(card.address);
      this.pool.set(card.row, card);
    }
  }

  /** @param {RankedCard[]} cards */
  fill(cards) {
    this.keep(cards);
    if (this.sliders.timer) this.again();
    else this.grid.paint({ glide: false });
  }

  /** The current results with their cards. */
  results() {
    const { list } = this.scoresOfVisible() ?? { list: [] };
    const { shown } = this.grid.model;
    return list.map((hit, at) => ({ card: shown[at], hit, at }));
  }

  /**
   * The hits of the visible cards, in order; null if nothing is ranked.
   *
   * @returns {Scores | null}
   */
  scoresOfVisible() {
    if (!this.scores) return null;
    const byAddress = new Map(this.scores.list.map((hit) => [this.cardOf(hit).address, hit]));
    return { ...this.scores, list: this.grid.model.visible.flatMap((address) => byAddress.get(address) ?? []) };
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
    const scores = this.scoresOfVisible();
    if (scores) grid.cards.move(grid.model, scores);
    this.views.show();
    grid.refresh();
  }

  /** The slider rests: the document takes the order that was only drawn. */
  rest() {
    this.grid.paint();
    this.sliders.showScale();
    this.tellWeights();
  }

  tellWeights() {
    this.grid.tell("weights", {
      ...this.weights,
      calibrated: this.calibrated,
      fused: this.isFused,
      at: Date.now(),
    });
  }

  stop() {
    this.late.stop();
    this.sliders.stop();
  }
}

/**
 * The largest total of facets and words of one result: a full bar.
 *
 * @param {Hit[]} list
 */
export function mostGiven(list) {
  let most = 0;
  for (const { facets, words } of list)
    most = Math.max(
      most,
      facets.reduce((sum, { contribution }) => sum + Math.max(0, contribution), words.contribution),
    );
  return most;
}

/** @type {Map<number, RankedCard>} */
const blanks = new Map();

/**
 * A placeholder for a result whose card the server has not sent yet.
 *
 * @param {number} row
 */
function blank(row) {
  const found = blanks.get(row) ?? {
    address: blankAddress(row),
    row,
    name: "…",
    ticker: "",
    created_at: 0,
    tags: [],
    picture: "",
    large: "",
    blank: true,
    facets: true,
  };
  blanks.set(row, found);
  return found;
}

/** @param {number} row */
function blankAddress(row) {
  return `row-${row}`;
}

/** @param {ArrowColumn | null} column @returns its values, NaN where the record lacks the facet */
function floatsOf(column) {
  return Float32Array.from({ length: column?.length ?? 0 }, (_, row) => column?.get(row) ?? NaN);
}

/** Cards of results that appear while a slider moves: requested independently of the page's runs, in batches. */
class DeferredCards {
  /** @type {Set<number>} rows */
  wanted = new Set();
  /** @type {Set<number>} rows requested before: a missing card is not requested again */
  known = new Set();
  query = "";
  timer = 0;

  /**
   * `request()` gives the server and the query; `came(cards)` receives the answer.
   *
   * @param {{request: () => {server: Server, query: string}, came: (cards: RankedCard[]) => void}} seams
   */
  constructor({ request, came }) {
    this.request = request;
    this.came = came;
  }

  /** @param {number} row */
  want(row) {
    const { query } = this.request();
    if (query !== this.query) {
      this.known.clear();
      this.wanted.clear();
      this.query = query;
    }
    if (this.known.has(row)) return;
    this.wanted.add(row);
    this.timer ||= setTimeout(() => this.fetch());
  }

  async fetch() {
    const { server, query } = this.request();
    const rows = [...this.wanted].slice(-AT_ONCE); // the most recent rows: earlier ones are out of sight again
    this.wanted.clear();
    const { answer } = await post(server, "cards", { query, rows }, { keepalive: false });
    this.timer = this.wanted.size ? setTimeout(() => this.fetch()) : 0;
    if (!answer || query !== this.query) return; // a server that forgot the query sends them when the slider rests
    rows.forEach((row) => this.known.add(row));
    if (answer.cards.length) this.came(answer.cards);
  }

  stop() {
    clearTimeout(this.timer);
    this.came = () => {};
  }
}

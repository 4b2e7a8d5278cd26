// A selection of coins as one file, ranked by its sliders without a server; `store/showcase/page.py` writes it.

import { el, part, setText } from "../../shell/js/elements.js";
import { breakdown, listenToBars } from "./bars.js";
import { Cards } from "./cards.js";
import { button } from "./dom.js";
import { Model } from "./model.js";
import { FACET_NAMES, Places, rank } from "./rank.js";
import { mostGiven } from "./ranking.js";
import { Sliders } from "./sliders.js";
import { explainOrder, whyFirst } from "./order.js";

/** @import { Grid } from "./main.js" */
/** @import { Card } from "./model.js" */
/** @import { Pictures, Scale, Similarities, Words } from "./rank.js" */
/** @import { FacetWeights, Preset, Ranking, Scores } from "./ranking.js" */
/** @import { Result } from "./table.js" */

/** @typedef {Card & {captions: Record<string, string>}} SavedCoin */
/**
 * A question, with what ranks the coins for it; columns are float32 numbers in base64.
 *
 * @typedef {{
 *   name: string,
 *   like: number | null,
 *   means: (number | null)[],
 *   deviations: number[],
 *   floor: number | null,
 *   words: Pick<Words, "strength"> | null,
 *   fused: boolean,
 *   pictures: Omit<Pictures, "silent"> | null,
 *   scale: Scale,
 *   pinned: number[],
 *   weights: FacetWeights,
 *   usual: FacetWeights,
 *   columns: Record<string, string>,
 * }} Question
 */
/**
 * @typedef {{
 *   about: string,
 *   credits: string,
 *   coins: SavedCoin[],
 *   questions: Question[],
 *   presets: Preset[],
 * }} SavedPage
 */

class Page {
  query = "";
  calibrated = false;
  isFused = false;
  /** @type {Map<number, number> | null} */
  places = null;
  /** @type {Scores | null} */
  scores = null;

  /** @param {SavedPage} saved */
  constructor(saved) {
    this.saved = saved;
    this.asked = saved.questions[0];
    this.data = { calibrated: null, uncalibrated: "", top: saved.coins.length };
    this.model = new Model("saved");
    this.model.isRanked = true;
    this.similarities = similaritiesOf(this.asked);
    this.alone = new Places(this.similarities);
    this.field = el("div", { class: "cards", role: "row" });
    this.frame = el("div", { class: "field", role: "grid", "aria-label": "Coins" }, this.field);
    this.cards = new Cards(this.field);
    const ranking = /** @type {Ranking} */ (/** @type {unknown} */ (this));
    this.sliders = new Sliders(ranking);
    this.sliders.offer(saved.presets);
    listenToBars(/** @type {Grid} */ (/** @type {unknown} */ (this)), ranking);
    this.because = el("p", { class: "because", role: "status", dir: "auto" });
    this.choice = el(
      "select",
      { "aria-label": "Ranked by", onchange: () => this.ask(Number(this.choice.value)) },
      ...saved.questions.map(({ name }, at) => el("option", { value: at }, name)),
    );
    this.coin = el("dialog", { class: "why coin", "aria-label": "Coin" });
    this.why = el("dialog", { class: "why", "aria-label": "Why this order" });
    for (const dialog of [this.coin, this.why])
      dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    this.frame.addEventListener("click", (event) => {
      const node = this.cards.at(event.target);
      if (node?.card) this.open(node.card.address);
    });
  }

  /** @param {HTMLElement} root */
  mount(root) {
    root.dataset.ranked = "";
    root.append(
      el("header", {}, el("h1", {}, "Ranked by ", this.choice), el("p", { class: "about-page" }, this.saved.about)),
      this.sliders.node,
      this.because,
      this.frame,
      el(
        "footer",
        {},
        el("p", {}, "Keys: arrows move, enter opens, m more like this, y why it ranks here."),
        this.saved.credits ? el("details", {}, el("summary", {}, "Art and licences"), this.saved.credits) : null,
      ),
      this.coin,
      this.why,
    );
    document.addEventListener("keydown", (event) => this.press(event));
    new ResizeObserver(() => (this.cards.measured = null)).observe(root);
    this.ask(0);
  }

  /** @param {number} at the place of the question */
  ask(at) {
    this.asked = this.saved.questions[at];
    this.choice.value = String(at);
    this.query = this.asked.name;
    this.similarities = similaritiesOf(this.asked);
    this.alone = new Places(this.similarities);
    this.places = null;
    this.isFused = this.asked.fused;
    this.sliders.take(this.asked.weights, this.asked.usual);
    this.sliders.showWords();
    this.model.moveTo(null);
    this.again();
  }

  get scale() {
    return this.asked.scale;
  }

  get fused() {
    return this.similarities.words ? this.isFused : null;
  }

  /** @param {boolean} on */
  fuse(on) {
    this.holdPlaces();
    this.isFused = on;
    this.again();
  }

  holdPlaces() {
    this.places = new Map((this.scores?.list ?? []).map((hit, index) => [hit.row, index]));
  }

  again() {
    const { alone, model, similarities } = this;
    if (similarities.words) similarities.words.fused = this.isFused;
    const { list } = rank(similarities, this.sliders.weights, this.data.top, this.scale);
    this.scores = {
      list,
      top: mostGiven(list),
      before: this.places,
      disagreement: (row) => alone.disagreement(row),
    };
    model.take(list.map(({ row }) => this.saved.coins[row]));
    model.settle([]);
    this.cards.show(model, { scores: this.scores });
    this.cards.mark(model);
    setText(this.because, whyFirst(this.results(), this.asked.name));
  }

  rest() {}

  /** @returns {Result[]} */
  results() {
    return (this.scores?.list ?? []).map((hit, at) => ({ card: this.saved.coins[hit.row], hit, at }));
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const { model } = this;
    if (event.altKey || event.ctrlKey || event.metaKey || event.target instanceof HTMLSelectElement) return;
    if (event.target instanceof HTMLInputElement && event.key.startsWith("Arrow")) return;
    const act = {
      m: () => this.like(model.cursor),
      y: () => this.explain(model.cursor),
    }[event.key];
    if (act) return act();
    if (this.coin.open || this.why.open) return;
    const { columns } = this.cards.shape();
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
    if (step) {
      const to = model.visible.indexOf(model.cursor ?? "") + step;
      if (to < 0 || to >= model.visible.length) return;
      model.moveTo(model.visible[to]);
      this.cards.mark(model);
      this.cards.nodes.get(model.visible[to])?.focus();
    } else if (event.key === "Enter" && this.cards.at(event.target)) this.open(model.cursor);
    else return;
    event.preventDefault();
  }

  /** @param {string | null} address */
  open(address) {
    const result = this.results().find(({ card }) => card.address === address);
    if (!address || !result) return;
    this.model.moveTo(address);
    this.cards.mark(this.model);
    const { hit } = result;
    const card = /** @type {SavedCoin} */ (result.card);
    const ranking = /** @type {Ranking} */ (/** @type {unknown} */ (this));
    const captions = Object.entries(card.captions).map(([facet, text]) =>
      el("p", { dir: "auto" }, el("i", { class: `dot ${facet}`, title: facet }), " ", text),
    );
    this.coin.replaceChildren(
      el(
        "div",
        { class: "sheet" },
        card.picture ? el("img", { src: card.picture, alt: `Picture of ${card.name}` }) : null,
        el("h2", { dir: "auto" }, card.name, " ", el("span", { class: "ticker" }, card.ticker)),
        ...captions,
        card.tags.length ? el("p", { class: "tags", dir: "auto" }, card.tags.join(", ")) : null,
        breakdown(hit, ranking),
        el(
          "div",
          { class: "verbs" },
          button("verb", "More like this", () => this.like(address), { key: "m" }),
          button("tool", "Why this order?", () => this.explain(address), { key: "y" }),
          button("tool", "Close", () => this.coin.close(), { key: "esc" }),
        ),
      ),
    );
    this.coin.showModal();
  }

  /** @param {string | null} address */
  like(address) {
    const at = this.saved.questions.findIndex(
      ({ like }) => like !== null && this.saved.coins[like].address === address,
    );
    if (at < 0) return;
    this.coin.close();
    this.ask(at);
    window.scrollTo(0, 0);
  }

  /** Why a coin ranks above the next one; the last, why below the one before. @param {string | null} address */
  explain(address) {
    const results = this.results();
    const at = results.findIndex(({ card }) => card.address === address);
    if (at < 0 || results.length < 2) return;
    this.coin.close();
    const first = Math.min(at, results.length - 2);
    explainOrder(this.why, results[first], results[first + 1], this.asked.name);
    this.why.showModal();
  }
}

/** @param {Question} asked @returns {Similarities} */
function similaritiesOf({ columns, means, deviations, floor, words, fused, pictures, pinned }) {
  return {
    columns: FACET_NAMES.map((name) => floats(columns[name])),
    means: means.map((mean) => mean ?? NaN),
    deviations,
    floor,
    words: words && { ...words, fused, shares: floats(columns.words) },
    pictures: pictures && { ...pictures, silent: floats(columns.silent) },
    pinned,
  };
}

/** @param {string} text little-endian float32 numbers in base64 */
function floats(text) {
  return new Float32Array(Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)).buffer);
}

/** Shows what the document of this file holds. */
export default function show() {
  const data = part(document, "#data", HTMLScriptElement);
  new Page(JSON.parse(data.textContent ?? "")).mount(part(document, "#page", HTMLElement));
}

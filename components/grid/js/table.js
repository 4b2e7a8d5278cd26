// The results as a table: sorted by any column, downloaded as CSV.

import { el } from "../../shell/js/elements.js";
import { ageOf, button, icon } from "./dom.js";
import { scoreText } from "./bars.js";
import { FACET_NAMES } from "./rank.js";

/** @import { Card } from "./model.js" */
/** @import { Hit } from "./rank.js" */
/** @import { Ranking } from "./ranking.js" */

/** @typedef {{card: Card, hit: Hit, at: number}} Result with its place, from 0 */

/** @type {[name: string, label: string, value: (result: Result) => number | string][]} */
const COLUMNS = [
  ["place", "#", ({ at }) => at],
  ["name", "Name", ({ card }) => card.name.toLowerCase()],
  ["ticker", "Ticker", ({ card }) => card.ticker.toLowerCase()],
  ["score", "Score", ({ hit }) => (hit.isExact ? -Infinity : -hit.score)],
  ...FACET_NAMES.map(
    /** @returns {typeof COLUMNS[number]} */
    (name, at) => [name, name, ({ hit }) => (hit.facets[at].present ? -Number(hit.facets[at].cosine) : Infinity)],
  ),
  ["words", "words", ({ hit }) => -hit.words.share],
  ["age", "Age", ({ card }) => -card.created_at],
];

const PATIENCE = 8000; // ms that a download waits for missing cards
const WORDS = new Set(["name", "ticker", "age"]); // the other columns are numbers, aligned right

export class ResultTable {
  by = "place";
  turned = 1;
  waiting = 0;

  /** @param {Ranking} ranking */
  constructor(ranking) {
    this.ranking = ranking;
    this.heads = COLUMNS.map(([key, label]) =>
      el(
        "th",
        { scope: "col", class: WORDS.has(key) ? null : "number" },
        button("", label, () => this.sort(key)),
      ),
    );
    this.body = el("tbody", {});
    this.node = el(
      "div",
      { class: "results-table", hidden: true },
      el("table", {}, el("thead", {}, el("tr", {}, el("td"), ...this.heads)), this.body),
    );
  }

  /** @param {string} key */
  sort(key) {
    this.turned = this.by === key ? -this.turned : 1;
    this.by = key;
    this.show();
  }

  rows() {
    const [, , value] = COLUMNS.find(([key]) => key === this.by) ?? COLUMNS[0];
    const compared = (/** @type {number | string} */ a, /** @type {number | string} */ b) =>
      a === b ? 0 : a < b ? -1 : 1;
    return this.ranking.results().sort((a, b) => this.turned * compared(value(a), value(b)) || a.at - b.at);
  }

  show() {
    if (this.waiting && this.isWhole()) this.save();
    if (this.node.hidden) return;
    COLUMNS.forEach(([key], at) => {
      const order = key === this.by ? (this.turned > 0 ? "ascending" : "descending") : "none";
      this.heads[at].setAttribute("aria-sort", order);
    });
    this.body.replaceChildren(...this.rows().map((result) => this.row(result)));
  }

  /** @param {Result} result */
  row({ card, hit, at }) {
    const { grid } = this.ranking;
    const choose = () => {
      if (card.blank) return;
      grid.model.moveTo(card.address);
      grid.refresh();
      this.show();
    };
    const number = (/** @type {string} */ text) => el("td", { class: "number" }, text);
    const exact = hit.isExact ? el("small", { class: "exact" }, "Exact match") : null;
    return el(
      "tr",
      {
        class: card.address === grid.model.cursor ? "at" : "",
        "data-address": card.address,
        onclick: choose,
        ondblclick: () => grid.panel.show(card.address),
      },
      el("td", { class: "thumb" }, thumbOf(card)),
      number(String(at + 1)),
      el("td", { class: "name", dir: "auto" }, card.name, exact),
      el("td", {}, card.ticker),
      number(scoreText(hit)),
      ...hit.facets.map(({ present, cosine }) => number(present && cosine !== null ? cosine.toFixed(3) : "–")),
      number(hit.words.share ? hit.words.share.toFixed(3) : "–"),
      el("td", { title: card.created ?? "" }, card.blank ? "" : ageOf(card)),
    );
  }

  isWhole() {
    return !this.rows().some(({ card }) => card.blank);
  }

  /** Downloads the file once the cards of new results have arrived. */
  download() {
    if (this.waiting) return;
    if (this.isWhole()) this.save();
    else this.waiting = setTimeout(() => this.save(), PATIENCE);
  }

  /** Saves the table as shown as a CSV file. */
  save() {
    clearTimeout(this.waiting);
    this.waiting = 0;
    const head = [
      "place",
      "token_address",
      "token_name",
      "ticker",
      "exact_match",
      "score",
      ...FACET_NAMES,
      "words",
      "created_at",
      "tags",
    ];
    const lines = this.rows().map(({ card, hit, at }) => [
      at + 1,
      card.address,
      card.name,
      card.ticker,
      hit.isExact,
      hit.score,
      ...hit.facets.map((facet) => (facet.present ? facet.cosine : "")),
      hit.words.share || "",
      card.created_at,
      card.tags.join(","),
    ]);
    const text = [head, ...lines].map((cells) => cells.map(cell).join(",")).join("\r\n");
    const href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
    el("a", { href, download: "memedex-search.csv" }).click();
    URL.revokeObjectURL(href);
  }
}

/**
 * The picture of a result in a list.
 *
 * @param {Card} card
 */
export function thumbOf({ picture }) {
  return picture ? el("img", { src: picture, alt: "", loading: "lazy" }) : icon("alert");
}

/**
 * A CSV cell; untrusted text that a spreadsheet would run as a formula is escaped.
 *
 * @param {string | number | boolean | null} value
 */
function cell(value) {
  if (typeof value !== "string") return String(value);
  const text = /^[=+\-@\t\r＝＋－＠]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// The results as a table: sorted by any column, downloaded as CSV.

import { el } from "../../shell/js/elements.js";
import { ageOf, icon } from "./dom.js";
import { FACET_NAMES, scoreText } from "./bars.js";

const COLUMNS = [
  ["place", "#", (_, hit, at) => at + 1],
  ["name", "Name", (card) => card.name.toLowerCase()],
  ["ticker", "Ticker", (card) => card.ticker.toLowerCase()],
  ["score", "Score", (_, hit) => (hit.isExact ? -Infinity : -hit.score)],
  ...FACET_NAMES.map((name, at) => [
    name,
    name,
    (_, hit) => (hit.facets[at].present ? -hit.facets[at].cosine : Infinity),
  ]),
  ["words", "words", (_, hit) => -hit.words.share],
  ["age", "Age", (card) => -card.created_at],
];

const PATIENCE = 8000; // ms that a download waits for missing cards
const WORDS = new Set(["name", "ticker", "age"]); // the other columns are numbers, aligned right

export class ResultTable {
  constructor(ranking) {
    this.ranking = ranking;
    this.by = "place";
    this.turned = 1;
    this.head = el(
      "tr",
      {},
      el("td", {}),
      ...COLUMNS.map(([key, label]) =>
        el(
          "th",
          { scope: "col", class: WORDS.has(key) ? null : "number" },
          el("button", { type: "button", onclick: () => this.sort(key) }, label),
        ),
      ),
    );
    this.body = el("tbody", {});
    this.node = el(
      "div",
      { class: "results-table", hidden: true },
      el("table", {}, el("thead", {}, this.head), this.body),
    );
  }

  sort(key) {
    this.turned = this.by === key ? -this.turned : 1;
    this.by = key;
    this.show();
  }

  rows() {
    const rows = this.ranking.results().map(({ card, hit }, at) => ({ card, hit, at }));
    const value = COLUMNS.find(([key]) => key === this.by)[2];
    const compared = (a, b) => (a === b ? 0 : a < b ? -1 : 1);
    return rows.sort(
      (a, b) => this.turned * compared(value(a.card, a.hit, a.at), value(b.card, b.hit, b.at)) || a.at - b.at,
    );
  }

  show() {
    if (this.waiting && this.isWhole()) this.save();
    if (this.node.hidden) return;
    COLUMNS.forEach(([key], at) =>
      this.head.children[at + 1].setAttribute(
        "aria-sort",
        key === this.by ? (this.turned > 0 ? "ascending" : "descending") : "none",
      ),
    );
    const { grid } = this.ranking;
    this.body.replaceChildren(
      ...this.rows().map(({ card, hit, at }) => {
        const cells = hit.facets.map((facet) =>
          el("td", { class: "number" }, facet.present ? facet.cosine.toFixed(3) : "–"),
        );
        cells.push(el("td", { class: "number" }, hit.words.share ? hit.words.share.toFixed(3) : "–"));
        const row = el(
          "tr",
          { class: card.address === grid.model.cursor ? "at" : "", "data-address": card.address },
          el(
            "td",
            { class: "thumb" },
            card.picture ? el("img", { src: card.picture, alt: "", loading: "lazy" }) : icon("alert"),
          ),
          el("td", { class: "number" }, String(at + 1)),
          el(
            "td",
            { class: "name", dir: "auto" },
            card.name,
            hit.isExact ? el("small", { class: "exact" }, "Exact match") : null,
          ),
          el("td", {}, card.ticker),
          el("td", { class: "number" }, scoreText(hit)),
          ...cells,
          el("td", { title: card.created ?? "" }, card.blank ? "" : ageOf(card)),
        );
        row.addEventListener(
          "click",
          () => card.blank || (grid.model.moveTo(card.address), grid.refresh(), this.show()),
        );
        row.addEventListener("dblclick", () => grid.open(card.address));
        return row;
      }),
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
    this.waiting = null;
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

/** A CSV cell; untrusted text that a spreadsheet would run as a formula is escaped. */
function cell(value) {
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r＝＋－＠]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

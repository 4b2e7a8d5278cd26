// Coins as a table: sorted by any column, with the numbers and links that came with them, downloaded as CSV.

import { el } from "../../shell/js/elements.js";
import { read, write } from "../../shell/js/storage.js";
import { ageOf, button, icon } from "./dom.js";
import { scoreText } from "./bars.js";
import { linked } from "./coin_facts.js";
import { FACET_NAMES } from "./rank.js";
import { menuOf } from "./tools.js";

/** @import { Grid } from "./main.js" */
/** @import { Card } from "./model.js" */
/** @import { Hit } from "./rank.js" */

/** @typedef {{card: Card, hit: Hit, at: number}} Result with its place, from 0 */
/** @typedef {{card: Card, hit?: Hit, at: number}} Row of a table; without a hit where nothing is ranked */
/**
 * `value` sorts, ascending at first, `cell` shows, `text` is saved under the name `saved`. Words are aligned left.
 *
 * @typedef {{
 *   key: string,
 *   label: string,
 *   value: (row: Row) => number | string,
 *   cell: (row: Row) => Node | string,
 *   isWord?: boolean,
 * }} Column
 */

const PATIENCE = 8000; // ms that a download waits for missing cards
const FIRST = 4; // numbers and links that are shown before anybody chooses
const OF_PICTURE = ["Width", "Height", "Bytes"]; // offered last
const LAST = Infinity; // the place of rows without a value
const CHOSEN = "memedex-columns";

/** @type {Column[]} */
const OF_ALL = [
  { key: "place", label: "#", value: ({ at }) => at, cell: ({ at }) => String(at + 1) },
  { key: "name", label: "Name", value: ({ card }) => card.name.toLowerCase(), cell: nameOf, isWord: true },
  {
    key: "ticker",
    label: "Ticker",
    value: ({ card }) => card.ticker.toLowerCase(),
    cell: ({ card }) => card.ticker,
    isWord: true,
  },
];

/** @type {Column[]} */
const OF_RANKED = [
  {
    key: "score",
    label: "Score",
    value: ({ hit }) => (!hit || hit.isExact ? -LAST : -hit.score),
    cell: ({ hit }) => (hit ? scoreText(hit) : ""),
  },
  ...FACET_NAMES.map(
    /** @returns {Column} */
    (name, at) => ({
      key: name,
      label: name,
      value: ({ hit }) => (hit?.facets[at].present ? -Number(hit.facets[at].cosine) : LAST),
      cell: ({ hit }) => (hit?.facets[at].present ? (hit.facets[at].cosine?.toFixed(3) ?? "–") : "–"),
    }),
  ),
  {
    key: "words",
    label: "words",
    value: ({ hit }) => -(hit?.words.share ?? 0),
    cell: ({ hit }) => hit?.words.share.toFixed(3).replace("0.000", "–") ?? "",
  },
];

/** @type {Column} */
const AGE = {
  key: "age",
  label: "Age",
  value: ({ card }) => -card.created_at,
  cell: ({ card }) => el("span", { title: card.created ?? "" }, card.blank ? "" : ageOf(card)),
  isWord: true,
};

export class CoinTable {
  by = "place";
  turned = 1;
  waiting = 0;
  made = ""; // the heads, as one text
  /** @type {Column[]} */
  columns = [];
  /** @type {string[] | null} the labels of numbers and links that were chosen; null before that */
  chosen = read(CHOSEN, /** @type {string[] | null} */ (null), "localStorage");

  /**
   * @param {Grid} grid
   * @param {() => Row[]} rows
   */
  constructor(grid, rows) {
    this.grid = grid;
    this.given = rows;
    this.head = el("tr", {});
    this.body = el("tbody", {});
    this.node = el(
      "div",
      { class: "results-table", hidden: true },
      el("table", {}, el("thead", {}, this.head), this.body),
    );
    this.csv = button("tool", "Download CSV", () => this.download(), { hidden: true });
    this.choose = button("", "▾", () => {}, {
      "aria-label": "Columns",
      title: "Numbers and links that came with coins",
    });
    this.menu = menuOf(this.choose, { class: "menu facts-menu", role: "group", "aria-label": "Columns" });
    this.node.append(this.menu);
  }

  /** @param {boolean} isShown */
  turn(isShown) {
    this.node.hidden = this.csv.hidden = !isShown;
    this.show();
  }

  /** @param {string} key */
  sort(key) {
    this.turned = this.by === key ? -this.turned : 1;
    this.by = key;
    this.show();
  }

  rows() {
    const { value } = this.columns.find(({ key }) => key === this.by) ?? OF_ALL[0];
    return this.given().sort((a, b) => {
      const [one, other] = [value(a), value(b)];
      if (one === other) return a.at - b.at;
      if (one === LAST || other === LAST) return one === LAST ? 1 : -1; // whichever way it is sorted
      return this.turned * (one < other ? -1 : 1);
    });
  }

  show() {
    if (this.waiting && this.isWhole()) this.save();
    if (this.node.hidden) return;
    this.arrange();
    this.body.replaceChildren(...this.rows().map((row) => this.row(row)));
  }

  /** Makes the columns and their heads, and the menu that chooses among the numbers and links. */
  arrange() {
    const rows = this.given();
    const counts = /** @type {Record<string, number>} */ ({});
    for (const { card } of rows) for (const label in card.facts ?? {}) counts[label] = (counts[label] ?? 0) + 1;
    const isLast = (/** @type {string} */ label) => Number(OF_PICTURE.includes(label));
    const known = Object.keys(counts).sort((a, b) => isLast(a) - isLast(b) || counts[b] - counts[a]);
    const shown = this.chosen ? known.filter((label) => this.chosen?.includes(label)) : known.slice(0, FIRST);
    const ranked = rows.some(({ hit }) => hit) ? OF_RANKED : [];
    this.choose.hidden = !known.length;
    const made = JSON.stringify([known, shown, ranked.length, this.by, this.turned]);
    if (made === this.made) return;
    this.made = made;
    this.columns = [...OF_ALL, ...ranked, ...shown.map(ofFact), AGE];
    const heads = this.columns.map(({ key, label, isWord }) => {
      const order = key === this.by ? (this.turned > 0 ? "ascending" : "descending") : "none";
      return el(
        "th",
        { scope: "col", class: isWord ? null : "number", "aria-sort": order },
        button("", label, () => this.sort(key)),
      );
    });
    this.head.replaceChildren(el("td", {}, this.choose), ...heads);
    if (this.menu.matches(":popover-open")) return; // its boxes are being clicked
    this.menu.replaceChildren(
      ...known.map((label) => {
        const box = el("input", { type: "checkbox", onchange: () => this.pick(label, box.checked) });
        box.checked = shown.includes(label);
        return el("label", {}, box, label);
      }),
    );
  }

  /** @param {string} label @param {boolean} isShown */
  pick(label, isShown) {
    const before = this.chosen ?? this.columns.flatMap(({ key }) => (key.startsWith("fact:") ? key.slice(5) : []));
    this.chosen = isShown ? [...before, label] : before.filter((one) => one !== label);
    write(CHOSEN, this.chosen, "localStorage");
    this.show();
  }

  /** @param {Row} row */
  row(row) {
    const { card } = row;
    const go = () => {
      if (card.blank) return;
      this.grid.model.moveTo(card.address);
      this.grid.refresh();
    };
    return el(
      "tr",
      {
        class: card.address === this.grid.model.cursor ? "at" : "",
        "data-address": card.address,
        onclick: go,
        ondblclick: () => this.grid.panel.show(card.address),
      },
      el("td", { class: "thumb" }, thumbOf(card)),
      ...this.columns.map(({ key, cell, isWord }) => {
        const look = key === "name" ? "name" : isWord ? null : "number";
        return el("td", { class: look, dir: key === "name" ? "auto" : null }, cell(row));
      }),
    );
  }

  /** Marks the row under the cursor. */
  mark() {
    for (const row of this.body.children)
      if (row instanceof HTMLElement) row.classList.toggle("at", row.dataset.address === this.grid.model.cursor);
  }

  /** The addresses in the order of the rows; null while the table is hidden. */
  get order() {
    return this.node.hidden ? null : this.rows().map(({ card }) => card.address);
  }

  isWhole() {
    return !this.given().some(({ card }) => card.blank);
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
    const facts = this.columns.flatMap(({ key, label }) => (key.startsWith("fact:") ? label : []));
    const rows = this.rows();
    const scores = rows.some(({ hit }) => hit) ? ["exact_match", "score", ...FACET_NAMES, "words"] : [];
    const head = ["place", "token_address", "token_name", "ticker", ...scores, "created_at", "tags", ...facts];
    const lines = rows.map(({ card, hit, at }) => [
      at + 1,
      card.address,
      card.name,
      card.ticker,
      ...(hit
        ? [
            hit.isExact,
            hit.score,
            ...hit.facets.map((facet) => (facet.present ? facet.cosine : "")),
            hit.words.share || "",
          ]
        : []),
      card.created_at,
      card.tags.join(","),
      ...facts.map((label) => card.facts?.[label] ?? ""),
    ]);
    const text = [head, ...lines].map((cells) => cells.map(saved).join(",")).join("\r\n");
    const href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
    el("a", { href, download: this.grid.ranking ? "memedex-search.csv" : "memedex-coins.csv" }).click();
    URL.revokeObjectURL(href);
  }
}

/** The two views of coins that are not ranked: cards, and a table of this page's. */
export class Listed {
  /** @param {Grid} grid */
  constructor(grid) {
    this.grid = grid;
    this.table = new CoinTable(grid, () => grid.model.shown.map((card, at) => ({ card, at })));
    this.buttons = ["Cards", "Table"].map((label) => button("", label, () => this.choose(label)));
    const choice = el("span", { class: "sizes", role: "group", "aria-label": "View" }, ...this.buttons);
    grid.tools.join([], [choice, this.table.csv]); // verbs come first
    grid.frame.after(this.table.node);
    this.choose(read("memedex-view", "Cards", "localStorage"));
  }

  /** @param {string} view */
  choose(view) {
    write("memedex-view", view, "localStorage");
    for (const each of this.buttons) each.setAttribute("aria-pressed", String(each.textContent === view));
    this.grid.frame.hidden = view === "Table";
    this.table.turn(view === "Table");
    this.grid.tools.fit();
  }
}

/**
 * A column of numbers, the largest first, or of links.
 *
 * @param {string} label
 * @returns {Column}
 */
function ofFact(label) {
  return {
    key: `fact:${label}`,
    label,
    value: ({ card }) => {
      const fact = card.facts?.[label];
      return fact === undefined ? LAST : typeof fact === "number" ? -fact : fact;
    },
    cell: ({ card }) => {
      const fact = card.facts?.[label];
      if (typeof fact === "string") return linked(fact, fact.replace(/^https:\/\/(www\.)?/, "").slice(0, 32));
      return fact === undefined ? "" : fact.toLocaleString("en", { maximumSignificantDigits: 8 });
    },
  };
}

/** @param {Row} row */
function nameOf({ card, hit }) {
  const name = el("span", {}, card.name);
  if (hit?.isExact) name.append(el("small", { class: "exact" }, "Exact match"));
  return name;
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
function saved(value) {
  if (typeof value !== "string") return String(value);
  const text = /^[=+\-@\t\r＝＋－＠]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

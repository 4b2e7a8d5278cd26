// The views of the results: cards, a table, or two settings side by side; and why one result ranks above another.

import { el, setAttribute, setText } from "../../shell/js/elements.js";
import { scoreText } from "./bars.js";
import { button } from "./dom.js";
import { explainOrder, whyFirst } from "./order.js";
import { changesOf, FACET_NAMES, RAW, rank } from "./rank.js";
import { CoinTable, thumbOf } from "./table.js";

/** @import { Hit } from "./rank.js" */
/** @import { Ranking, Scores } from "./ranking.js" */

/** @typedef {keyof typeof VIEWS} View */
/** @typedef {Record<string, number | boolean>} Setting weights, and whether they are calibrated */

const VIEWS = { cards: "Cards", table: "Table", versus: "Compare" };

export class Views {
  isChosen = false;
  /** @type {View | null} */
  view = null;

  /** @param {Ranking} ranking */
  constructor(ranking) {
    this.ranking = ranking;
    this.table = new CoinTable(ranking.grid, () => ranking.results());
    this.versus = new Versus(ranking);
    this.why = el("dialog", { class: "why", "aria-label": "Why this order" });
    this.why.addEventListener("click", (event) => event.target === this.why && this.why.close());
    const views = /** @type {[View, string][]} */ (Object.entries(VIEWS));
    this.buttons = views.map(([view, label]) => button("", label, () => this.turnTo(view), { "data-view": view }));
    this.found = el("span", { role: "status" });
    this.ask = button("undo", "Why this order?", () => this.askWhy(), { key: "" });
    const choice = el("span", { class: "sizes", role: "group", "aria-label": "View" }, ...this.buttons);
    this.because = el("span", {});
    ranking.grid.tools.join([choice, this.table.csv], []);
    ranking.sliders.node.append(
      el("span", { class: "found" }, this.found),
      el("p", { class: "because" }, this.because, this.ask),
      this.why,
    );
  }

  /**
   * Switches the view, and tells the server for the page's address.
   *
   * @param {View} view
   */
  turnTo(view) {
    this.isChosen = true;
    if (view === "versus") this.versus.pin();
    this.choose(view);
    this.ranking.grid.tell("view", view);
  }

  /**
   * Uses the view from the link until the user chooses one.
   *
   * @param {View} view
   * @param {Setting | null} held
   */
  take(view, held) {
    if (this.isChosen || view === this.view) return;
    if (held) this.versus.hold(held);
    this.choose(view);
  }

  get hasCards() {
    return this.view === "cards" || this.view === "table";
  }

  /** @param {View} view */
  choose(view) {
    const { grid } = this.ranking;
    this.view = view;
    for (const each of this.buttons) each.setAttribute("aria-pressed", String(each.dataset.view === view));
    this.table.turn(view === "table");
    this.versus.node.hidden = view !== "versus";
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
    const first = this.hasCards ? this.ranking.results().slice(0, 2) : [];
    setText(this.because, whyFirst(first, this.question));
  }

  get question() {
    return this.ranking.grid.data.question ?? "";
  }

  /** The two results selected; else the one under the cursor, and the one above it (below the first). */
  askWhy() {
    const results = this.ranking.results();
    const { model } = this.ranking.grid;
    const chosen = results.filter(({ card }) => model.isChosen(card.address));
    const at = Math.max(
      0,
      results.findIndex(({ card }) => card.address === model.cursor),
    );
    const [above, below] = chosen.length >= 2 ? chosen : [results[at ? at - 1 : 0], results[at || 1]];
    if (!above || !below) return false;
    explainOrder(this.why, above, below, this.question);
    this.why.showModal();
    return true;
  }
}

/**
 * The effect of the last movement: results with another rank, and new results.
 *
 * @param {Scores} scores
 */
function changes({ list, before }) {
  if (!before?.size) return "";
  const { moved, came } = changesOf(
    before,
    list.map(({ row }) => row),
  );
  return moved || came ? `${moved.toLocaleString("en")} changed rank, ${came.toLocaleString("en")} new` : "no change";
}

/** Two slider settings side by side: common results, results of one only, and changed ranks. */
class Versus {
  /** @type {Setting | null} the one to compare with */
  held = null;

  /** @param {Ranking} ranking */
  constructor(ranking) {
    this.ranking = ranking;
    this.sentence = el("p", { class: "versus-sentence" });
    this.left = el("ol", {});
    this.right = el("ol", {});
    this.before = el("h2", {});
    this.now = el("h2", {});
    const pin = () => {
      this.pin();
      this.show();
    };
    this.node = el(
      "div",
      { class: "versus", hidden: true },
      el("header", {}, this.sentence, button("tool", "Save as A", pin, { title: "Use the current weights as A" })),
      el("div", { class: "sides" }, el("section", {}, this.before, this.left), el("section", {}, this.now, this.right)),
    );
    // Highlights the same result on both sides.
    this.node.addEventListener("pointerover", ({ target }) =>
      this.light((target instanceof Element && target.closest("li")?.dataset.row) || null),
    );
    this.node.addEventListener("pointerleave", () => this.light(null));
  }

  /** Keeps the current setting as the one to compare with. */
  pin() {
    this.hold(this.current);
    this.ranking.grid.tell("held", this.held);
  }

  /** @param {Setting} setting the one from the link, or the first one */
  hold(setting) {
    this.held = setting;
  }

  /** @returns {Setting} */
  get current() {
    return { ...this.ranking.weights, calibrated: this.ranking.calibrated };
  }

  /** @param {Setting} setting */
  ranked({ calibrated, ...weights }) {
    const { similarities, data } = this.ranking;
    return similarities ? rank(similarities, weights, data.top, (calibrated && data.calibrated) || RAW).list : [];
  }

  show() {
    if (this.node.hidden || !this.ranking.similarities) return;
    this.held ??= this.current;
    const [before, now] = [this.ranked(this.held), this.ranked(this.current)];
    const [was, is] = [before, now].map((list) => new Map(list.map((hit, at) => [hit.row, at])));
    const both = [...was.keys()].filter((row) => is.has(row));
    const moved = both.filter((row) => was.get(row) !== is.get(row));
    const [a, b] = [textOf(this.held), textOf(this.current)];
    this.before.textContent = `A: saved weights · ${a}`;
    this.now.textContent = `B: current weights · ${a === b ? "same as A" : b}`;
    const overlap = before.length ? Math.round((100 * both.length) / Math.max(before.length, now.length)) : 0;
    const tau = kendall(both.map((row) => is.get(row) ?? 0));
    this.sentence.textContent = [
      `Overlap ${overlap} %`,
      `rank correlation ${tau === null ? "–" : tau.toFixed(2)}`,
      `${now.length - both.length} new`,
      `${before.length - both.length} dropped`,
      `${moved.length} changed rank`,
    ].join(" · ");
    this.sentence.title = "Rank correlation: Kendall's τ over the results that both have";
    this.left.replaceChildren(...before.map((hit, at) => this.item(hit, at, is.get(hit.row), "out")));
    this.right.replaceChildren(...now.map((hit, at) => this.item(hit, at, was.get(hit.row), "in")));
  }

  /** @param {Hit} hit @param {number} at @param {number | undefined} elsewhere @param {"in" | "out"} only */
  item(hit, at, elsewhere, only) {
    const card = this.ranking.cardOf(hit);
    let [away, tone] = ["", ""];
    if (elsewhere === undefined) [away, tone] = [only, only];
    else if (only === "out" && elsewhere !== at) away = `→ ${elsewhere + 1}`;
    else if (elsewhere > at) [away, tone] = [`▲${elsewhere - at}`, "up"];
    else if (elsewhere < at) [away, tone] = [`▼${at - elsewhere}`, "down"];
    return el(
      "li",
      { "data-row": String(hit.row), ondblclick: () => this.ranking.grid.panel.show(card.address) },
      el("span", { class: "place" }, String(at + 1)),
      thumbOf(card),
      el("span", { class: "name", dir: "auto" }, card.name),
      el("span", { class: `away ${tone}` }, away),
      el("span", { class: "number" }, scoreText(hit)),
    );
  }

  /** @param {string | null} row */
  light(row) {
    for (const item of this.node.querySelectorAll("li"))
      item.classList.toggle("lit", row !== null && item.dataset.row === row);
  }
}

/** @param {Setting} setting */
function textOf({ calibrated, ...weights }) {
  const given = FACET_NAMES.filter((name) => weights[name]).map((name) => `${name} ${weights[name]}`);
  return (given.join(" · ") || "no weight") + (calibrated ? " · calibrated" : "");
}

/**
 * Kendall's τ between the given order and these ranks.
 *
 * @param {number[]} places
 */
function kendall(places) {
  const n = places.length;
  if (n < 2) return null;
  let agree = 0;
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) agree += places[i] < places[j] ? 1 : -1;
  return agree / ((n * (n - 1)) / 2);
}

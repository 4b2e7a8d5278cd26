// Why one result stands above another: in words, and with the figures of both.

import { el } from "../../shell/js/elements.js";
import { scoreText } from "./bars.js";
import { button } from "./dom.js";
import { FACET_NAMES } from "./rank.js";
import { thumbOf } from "./table.js";

/** @import { Result } from "./table.js" */

/** @typedef {{present: boolean, contribution: number}} Part of a score */
/** @typedef {{name: string, more: number, above: Part, below: Part}} Gap in one facet */

/** @type {Record<string, string>} */
const REASONS = {
  image: "its picture",
  entity: "what is in it",
  context: "what it means",
  visual: "how it looks",
  emotions: "how it feels",
  words: "its wording",
};
const SAID = 2; // reasons, the largest

/**
 * Why the first result is first, in a sentence; "" where there is no other.
 *
 * @param {Result[]} results
 * @param {string} question
 */
export function whyFirst([first, second], question) {
  return first && second ? `First because ${reason(first, second, question)}.` : "";
}

/**
 * @param {Result} above
 * @param {Result} below
 * @param {string} question
 */
function reason(above, below, question) {
  if (above.hit.isExact && !below.hit.isExact) return named(above.card, question);
  const gaps = gapsOf(above, below)
    .filter(({ more }) => more > 0)
    .sort((one, other) => other.more - one.more)
    .slice(0, SAID);
  if (above.hit.score === below.hit.score || !gaps.length) return "equal scores are in the order of their addresses";
  const fit = gaps.length > 1 ? "fit" : "fits";
  return `${gaps.map(({ name }) => REASONS[name]).join(" and ")} ${fit} better than ${below.card.name}’s`;
}

/**
 * Which of ticker, name and address was asked for.
 *
 * @param {{name: string, ticker: string}} card
 * @param {string} question
 */
function named({ name, ticker }, question) {
  const asked = question.toLowerCase();
  if (ticker && asked.split(/[\s$"“”]+/u).includes(ticker.toLowerCase())) return `its ticker is ${ticker}`;
  return asked.includes(name.toLowerCase()) ? `it is called ${name}` : "it has this address";
}

/**
 * Shows why the first of two results ranks above the second: the difference in each facet's contribution.
 *
 * @param {HTMLDialogElement} dialog
 * @param {Result} above
 * @param {Result} below
 * @param {string} question
 */
export function explainOrder(dialog, above, below, question) {
  const rows = gapsOf(above, below);
  const most = Math.max(...rows.map(({ more }) => Math.abs(more)), 1e-9);
  dialog.replaceChildren(
    el(
      "div",
      { class: "sheet" },
      el("header", { class: "two" }, sideOfTwo(above), el("span", { class: "over" }, "ranks above"), sideOfTwo(below)),
      el(
        "p",
        { class: "sentence-of-two" },
        `${above.card.name} comes first because ${reason(above, below, question)}.`,
      ),
      el(
        "table",
        { class: "breakdown" },
        el("tbody", {}, ...rows.map((row) => gapRow(row, most)), totalOfTwo(above, below)),
      ),
      button("tool", "Close", () => dialog.close(), { key: "esc" }),
    ),
  );
}

/** @param {Result} above @param {Result} below */
function gapsOf(above, below) {
  const rows = FACET_NAMES.map((name, at) => gapOf(name, above.hit.facets[at], below.hit.facets[at])).filter(
    (_, at) => above.hit.facets[at].weight,
  );
  const words = gapOf("words", wordsOf(above), wordsOf(below));
  return words.above.contribution || words.below.contribution ? [...rows, words] : rows;
}

/** @param {string} name @param {Part} above @param {Part} below @returns {Gap} */
function gapOf(name, above, below) {
  return { name, more: above.contribution - below.contribution, above, below };
}

/**
 * The words in the form of a facet: a record without the words gets 0 for them.
 *
 * @param {Result} result
 */
function wordsOf({ hit }) {
  return { present: true, contribution: hit.words.contribution };
}

/** @param {Result} result */
function sideOfTwo({ card, hit, at }) {
  return el(
    "figure",
    {},
    thumbOf(card),
    el("figcaption", {}, el("strong", { dir: "auto" }, card.name), ` ${at + 1}. · ${scoreText(hit)}`),
  );
}

/** @param {Gap} gap @param {number} most */
function gapRow({ name, more, above, below }, most) {
  const bar = el("i", { class: `gap ${name} ${more < 0 ? "against" : ""}` });
  bar.style.width = `${(Math.abs(more) / most) * 50}%`;
  const value = (/** @type {Part} */ facet) =>
    `${facet.contribution.toFixed(3)}${facet.present ? "" : " (not written)"}`;
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, el("i", { class: `dot ${name}` }), name),
    el("td", { class: "number" }, value(above)),
    el("td", { class: "gaps" }, bar),
    el("td", { class: "number" }, value(below)),
  );
}

/** @param {Result} above @param {Result} below */
function totalOfTwo(above, below) {
  return el(
    "tr",
    { class: "total" },
    el("th", { scope: "row" }, "score"),
    el("td", { class: "number" }, above.hit.score.toFixed(3)),
    el("td", {}),
    el("td", { class: "number" }, below.hit.score.toFixed(3)),
  );
}

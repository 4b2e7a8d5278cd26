// Why one result ranks above another: the difference in each facet's contribution.

import { el } from "../../shell/js/elements.js";
import { icon } from "./dom.js";
import { FACET_NAMES, scoreText } from "./bars.js";

export function whyDialog() {
  const dialog = el("dialog", { class: "why", "aria-label": "Why this order" });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  return dialog;
}

/** Shows two results, the upper one first. */
export function explainOrder(dialog, [first, second]) {
  const [above, below] = first.place < second.place ? [first, second] : [second, first];
  const rows = FACET_NAMES.map((name, at) => ({
    name,
    more: above.hit.facets[at].contribution - below.hit.facets[at].contribution,
    above: above.hit.facets[at],
    below: below.hit.facets[at],
  })).filter(({ above }) => above.weight);
  if (above.hit.words.contribution || below.hit.words.contribution)
    rows.push({
      name: "words",
      more: above.hit.words.contribution - below.hit.words.contribution,
      above: wordsOf(above),
      below: wordsOf(below),
    });
  const most = Math.max(...rows.map(({ more }) => Math.abs(more)), 1e-9);
  dialog.replaceChildren(
    el(
      "div",
      { class: "sheet" },
      el("header", { class: "two" }, sideOfTwo(above), el("span", { class: "over" }, "ranks above"), sideOfTwo(below)),
      el("p", { class: "sentence-of-two" }, reason(rows, above, below)),
      el(
        "table",
        { class: "breakdown" },
        el("tbody", {}, ...rows.map((row) => gapRow(row, most)), totalOfTwo(above, below)),
      ),
      el("button", { type: "button", class: "tool", onclick: () => dialog.close() }, "Close", el("kbd", {}, "esc")),
    ),
  );
}

/** The words in the form of a facet: a record without the words gets 0 for them. */
function wordsOf({ hit }) {
  return { present: true, contribution: hit.words.contribution };
}

function sideOfTwo({ card, hit, place }) {
  return el(
    "figure",
    {},
    card.picture ? el("img", { src: card.picture, alt: "" }) : icon("alert"),
    el("figcaption", {}, el("strong", { dir: "auto" }, card.name), ` ${place}. · ${scoreText(hit)}`),
  );
}

function reason(rows, above, below) {
  if (above.hit.isExact && !below.hit.isExact)
    return "What was asked for is its name, ticker or address, so it is first with any score.";
  const gap = above.hit.score - below.hit.score;
  if (!gap) return "Both have the same score; equal scores are in the order of their addresses.";
  const for_ = rows.filter(({ more }) => more > 0).sort((a, b) => b.more - a.more);
  const against = rows.filter(({ more }) => more < 0).sort((a, b) => a.more - b.more);
  const listed = (list) =>
    list.map(({ name, more }) => `${name} ${more > 0 ? "+" : "−"}${Math.abs(more).toFixed(3)}`).join(", ");
  return `By ${gap.toFixed(3)}: ${listed(for_)}${against.length ? `; against it ${listed(against)}` : ""}.`;
}

function gapRow({ name, more, above, below }, most) {
  const bar = el("i", { class: `gap ${name} ${more < 0 ? "against" : ""}` });
  bar.style.width = `${(Math.abs(more) / most) * 50}%`;
  const value = (facet) => `${facet.contribution.toFixed(3)}${facet.present ? "" : " (not written)"}`;
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, el("i", { class: `dot ${name}` }), name),
    el("td", { class: "number" }, value(above)),
    el("td", { class: "gaps" }, bar),
    el("td", { class: "number" }, value(below)),
  );
}

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

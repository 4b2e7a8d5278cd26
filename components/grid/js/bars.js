// Score bars: the contribution of each facet to each result.

import { el, setHidden, setText } from "../../shell/js/elements.js";
import { FACET_NAMES } from "./rank.js";

/** @import { CardNode } from "./cards.js" */
/** @import { Grid } from "./main.js" */
/** @import { Hit } from "./rank.js" */
/** @import { Ranking, Scores } from "./ranking.js" */

const HATCH = 4; // percent of the bar
const STRENGTHS = { strong: "strong", weak: "weak", below: "below the threshold" };
const EMPTY = "color-mix(in srgb, var(--st-text-color) 14%, transparent)";

/**
 * Draws the score and movement of one card, and its stacked bar unless a slider is being dragged.
 *
 * @param {CardNode} node
 * @param {Scores} scores
 * @param {number} index
 */
export function standing(node, scores, index) {
  const { list, before } = scores;
  const { parts } = node;
  const hit = list[index];
  setHidden(parts.score, hit.isExact); // "Exact match" says why it is first; its score would not
  setHidden(parts.bar, false);
  setText(parts.score, hit.score.toFixed(3));
  const moved = (before?.get(hit.row) ?? index) - index;
  setHidden(parts.moved, !moved);
  setText(parts.moved, moved > 0 ? `▲${moved}` : `▼${-moved}`);
  parts.moved.classList.toggle("up", moved > 0);
  const isOther = node.hit?.row !== hit.row;
  node.hit = hit;
  if (isOther || !scores.barsLater) bar(node, scores.top);
  setHidden(parts.exact, !hit.isExact);
  setHidden(parts.strength, hit.isExact);
  setText(parts.strength, STRENGTHS[hit.strength]);
  parts.strength.dataset.strength = hit.strength;
  const strange = scores.disagreement(hit.row);
  setHidden(parts.strange, !strange);
  if (strange) parts.strange.title = strange;
}

/**
 * The score as a list shows it: what is first because its name, ticker or address was asked for says so instead.
 *
 * @param {Hit} hit
 */
export function scoreText(hit) {
  return hit.isExact ? "exact" : hit.score.toFixed(3);
}

/**
 * The contribution of each facet to the score.
 *
 * @param {CardNode} node
 * @param {number} top
 */
export function bar(node, top) {
  if (!node.hit) return;
  const stripe = painted(node.hit, top);
  if (node.stripe !== stripe) node.parts.bar.style.background = node.stripe = stripe;
}

/**
 * The bar as one background, which costs no layout: each facet's share of a full bar, hatched where it is missing.
 *
 * @param {Hit} hit
 * @param {number} top
 */
function painted({ facets, words }, top) {
  /** @type {string[]} */
  const stops = [];
  let from = 0;
  facets.forEach(({ contribution, present }, at) => {
    const to = from + (top > 0 ? Math.max(0, contribution / top) * 100 : 0);
    const colour = `var(--${FACET_NAMES[at]})`;
    const stop = (/** @type {string} */ what, /** @type {number} */ a, /** @type {number} */ b) =>
      b > a && stops.push(`${what} ${a.toFixed(2)}% ${b.toFixed(2)}%`);
    if (present) stop(colour, from, to);
    else
      for (let a = from; a < to; a += HATCH) {
        stop(colour, a, Math.min(to, a + HATCH / 2));
        stop("transparent", a + HATCH / 2, Math.min(to, a + HATCH));
      }
    from = to;
  });
  if (words.contribution > 0) {
    const to = from + (words.contribution / top) * 100;
    stops.push(`var(--words) ${from.toFixed(2)}% ${to.toFixed(2)}%`);
    from = to;
  }
  return `linear-gradient(90deg, ${[...stops, `${EMPTY} ${from.toFixed(2)}%`, EMPTY].join(", ")})`;
}

/**
 * Shows the breakdown while the mouse is over a card's bar, or the word for how well it fits.
 *
 * @param {Grid} grid
 * @param {Ranking} ranking
 */
export function listenToBars(grid, ranking) {
  const tip = el("div", { class: "tip", hidden: true });
  grid.frame.append(tip);
  const over = (/** @type {PointerEvent} */ { target }) => {
    const card = target instanceof Element && target.closest(".bar, .strength") ? grid.cards.at(target) : undefined;
    tip.hidden = !card?.hit;
    if (!card?.hit) return;
    tip.replaceChildren(breakdown(card.hit, ranking));
    const bar = card.parts.bar.getBoundingClientRect();
    const frame = grid.frame.getBoundingClientRect();
    const left = Math.min(bar.left - frame.left, frame.width - tip.offsetWidth - 4);
    Object.assign(tip.style, {
      left: `${Math.max(4, left)}px`,
      top: `${bar.top - frame.top - tip.offsetHeight - 10}px`,
    });
  };
  grid.frame.addEventListener("pointerover", over);
  grid.frame.addEventListener("pointerleave", () => (tip.hidden = true));
}

/**
 * One line for each facet: its cosine (→ on the calibrated scale) times its weight, and the resulting contribution.
 *
 * @param {Hit} hit
 * @param {Ranking} ranking
 */
export function breakdown(hit, ranking) {
  const { centre, spread } = ranking.scale;
  const rows = hit.facets.flatMap(({ cosine, contribution, present, weight }, at) => {
    if (!weight) return [];
    const name = FACET_NAMES[at];
    let counted = "–";
    if (cosine !== null) {
      // The weighted value: on a calibrated scale it is not the cosine itself.
      const counts = (cosine - centre[at]) / spread[at];
      counted = cosine.toFixed(3) + (counts === cosine ? "" : ` → ${counts.toFixed(2)}`);
    }
    const value = `${present ? "" : "not written: library's mean "}${counted} × ${share(weight)}`;
    const place = ranking.alone?.of(hit.row, at)?.toLocaleString("en");
    const dot = `${name} ${present ? "" : "missing"}`;
    return [line(dot, name, value, place ? `${place}.` : "", contribution)];
  });
  const { words } = hit;
  if (words.contribution) {
    const value = `${share(words.share)} of the best match × ${words.gain.toFixed(3)}`;
    rows.push(line("words", "words", value, "", words.contribution));
  }
  const total = el(
    "tr",
    { class: "total" },
    el("th", { scope: "row" }, "score"),
    el("td", {}, `${hit.sigma.toFixed(1)} σ above the library’s mean`),
    el("td"),
    el("td", { class: "number" }, hit.score.toFixed(3)),
  );
  return el("table", { class: "breakdown" }, el("tbody", {}, ...rows, total));
}

/** @param {string} dot @param {string} name @param {string} value @param {string} alone @param {number} contribution */
function line(dot, name, value, alone, contribution) {
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, el("i", { class: `dot ${dot}` }), name),
    el("td", {}, value),
    el("td", { class: "alone", title: alone ? "Place by this alone" : null }, alone),
    el("td", { class: "number" }, contribution.toFixed(3)),
  );
}

/** @param {number} weight */
function share(weight) {
  return `${Number((weight * 100).toFixed(1))} %`;
}

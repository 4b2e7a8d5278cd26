// Score bars: the contribution of each facet to each result.

import { el, setHidden, setText } from "../../shell/js/elements.js";

export const FACET_NAMES = ["image", "entity", "context", "visual", "emotions"];
const HATCH = 4; // percent of the bar
const EMPTY = "rgb(255 255 255 / 0.2)";

/** Draws the score and movement of one card, and its stacked bar unless a slider is being dragged. */
export function standing(node, scores, index) {
  const { list, before } = scores;
  const { parts } = node;
  const hit = list[index];
  setHidden(parts.score, hit.isExact); // "Exact match" says why it is first; its score would not
  setHidden(parts.bar, false);
  setText(parts.score, hit.score.toFixed(3));
  const moved = before?.has(hit.row) ? before.get(hit.row) - index : 0;
  setHidden(parts.moved, !moved);
  setText(parts.moved, moved > 0 ? `▲${moved}` : `▼${-moved}`);
  parts.moved.classList.toggle("up", moved > 0);
  const isOther = node.hit?.row !== hit.row;
  node.hit = hit;
  if (isOther || !scores.barsLater) bar(node, scores.top);
  setHidden(parts.exact, !hit.isExact);
  const strange = scores.disagreement(hit.row);
  setHidden(parts.strange, !strange);
  if (strange) parts.strange.title = strange;
}

/** The score as a list shows it: what is first because its name, ticker or address was asked for says so instead. */
export function scoreText(hit) {
  return hit.isExact ? "exact" : hit.score.toFixed(3);
}

/** The contribution of each facet to the score. */
export function bar(node, top) {
  const stripe = painted(node.hit, top);
  if (node.stripe !== stripe) node.parts.bar.style.background = node.stripe = stripe;
}

/** The bar as one background, which costs no layout: each facet's share of a full bar, hatched where it is missing. */
function painted({ facets, words }, top) {
  const stops = [];
  let from = 0;
  facets.forEach(({ contribution, present }, at) => {
    const to = from + (top > 0 ? Math.max(0, contribution / top) * 100 : 0);
    const colour = `var(--${FACET_NAMES[at]})`;
    const stop = (what, a, b) => b > a && stops.push(`${what} ${a.toFixed(2)}% ${b.toFixed(2)}%`);
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

/** Shows the breakdown while the mouse is over a card's bar. */
export function listenToBars(grid) {
  const tip = el("div", { class: "tip", hidden: true });
  grid.frame.append(tip);
  const over = (event) => {
    const card = event.target.closest?.(".bar") && event.target.closest(".card");
    tip.hidden = !card?.hit;
    if (tip.hidden) return;
    tip.replaceChildren(breakdown(grid, { address: card.dataset.address }));
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

/** One line for each facet: its cosine (→ on the calibrated scale) times its weight, and the resulting contribution. */
export function breakdown(grid, card) {
  const hit = grid.cards.nodes.get(card.address)?.hit;
  if (!hit) return el("p", { class: "none" }, "Not among the results now shown.");
  const { centre, spread } = grid.ranking.scale;
  const rows = hit.facets.map((facet, at) => {
    const name = FACET_NAMES[at];
    if (!facet.weight) return null;
    // The weighted value: on a calibrated scale it is not the cosine itself.
    const counts = (facet.cosine - centre[at]) / spread[at];
    const cosine =
      facet.cosine === null
        ? "–"
        : facet.cosine.toFixed(3) + (counts === facet.cosine ? "" : ` → ${counts.toFixed(2)}`);
    const place = grid.ranking.alone?.of(hit.row, at);
    const value = facet.present
      ? `${cosine} × ${share(facet.weight)}`
      : `not written: library's mean ${cosine} × ${share(facet.weight)}`;
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, el("i", { class: `dot ${name} ${facet.present ? "" : "missing"}` }), name),
      el("td", {}, value),
      el("td", { class: "alone", title: "Place by this facet alone" }, place ? `${place.toLocaleString("en")}.` : ""),
      el("td", { class: "number" }, facet.contribution.toFixed(3)),
    );
  });
  const { words } = hit;
  if (words.contribution)
    rows.push(
      el(
        "tr",
        {},
        el("th", { scope: "row" }, el("i", { class: "dot words" }), "words"),
        el("td", {}, `${share(words.share)} of the best match × ${words.gain.toFixed(3)}`),
        el("td", { class: "alone" }),
        el("td", { class: "number" }, words.contribution.toFixed(3)),
      ),
    );
  const total = el(
    "tr",
    { class: "total" },
    el("th", { scope: "row" }, "score"),
    el("td", {}),
    el("td", {}),
    el("td", { class: "number" }, hit.score.toFixed(3)),
  );
  return el("table", { class: "breakdown" }, el("tbody", {}, ...rows.filter(Boolean), total));
}

function share(weight) {
  return `${Number((weight * 100).toFixed(1))} %`;
}

// Scores made visible: for each result how much each facet gave.

import { el, setText } from "./dom.js";

export const FACET_NAMES = ["image", "entity", "context", "visual", "emotions"];

/** Draws score, movement and the stacked bar of one card. */
export function bar(node, scores, index) {
  const { list, top, before } = scores;
  const { parts } = node;
  const hit = list[index];
  parts.score.hidden = parts.bar.hidden = false;
  setText(parts.score, hit.score.toFixed(3));
  const moved = before?.has(hit.row) ? before.get(hit.row) - index : 0;
  parts.moved.hidden = !moved;
  setText(parts.moved, moved > 0 ? `▲${moved}` : `▼${-moved}`);
  parts.moved.classList.toggle("up", moved > 0);
  if (!parts.bar.children.length) for (const facet of FACET_NAMES) parts.bar.append(el("i", { class: `part ${facet}` }));
  hit.facets.forEach((facet, at) => {
    const part = parts.bar.children[at];
    part.style.width = `${Math.max(0, top > 0 ? (facet.contribution / top) * 100 : 0)}%`;
    part.classList.toggle("missing", !facet.present);
  });
  node.hit = hit;
  const strange = scores.disagreement(hit.row);
  parts.strange.hidden = !strange;
  parts.strange.title = strange;
  node.classList.toggle("beyond", scores.drop !== null && index >= scores.drop);
  node.classList.toggle("first-beyond", scores.drop !== null && index === scores.drop);
}

/** Shows the breakdown while the mouse is on a card's bar. */
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
    Object.assign(tip.style, { left: `${Math.max(4, left)}px`, top: `${bar.top - frame.top - tip.offsetHeight - 10}px` });
  };
  grid.frame.addEventListener("pointerover", over);
  grid.frame.addEventListener("pointerleave", () => (tip.hidden = true));
}

/** One line for each facet: its cosine times its weight, and what that gave. */
export function breakdown(grid, card) {
  const hit = grid.cards.nodes.get(card.address)?.hit;
  if (!hit) return el("p", { class: "none" }, "Not among the results now shown.");
  const rows = hit.facets.map((facet, at) => {
    const name = FACET_NAMES[at];
    if (!facet.weight) return null;
    const cosine = facet.cosine === null ? "–" : facet.cosine.toFixed(3);
    const place = grid.ranking.alone?.of(hit.row, at);
    const said = facet.present ? `${cosine} × ${share(facet.weight)}` : `not written: library's mean ${cosine} × ${share(facet.weight)}`;
    return el("tr", {}, el("th", { scope: "row" }, el("i", { class: `dot ${name} ${facet.present ? "" : "missing"}` }), name), el("td", {}, said), el("td", { class: "alone", title: "Place by this facet alone" }, place ? `${place.toLocaleString("en")}.` : ""), el("td", { class: "number" }, facet.contribution.toFixed(3)));
  });
  const total = el("tr", { class: "total" }, el("th", { scope: "row" }, "score"), el("td", {}), el("td", {}), el("td", { class: "number" }, hit.score.toFixed(3)));
  return el("table", { class: "breakdown" }, el("tbody", {}, ...rows.filter(Boolean), total));
}

function share(weight) {
  return `${(weight * 100).toFixed(0)} %`;
}

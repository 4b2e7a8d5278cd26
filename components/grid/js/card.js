// One card: its node is created once and filled with the coin it shows.

import { el, setAttribute, setHidden, setText } from "../../shell/js/elements.js";
import { ageOf, icon } from "./dom.js";
import { standing } from "./bars.js";

/** Creates an empty card. */
export function make() {
  const parts = {
    picture: el("img", { alt: "", loading: "lazy", decoding: "async", draggable: "false" }),
    name: el("span", { class: "name", dir: "auto" }),
    ticker: el("span", { class: "ticker" }),
    age: el("span", { class: "age" }),
    tags: el("span", { class: "tags", dir: "auto" }),
    pick: el(
      "span",
      { class: "pick", "data-pick": "", role: "checkbox", tabindex: "-1", "aria-label": "Select" },
      icon("check"),
    ),
    mark: el("span", { class: "mark", hidden: true }),
    reason: el("span", { class: "reason" }),
    score: el("span", { class: "score", hidden: true }),
    moved: el("span", { class: "moved", hidden: true }),
    strange: el("span", { class: "strange", hidden: true }, "≠"),
    bar: el("span", { class: "bar", hidden: true }),
    exact: el("span", { class: "exact", hidden: true }, "Exact match"),
    twin: el("span", {
      class: "twin-badge",
      "data-twin": "",
      role: "button",
      tabindex: "-1",
      title: "Compare with a possible duplicate",
      hidden: true,
    }),
  };
  const node = el(
    "div",
    { class: "card", role: "gridcell", tabindex: "-1" },
    // The card's accessible name is its text in this order, so its name comes first.
    parts.picture,
    el(
      "span",
      { class: "foot" },
      el("span", { class: "line" }, parts.name, parts.ticker),
      el("span", { class: "line small" }, parts.age, parts.tags),
      parts.bar,
      parts.exact,
      parts.twin,
    ),
    parts.mark,
    el("span", { class: "standing" }, parts.strange, parts.moved, parts.score),
    parts.reason,
    parts.pick,
    el(
      "span",
      {
        class: "expand",
        "data-expand": "",
        role: "button",
        tabindex: "-1",
        "aria-label": "Open",
        title: "Open (enter)",
      },
      icon("expand"),
    ),
  );
  parts.picture.addEventListener("load", () => node.picture && node.classList.add("loaded"));
  parts.picture.addEventListener("error", () => node.picture && node.classList.add("broken"));
  node.parts = parts;
  return node;
}

/** Fills this node with a coin; `scores` gives its position among the results. */
export function dress(node, card, { scores, index }) {
  if (node.card !== card) {
    const { parts } = node;
    node.card = card;
    node.dataset.address = card.address;
    if (node.picture !== card.picture) show(node, card.picture);
    setText(parts.name, card.name);
    setText(parts.ticker, card.ticker);
    setText(parts.age, card.blank ? "" : ageOf(card));
    setAttribute(parts.age, "title", card.created ?? "");
    node.classList.toggle("blank", Boolean(card.blank));
    setText(parts.tags, card.tags.join(" · "));
    setText(parts.mark, card.mark?.label ?? "");
    setHidden(parts.mark, !card.mark);
    node.classList.toggle("shadow", Boolean(card.shadow));
    node.dataset.tone = card.mark?.tone ?? "";
    setText(parts.twin, card.twin ?? "");
    setHidden(parts.twin, !card.twin);
  }
  if (scores) standing(node, scores, index);
}

/** Changes the picture. Without one, the last stays hidden: removing the source would trigger a new layout. */
function show(node, picture) {
  const { parts } = node;
  const isThere = picture && parts.picture.getAttribute("src") === picture && parts.picture.complete;
  node.picture = picture;
  node.classList.toggle("loaded", Boolean(isThere && parts.picture.naturalWidth));
  node.classList.toggle("broken", Boolean(isThere && !parts.picture.naturalWidth));
  if (picture && !isThere) parts.picture.src = picture;
}

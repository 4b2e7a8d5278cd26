// The way of coins through the tiers: a tile for each, and between them how many went on this week.

import { el, icon } from "../../grid/js/dom.js";

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".memedex-flow");
  const made = JSON.stringify(data);
  if (root.made === made) return;
  root.made = made;
  const go = (event, tier) => {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab or window: by the address
    event.preventDefault();
    setTriggerValue("go", tier);
  };
  root.replaceChildren(...data.tiles.flatMap((tile) => [tile.came ? step(tile) : null, box(tile, go)]).filter(Boolean));
}

function step({ came, tier }) {
  return el(
    "div",
    { class: `step ${tier}` },
    el("strong", {}, came.number.toLocaleString("en")),
    came.label,
    el("span", { class: "arrow" }, icon("forward")),
  );
}

function box({ tier, label, count, change, share, pictures, href }, go) {
  const bar = el("i", { class: "share" });
  bar.style.setProperty("--share", `${(share * 100).toFixed(1)}%`);
  return el(
    "a",
    { class: `tile ${tier}`, href, onclick: (event) => go(event, tier) },
    el("span", { class: "head" }, el("span", {}, label), icon("forward")),
    el(
      "span",
      { class: "number" },
      el("strong", {}, count.toLocaleString("en")),
      change ? el("span", { class: "change" }, change) : null,
    ),
    el("span", { class: "pictures" }, ...pictures.map((src) => el("img", { src, alt: "", loading: "lazy" }))),
    bar,
  );
}

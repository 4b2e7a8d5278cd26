// The way of coins through the tiers: a tile for each, and between them how many went on this week.

import { el, part } from "../../shell/js/elements.js";
import { icon } from "../../grid/js/dom.js";

/** @import { Mount } from "../../shell/js/streamlit_page.js" */

/**
 * A tier with its coins, and how many came into it; `share` is what the bar says of them.
 *
 * @typedef {{
 *   tier: string,
 *   label: string,
 *   count: number,
 *   change: string,
 *   share: number,
 *   pictures: string[],
 *   href: string,
 *   came: {number: number, label: string} | null,
 * }} Tile
 */
/** @typedef {(event: MouseEvent, tier: string) => void} Go */

/** @type {WeakMap<HTMLElement, string>} what is drawn at each place */
const drawn = new WeakMap();

/** @param {Mount<{tiles: Tile[]}>} mount */
export default function ({ data, parentElement, setTriggerValue }) {
  const root = part(parentElement, ".memedex-flow", HTMLElement);
  const made = JSON.stringify(data);
  if (drawn.get(root) === made) return;
  drawn.set(root, made);
  /** @type {Go} */
  const go = (event, tier) => {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab or window: by the address
    event.preventDefault();
    setTriggerValue("go", tier);
  };
  root.replaceChildren(...data.tiles.flatMap((tile) => [...step(tile), box(tile, go)]));
}

/** @param {Tile} tile */
function step({ came, tier }) {
  if (!came) return [];
  const number = el("strong", {}, came.number.toLocaleString("en"));
  return [el("div", { class: `step ${tier}` }, number, came.label, el("span", { class: "arrow" }, icon("forward")))];
}

/** @param {Tile} tile @param {Go} go */
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

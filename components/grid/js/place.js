// The place of the grid's tools in the row above the cards. Streamlit draws that row, before the grid or after it.

import { part } from "../../shell/js/elements.js";

/** @import { Mount } from "../../shell/js/streamlit_page.js" */
/** @import { Grid } from "./main.js" */

/** @type {HTMLElement | null} */
let place = null;
/** @type {Set<Grid>} */
const grids = new Set();

/** @param {Mount<unknown>} mount */
export default function ({ parentElement }) {
  const mine = part(parentElement, ".memedex-grid", HTMLElement);
  place = mine;
  enter();
  return () => {
    if (place === mine && !mine.isConnected) place = null;
  };
}

/**
 * Moves the tools of the page's first grid into the row as soon as there is one; those of others, such as of the coins
 * selected on a map, stay above their cards.
 *
 * @param {Grid} grid
 */
export function takePlace(grid) {
  grids.add(grid);
  enter();
  return () => {
    grids.delete(grid);
    enter();
  };
}

function enter() {
  const first = [...grids].find(({ root }) => root.isConnected);
  if (first && place?.isConnected && first.tools.node.parentNode !== place) place.replaceChildren(first.tools.node);
}

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
  grids.forEach(enter);
  return () => {
    if (place === mine && !mine.isConnected) place = null;
  };
}

/**
 * Moves a grid's tools into the row as soon as there is one; without, they stay above the cards.
 *
 * @param {Grid} grid
 */
export function takePlace(grid) {
  grids.add(grid);
  enter(grid);
  return () => grids.delete(grid);
}

/** @param {Grid} grid */
function enter({ tools }) {
  if (place?.isConnected && tools.node.parentNode !== place) place.replaceChildren(tools.node);
}

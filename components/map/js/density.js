// How densely points lie: lines of equal density (marching squares over a blurred count), as on a map of hills.

const CELLS = 96; // along each side
const BLUR = 2; // cells; three passes of a box come close to a Gaussian
const LINES = [0.06, 0.16, 0.32, 0.55, 0.8]; // of the highest density, on a scale of square roots
const FEWEST = 30; // points; fewer have no density

/** @import { Points } from "./view.js" */

/** @typedef {{left: number, top: number, cell: number}} Cells of the count, in map units */

/**
 * One path for each line, in map units; none for few points.
 *
 * @param {Points} points
 */
export function contours(points) {
  const { x, y, shown } = points;
  const box = bounds(points);
  if (box.count < FEWEST) return [];
  const counts = new Float32Array(CELLS * CELLS);
  for (let row = 0; row < x.length; row += 1) {
    if (shown[row])
      counts[Math.floor((y[row] - box.top) / box.cell) * CELLS + Math.floor((x[row] - box.left) / box.cell)] += 1;
  }
  let field = counts;
  for (let pass = 0; pass < 3; pass += 1) field = blurred(blurred(field, 1, CELLS), CELLS, 1);
  field = field.map(Math.sqrt);
  const highest = field.reduce((a, b) => Math.max(a, b), 0);
  return LINES.map((part) => line(field, part * highest, box));
}

/** @param {Points} points @returns {Cells & {count: number}} */
function bounds({ x, y, shown }) {
  let [left, right, top, bottom, count] = [Infinity, -Infinity, Infinity, -Infinity, 0];
  for (let row = 0; row < x.length; row += 1) {
    if (!shown[row]) continue;
    count += 1;
    left = Math.min(left, x[row]);
    right = Math.max(right, x[row]);
    top = Math.min(top, y[row]);
    bottom = Math.max(bottom, y[row]);
  }
  // A margin that the blur does not fill, so that lines are closed.
  const cell = (Math.max(right - left, bottom - top) || 1) / (CELLS - 8 * BLUR);
  const middle = (/** @type {number} */ a, /** @type {number} */ b) => (a + b) / 2 - (cell * CELLS) / 2;
  return { left: middle(left, right), top: middle(top, bottom), cell, count };
}

/**
 * Means over neighbouring cells along one direction: `step` to the next cell, `across` to the next row.
 *
 * @param {Float32Array} field
 * @param {number} step
 * @param {number} across
 */
function blurred(field, step, across) {
  const found = new Float32Array(field.length);
  for (let row = 0; row < CELLS; row += 1) {
    for (let at = 0; at < CELLS; at += 1) {
      let sum = 0;
      for (let near = Math.max(0, at - BLUR); near <= Math.min(CELLS - 1, at + BLUR); near += 1)
        sum += field[row * across + near * step];
      found[row * across + at * step] = sum / (2 * BLUR + 1);
    }
  }
  return found;
}

/** @param {Float32Array} field @param {number} level @param {Cells} cells */
function line(field, level, { left, top, cell }) {
  const path = new Path2D();
  for (let row = 0; row < CELLS - 1; row += 1) {
    for (let at = 0; at < CELLS - 1; at += 1) {
      const corners = [
        field[row * CELLS + at],
        field[row * CELLS + at + 1],
        field[(row + 1) * CELLS + at + 1],
        field[(row + 1) * CELLS + at],
      ];
      const cuts = [];
      for (let side = 0; side < 4; side += 1) {
        const [a, b] = [corners[side], corners[(side + 1) % 4]];
        if (a > level === b > level) continue;
        const part = (level - a) / (b - a);
        cuts.push(
          [
            [part, 0],
            [1, part],
            [1 - part, 1],
            [0, 1 - part],
          ][side],
        );
      }
      for (let cut = 0; cut + 1 < cuts.length; cut += 2) {
        path.moveTo(left + (at + 0.5 + cuts[cut][0]) * cell, top + (row + 0.5 + cuts[cut][1]) * cell);
        path.lineTo(left + (at + 0.5 + cuts[cut + 1][0]) * cell, top + (row + 0.5 + cuts[cut + 1][1]) * cell);
      }
    }
  }
  return path;
}

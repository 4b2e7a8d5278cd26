// The visible part of the map: its centre, and the scale in px per map unit.

/** @typedef {[x: number, y: number]} Position */
/** @typedef {Pick<View, "width" | "height">} Size in px */
/** @typedef {{x: Float32Array, y: Float32Array, shown: Uint8Array}} Points by row: NaN for none, 1 for shown */

const MARGIN = 1.12;
const SPOT = 1.5; // px
const QUICK = 260; // ms of a glide
const LEAST = 0.05; // map units; a smaller cluster is not enlarged to fill the view
const WIDEST = 1.7; // times as wide as it was computed

/**
 * How much wider these points are drawn, so that they fill a wide view: no axis has a unit.
 *
 * @param {ArrayLike<number>} points x, y, x, y, …
 * @param {Size} size
 */
export function stretchOf(points, { width, height }) {
  const [wide, high] = [0, 1].map((axis) => {
    let [least, most] = [Infinity, -Infinity];
    for (let at = axis; at < points.length; at += 2) {
      if (Number.isNaN(points[at])) continue; // gone
      least = Math.min(least, points[at]);
      most = Math.max(most, points[at]);
    }
    return most - least;
  });
  return wide > 0 && high > 0 && height > 0 ? Math.min(WIDEST, Math.max(1, (width * high) / (height * wide))) : 1;
}

export class View {
  x = 0;
  y = 0;
  scale = 1;
  wholeScale = 1;
  width = 0; // px, as the height
  height = 0;
  isWhole = false;

  /**
   * Shows everything.
   *
   * @param {ArrayLike<number>} xs
   * @param {ArrayLike<number>} ys
   */
  fit(xs, ys) {
    if (!xs.length || !this.width) return;
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let row = 0; row < xs.length; row += 1) {
      if (Number.isNaN(xs[row])) continue; // gone
      left = Math.min(left, xs[row]);
      right = Math.max(right, xs[row]);
      top = Math.min(top, ys[row]);
      bottom = Math.max(bottom, ys[row]);
    }
    this.x = (left + right) / 2;
    this.y = (top + bottom) / 2;
    const [wide, high] = [Math.max(right - left, LEAST), Math.max(bottom - top, LEAST)];
    this.scale = this.wholeScale = Math.min(this.width / wide, this.height / high) / MARGIN;
    this.isWhole = true; // until the user zooms or moves it
  }

  /** @param {number} factor by which to zoom around this position on the screen */
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const [mapX, mapY] = this.onMap([x, y]);
    this.scale = Math.min(1e6, Math.max(20, this.scale * factor));
    this.x = mapX - (x - this.width / 2) / this.scale;
    this.y = mapY - (y - this.height / 2) / this.scale;
    this.isWhole = false;
  }

  /** @param {number} x px to move on the screen @param {number} y */
  move(x, y) {
    this.x += x / this.scale;
    this.y += y / this.scale;
    this.isWhole = false;
  }

  /** @param {Position} position on the screen @returns {Position} on the map */
  onMap([x, y]) {
    return [this.x + (x - this.width / 2) / this.scale, this.y + (y - this.height / 2) / this.scale];
  }

  /** @param {number} x on the map @param {number} y @returns {Position} on the screen */
  onScreen(x, y) {
    return [(x - this.x) * this.scale + this.width / 2, (y - this.y) * this.scale + this.height / 2];
  }

  /**
   * Moves and zooms to a place within a moment, at once where less motion is wanted; `paint()` after each step.
   *
   * @param {Pick<View, "x" | "y" | "scale">} place
   * @param {() => void} paint
   */
  glide({ x, y, scale }, paint) {
    this.isWhole = false;
    const from = { x: this.x, y: this.y, zoom: Math.log(this.scale) };
    const began = matchMedia("(prefers-reduced-motion: reduce)").matches ? -Infinity : performance.now();
    const step = () => {
      const part = Math.min(1, (performance.now() - began) / QUICK);
      const eased = 1 - (1 - part) ** 3;
      this.x = from.x + (x - from.x) * eased;
      this.y = from.y + (y - from.y) * eased;
      this.scale = Math.exp(from.zoom + (Math.log(scale) - from.zoom) * eased);
      paint();
      if (part < 1) requestAnimationFrame(step);
    };
    step();
  }

  /**
   * The row nearest to a position on the screen, less than `reach` px away; -1 for none.
   *
   * @param {Points} points
   * @param {number} x
   * @param {number} y
   * @param {number} reach
   */
  nearest({ x: xs, y: ys, shown }, x, y, reach) {
    let [best, least] = [-1, reach * reach];
    for (let row = 0; row < xs.length; row += 1) {
      if (!shown[row]) continue;
      const dx = (xs[row] - this.x) * this.scale + this.width / 2 - x;
      const dy = (ys[row] - this.y) * this.scale + this.height / 2 - y;
      if (dx * dx + dy * dy < least) [best, least] = [row, dx * dx + dy * dy];
    }
    return best;
  }

  /**
   * The row nearest to another one in a direction on the screen; -1 for none.
   *
   * @param {Points} points
   * @param {number} own
   * @param {Position} direction
   */
  towards({ x: xs, y: ys, shown }, own, [right, down]) {
    let [best, least] = [-1, Infinity];
    for (let row = 0; row < xs.length; row += 1) {
      if (!shown[row] || row === own) continue;
      const [dx, dy] = [xs[row] - xs[own], ys[row] - ys[own]];
      const along = dx * right + dy * down;
      const aside = Math.abs(dx * down) + Math.abs(dy * right);
      if (along > 0 && aside <= 2 * along && along + 2 * aside < least) [best, least] = [row, along + 2 * aside];
    }
    return best;
  }

  /**
   * The number of other rows that are visually at the same spot as this one.
   *
   * @param {Points} points
   * @param {number} own
   */
  others({ x: xs, y: ys, shown }, own) {
    const reach = SPOT / this.scale;
    let found = -1;
    for (let row = 0; row < xs.length; row += 1)
      if (shown[row] && Math.abs(xs[row] - xs[own]) < reach && Math.abs(ys[row] - ys[own]) < reach) found += 1;
    return found;
  }
}

// The visible part of the map: its centre, and the scale in px per map unit.

const MARGIN = 1.12;
const SPOT = 1.5; // px
const QUICK = 260; // ms of a glide
const LEAST = 0.05; // map units; a smaller cluster is not enlarged to fill the view
const WIDEST = 1.7; // times as wide as it was computed

/** How much wider these points (x, y, x, y, …) are drawn, so that they fill a wide view: no axis has a unit. */
export function stretchOf(points, { width, height }) {
  const [wide, high] = [0, 1].map((axis) => {
    const own = points.filter((one, at) => at % 2 === axis && !Number.isNaN(one)); // those that are gone
    return (
      own.reduce((most, one) => Math.max(most, one), -Infinity) -
      own.reduce((least, one) => Math.min(least, one), Infinity)
    );
  });
  return wide > 0 && high > 0 && height > 0 ? Math.min(WIDEST, Math.max(1, (width * high) / (height * wide))) : 1;
}

export class View {
  constructor() {
    Object.assign(this, { x: 0, y: 0, scale: 1, wholeScale: 1, width: 0, height: 0, isWhole: false });
  }

  /** Shows everything. */
  fit(xs, ys) {
    if (!xs || !this.width) return;
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

  /** Zooms around this position on the screen. */
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const [mapX, mapY] = this.onMap([x, y]);
    this.scale = Math.min(1e6, Math.max(20, this.scale * factor));
    this.x = mapX - (x - this.width / 2) / this.scale;
    this.y = mapY - (y - this.height / 2) / this.scale;
    this.isWhole = false;
  }

  /** Moves by this many px on the screen. */
  move(x, y) {
    this.x += x / this.scale;
    this.y += y / this.scale;
    this.isWhole = false;
  }

  /** The map coordinates of a position on the screen. */
  onMap([x, y]) {
    return [this.x + (x - this.width / 2) / this.scale, this.y + (y - this.height / 2) / this.scale];
  }

  /** The position on the screen of map coordinates. */
  onScreen(x, y) {
    return [(x - this.x) * this.scale + this.width / 2, (y - this.y) * this.scale + this.height / 2];
  }

  /** Moves and zooms to a place within a moment, at once where less motion is wanted; `paint()` after each step. */
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

  /** The row nearest to a position on the screen, less than `reach` px away; -1 for none. */
  nearest(xs, ys, shown, x, y, reach) {
    let [best, least] = [-1, reach * reach];
    for (let row = 0; row < xs.length; row += 1) {
      if (!shown[row]) continue;
      const dx = (xs[row] - this.x) * this.scale + this.width / 2 - x;
      const dy = (ys[row] - this.y) * this.scale + this.height / 2 - y;
      if (dx * dx + dy * dy < least) [best, least] = [row, dx * dx + dy * dy];
    }
    return best;
  }

  /** The row nearest to another one in a direction on the screen; -1 for none. */
  towards(xs, ys, shown, own, [right, down]) {
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

  /** The number of other rows that are visually at the same spot as this one. */
  others(xs, ys, shown, own) {
    const reach = SPOT / this.scale;
    let found = -1;
    for (let row = 0; row < xs.length; row += 1)
      if (shown[row] && Math.abs(xs[row] - xs[own]) < reach && Math.abs(ys[row] - ys[own]) < reach) found += 1;
    return found;
  }
}

// Which points are shown as pictures at which zoom: as many as fit without overlap, more as one zooms in.

/** @import { Atlas } from "./main.js" */
/** @import { Points } from "./view.js" */

/**
 * A part of an image; what comes from a sheet has round corners already.
 *
 * @typedef {{source: CanvasImageSource, x: number, y: number, wide: number, high: number, isRound: boolean}} Picture
 */

const STEP = 1.26; // between the spacings of two levels
const LEVELS = 44;
const SLICE = 6; // ms of work between two frames
const FULL = 0.96; // of the points have a picture: from here on pictures may grow

export const LARGE = 66; // px of a picture from which the small one is not sharp enough
const SMALL = { many: 34, few: 50 }; // px of a picture among many coins, and among few
const FEW = 1000; // coins; of so few, pictures may overlap: each is worth more than the order
const APART = { few: 0.62, many: 0.98 }; // of their side, how far pictures are from each other at least
const LARGEST = 116; // px of a picture
const SPRITE = 64; // px of a small picture
const PHONE = 0.8; // of the size, on a narrow screen

/** The order in which points get pictures; a point that has one keeps it at every closer zoom. */
export class Detail {
  /** @type {Points["x"] | null} the positions that this is about */
  x = null;
  order = new Int32Array(0);
  /** @type {number[]} for each level how many points it has … */
  ends = [];
  /** @type {number[]} … and how far they are apart */
  spacings = [];
  full = 0; // the spacing from which on almost all points have a picture
  /** @type {Generator<undefined> | null} */
  running = null;

  /**
   * Begins with these positions, of which those of `shown` count; `work` goes on with it.
   *
   * @param {Points} points
   */
  reset(points) {
    this.x = points.x;
    this.order = new Int32Array(0);
    this.ends = [];
    this.spacings = [];
    this.full = 0;
    this.running = this.levels(points);
  }

  /** Works for some milliseconds; returns whether there was anything to do, so that more may fit now. */
  work() {
    const hadWork = Boolean(this.running);
    const until = performance.now() + SLICE;
    while (this.running && performance.now() < until) if (this.running.next().done) this.running = null;
    return hadWork;
  }

  /**
   * The number of points at the start of `order` that are at least `apart` map units from each other.
   *
   * @param {number} apart
   */
  fitting(apart) {
    let count = 0;
    for (let level = 0; level < this.ends.length && this.spacings[level] >= apart; level += 1) count = this.ends[level];
    return count;
  }

  /** @param {Points} points @returns {Generator<undefined>} */
  *levels({ x, y, shown }) {
    /** @type {number[]} */
    let rows = [];
    for (let row = 0; row < x.length; row += 1) if (shown[row]) rows.push(row);
    rows.sort((a, b) => mixed(a) - mixed(b)); // no corner of the library first
    const total = rows.length;
    const order = new Int32Array(total);
    const size = 2 ** Math.ceil(Math.log2(2 * total + 2));
    let [apart, count] = [2.5, 0];
    for (let level = 0; level < LEVELS && rows.length; level += 1, apart /= STEP) {
      const cells = new Cells(size, x, y, apart);
      for (let at = 0; at < count; at += 1) cells.add(order[at]);
      const left = [];
      for (let at = 0; at < rows.length; at += 1) {
        if (at % 4096 === 4095) yield;
        if (cells.isFree(rows[at])) {
          cells.add(rows[at]);
          order[count++] = rows[at];
        } else left.push(rows[at]);
      }
      rows = left;
      this.order = order;
      this.ends.push(count);
      this.spacings.push(apart);
      if (!this.full && count >= FULL * total) this.full = apart;
      yield;
    }
  }
}

/** Cells as wide as the spacing: each holds one point at most, and what is too close is in the nine around. */
class Cells {
  /** @param {number} size @param {Points["x"]} x @param {Points["y"]} y @param {number} apart */
  constructor(size, x, y, apart) {
    this.x = x;
    this.y = y;
    this.apart = apart;
    this.mask = size - 1;
    this.rows = new Int32Array(size).fill(-1);
  }

  /** @param {number} cx @param {number} cy */
  slot(cx, cy) {
    let slot = (Math.imul(cx, 73856093) ^ Math.imul(cy, 19349663)) & this.mask;
    for (let row = this.rows[slot]; row >= 0; row = this.rows[slot]) {
      if (Math.floor(this.x[row] / this.apart) === cx && Math.floor(this.y[row] / this.apart) === cy) break;
      slot = (slot + 1) & this.mask;
    }
    return slot;
  }

  /** @param {number} row */
  add(row) {
    this.rows[this.slot(Math.floor(this.x[row] / this.apart), Math.floor(this.y[row] / this.apart))] = row;
  }

  /** @param {number} row */
  isFree(row) {
    const [cx, cy] = [Math.floor(this.x[row] / this.apart), Math.floor(this.y[row] / this.apart)];
    for (let dx = -1; dx <= 1; dx += 1) {
      for (let dy = -1; dy <= 1; dy += 1) {
        const other = this.rows[this.slot(cx + dx, cy + dy)];
        if (
          other >= 0 &&
          Math.abs(this.x[other] - this.x[row]) < this.apart &&
          Math.abs(this.y[other] - this.y[row]) < this.apart
        )
          return false;
      }
    }
    return true;
  }
}

/**
 * A number that orders rows as if shuffled, the same each time.
 *
 * @param {number} row
 */
function mixed(row) {
  return Math.imul(row + 1, 0x9e3779b1) >>> 0;
}

/**
 * The points of a map in view that are shown as pictures, and the side of these in px.
 *
 * @param {Atlas} atlas
 */
export function pictured({ detail, view, x, y, shown, count: coins }) {
  const [usual, apart] = coins < FEW ? [SMALL.few, APART.few] : [SMALL.many, APART.many];
  const least = view.width < 600 ? usual * PHONE : usual;
  const side = Math.max(least, Math.min(LARGEST, (detail.full * view.scale) / apart));
  const count = detail.fitting((side * apart) / view.scale);
  const [wide, high] = [(view.width + side) / 2 / view.scale, (view.height + side) / 2 / view.scale];
  const rows = [];
  for (let at = 0; at < count; at += 1) {
    const row = detail.order[at];
    if (shown[row] && Math.abs(x[row] - view.x) < wide && Math.abs(y[row] - view.y) < high) rows.push(row);
  }
  return { rows, side };
}

/**
 * What is drawn of a point: its large picture if it is wide enough for that, else the small one, null before it came.
 *
 * @param {Atlas} atlas
 * @param {number} row
 * @returns {Picture | null}
 */
export function pictureOf({ side, images, cards, sprites }, row) {
  const image = side > LARGE ? images.get(cards[row]?.picture ?? "") : undefined;
  if (image?.complete && image.naturalWidth)
    return { source: image, x: 0, y: 0, wide: image.naturalWidth, high: image.naturalHeight, isRound: false };
  const place = sprites.at(row);
  if (!place) return null;
  return { source: place.sheet.bitmap, x: place.x, y: place.y, wide: SPRITE, high: SPRITE, isRound: true };
}

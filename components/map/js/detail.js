// Which points are shown as pictures at which zoom: as many as fit without overlap, more as one zooms in.

const STEP = 1.26; // between the spacings of two levels
const LEVELS = 44;
const SLICE = 6; // ms of work between two frames
const FULL = 0.96; // of the points have a picture: from here on pictures may grow

/** The order in which points get pictures; a point that has one keeps it at every closer zoom. */
export class Detail {
  constructor() {
    this.reset(null, null, null);
  }

  /** Begins with these positions, of which those of `shown` count; `work` goes on with it. */
  reset(x, y, shown) {
    Object.assign(this, { x, y, order: new Int32Array(0), ends: [], spacings: [], full: 0, running: null });
    if (x) this.running = this.levels(shown);
  }

  /** Works for some milliseconds; returns whether there was anything to do, so that more may fit now. */
  work() {
    const hadWork = Boolean(this.running);
    const until = performance.now() + SLICE;
    while (this.running && performance.now() < until) if (this.running.next().done) this.running = null;
    return hadWork;
  }

  /** The number of points at the start of `order` that are at least `apart` map units from each other. */
  fitting(apart) {
    let count = 0;
    for (let level = 0; level < this.ends.length && this.spacings[level] >= apart; level += 1) count = this.ends[level];
    return count;
  }

  *levels(shown) {
    const { x, y } = this;
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
  constructor(size, x, y, apart) {
    Object.assign(this, { x, y, apart, mask: size - 1, rows: new Int32Array(size).fill(-1) });
  }

  slot(cx, cy) {
    let slot = (Math.imul(cx, 73856093) ^ Math.imul(cy, 19349663)) & this.mask;
    for (let row = this.rows[slot]; row >= 0; row = this.rows[slot]) {
      if (Math.floor(this.x[row] / this.apart) === cx && Math.floor(this.y[row] / this.apart) === cy) break;
      slot = (slot + 1) & this.mask;
    }
    return slot;
  }

  add(row) {
    this.rows[this.slot(Math.floor(this.x[row] / this.apart), Math.floor(this.y[row] / this.apart))] = row;
  }

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

/** A number that orders rows as if shuffled, the same each time. */
function mixed(row) {
  return Math.imul(row + 1, 0x9e3779b1) >>> 0;
}

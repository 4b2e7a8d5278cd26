// The selected coins: by a lasso, by all that is in view, or one by keyboard and click.

import { button } from "../../grid/js/dom.js";

/** @import { Atlas } from "./main.js" */
/** @import { Position } from "./view.js" */

export class Selection {
  isDrawing = false;
  restored = ""; // bits of the server, used when the points have arrived
  /** @type {Uint8Array | null} 1 for each selected row; also removed ones, which may return … */
  kept = null;
  /** @type {Uint8Array | null} … and null if no other is */
  chosen = null;
  count = 0;

  /**
   * `tell` carries the value "chosen" to the server.
   *
   * @param {Atlas} atlas
   * @param {(name: string, value: unknown) => void} tell
   */
  constructor(atlas, tell) {
    this.atlas = atlas;
    this.tell = tell;
    this.draws = button("", "Lasso", () => this.draw(!this.isDrawing), { "aria-pressed": "false" });
    this.whatIsVisible = button("", "Select visible", () => this.chooseInView());
    this.clear = button("", "Clear", () => this.choose(null), { hidden: true });
  }

  /** @param {string} bits what the server knows, for another map */
  reset(bits) {
    this.hold(null);
    this.restored = bits;
  }

  /** @param {number} length of the points, for which there is room, and what was restored is selected */
  grow(length) {
    if (this.kept) this.kept = longer(this.kept, new Uint8Array(length));
    if (this.restored) [this.kept, this.restored] = [fromBits(this.restored, length), ""];
  }

  /** @param {boolean} on */
  draw(on) {
    this.isDrawing = on;
    this.draws.setAttribute("aria-pressed", String(on));
    this.atlas.root.classList.toggle("lasso", on);
  }

  /** @param {Uint8Array | null} inside 1 or 0 for each row, of which the visible ones are selected; null: none */
  choose(inside) {
    const { atlas } = this;
    this.hold(inside?.map((one, row) => one & atlas.shown[row]) ?? null);
    this.draw(false);
    if (!this.chosen) this.kept = null;
    this.tell("chosen", { sheet: atlas.sheet, bits: this.chosen ? asBits(this.chosen) : "" });
    atlas.soon();
  }

  /** @param {number} row */
  chooseOne(row) {
    this.choose(Uint8Array.from(this.atlas.x, (_, other) => Number(other === row)));
  }

  /** Selects like a lasso around the whole canvas, for use without a pointer. */
  chooseInView() {
    const { width, height } = this.atlas.view;
    this.chooseInside([
      [0, 0],
      [width, 0],
      [width, height],
      [0, height],
    ]);
  }

  /** @param {Position[]} path on the canvas, inside of which the points are selected */
  chooseInside(path) {
    const { view, x, y } = this.atlas;
    const corners = path.map((place) => view.onMap(place));
    this.choose(within(corners, x, y));
  }

  /** Removed points are not selected, but are selected again when they return. */
  hold(inside = this.kept) {
    const { x } = this.atlas;
    this.kept = inside;
    this.count = inside ? inside.reduce((sum, one, row) => sum + (Number.isNaN(x[row]) ? 0 : one), 0) : 0;
    this.chosen = this.count ? inside : null;
    this.clear.hidden = !this.chosen;
  }
}

/**
 * 1 for each point inside these corners, by counting the crossings of a line from the point to the side.
 *
 * @param {Position[]} corners
 * @param {ArrayLike<number>} xs
 * @param {ArrayLike<number>} ys
 */
export function within(corners, xs, ys) {
  const inside = new Uint8Array(xs.length);
  const across = corners.map(([x]) => x);
  const [low, high] = [Math.min(...across), Math.max(...across)];
  for (let row = 0; row < inside.length; row += 1) {
    const [x, y] = [xs[row], ys[row]];
    if (x < low || x > high) continue;
    for (let a = 0, b = corners.length - 1; a < corners.length; b = a, a += 1) {
      const [[ax, ay], [bx, by]] = [corners[a], corners[b]];
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside[row] ^= 1;
    }
  }
  return inside;
}

/** @param {Uint8Array} inside @returns one bit for each point, as base64 */
export function asBits(inside) {
  const bits = new Uint8Array(Math.ceil(inside.length / 8));
  inside.forEach((one, row) => {
    if (one) bits[row >> 3] |= 128 >> (row & 7);
  });
  let signs = "";
  for (let start = 0; start < bits.length; start += 8192)
    signs += String.fromCharCode(...bits.subarray(start, start + 8192));
  return btoa(signs);
}

/** @param {string} text such bits @param {number} length of the points */
export function fromBits(text, length) {
  const bits = fromBase64(text);
  return Uint8Array.from({ length }, (_, row) => (bits[row >> 3] >> (7 - (row & 7))) & 1);
}

/** @param {string} text in base64 @returns its bytes */
export function fromBase64(text) {
  return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
}

/**
 * Copies the old values to the start of a longer array.
 *
 * @template {Uint8Array | Uint32Array | Float32Array} Values
 * @param {Values} old
 * @param {Values} array
 */
export function longer(old, array) {
  array.set(old);
  return array;
}

// The coin under the pointer, or the one that the arrow keys are on, with its card.

import { Card } from "./card.js";

const NEAR = 14; // px around the pointer
const CLOSER = { once: 2, least: 3 }; // how much a click on a name zooms; the second: than the whole map

export class Cursor {
  constructor(atlas) {
    this.atlas = atlas;
    this.card = new Card();
    this.reset();
  }

  reset() {
    Object.assign(this, { row: -1, isWalking: false, pointer: null });
    this.card.hide();
  }

  /** After cards of these rows came, or points. */
  refresh(rows) {
    if (rows.includes(this.row)) this.look(this.row);
    else if (this.pointer && !this.atlas.drag) this.hover(...this.pointer); // the point below it may be new
  }

  /** The row at a position; -1 for none. */
  at(x, y) {
    const { atlas } = this;
    return atlas.shown ? atlas.view.nearest(atlas.x, atlas.y, atlas.shown, x, y, Math.max(NEAR, atlas.side * 0.6)) : -1;
  }

  hover(x, y) {
    this.pointer = [x, y];
    this.atlas.canvas.classList.toggle(
      "over",
      this.atlas.boxes.some((box) => holds(box, x, y)),
    );
    if (!this.isWalking) this.look(this.at(x, y));
  }

  leave() {
    this.pointer = null;
    if (!this.isWalking) this.look(-1);
  }

  /** Shows the card of a point; of none for -1. */
  look(row) {
    const { x, y, shown, view, cards } = this.atlas;
    this.row = row;
    const card = cards[row];
    if (row >= 0 && card === undefined) this.atlas.ask([row]);
    if (!card) return this.card.hide();
    this.card.show(card, view.onScreen(x[row], y[row]), view, view.others(x, y, shown, row));
  }

  /** Selects the coin at a position, or goes to the place whose name is there. */
  click(x, y) {
    const { view, boxes } = this.atlas;
    const box = boxes.find((one) => holds(one, x, y));
    if (box) {
      const scale = Math.max(view.scale * CLOSER.once, view.wholeScale * CLOSER.least);
      return view.glide({ x: box.place.x, y: box.place.y, scale }, () => this.atlas.soon());
    }
    const row = this.at(x, y);
    if (row < 0) return;
    const wasBlurred = this.atlas.unblur(row);
    this.look(row);
    if (!wasBlurred) this.atlas.selection.chooseOne(row);
  }

  /** Begins to go from coin to coin by keys, or selects the current one; ends with `false`. */
  walk(on) {
    const { atlas } = this;
    if (on && this.isWalking && this.row >= 0) atlas.selection.chooseOne(this.row);
    else if (on && atlas.shown) {
      this.isWalking = true;
      this.look(
        atlas.view.nearest(atlas.x, atlas.y, atlas.shown, atlas.view.width / 2, atlas.view.height / 2, Infinity),
      );
    } else if (this.isWalking) {
      this.isWalking = false;
      this.look(-1);
    }
    atlas.soon();
  }

  /** Goes to the next coin in a direction, which stays in view. */
  step(...direction) {
    const { x, y, shown, view } = this.atlas;
    const next = view.towards(x, y, shown, this.row, direction);
    if (next < 0) return;
    const [px, py] = view.onScreen(x[next], y[next]);
    view.move(outside(px, view.width), outside(py, view.height));
    this.look(next);
  }
}

function holds({ left: from, right, top, bottom }, x, y) {
  return x >= from && x <= right && y >= top && y <= bottom;
}

/** How far a position is outside of the middle of so many px. */
function outside(at, size) {
  const margin = size / 6;
  return Math.max(0, at - size + margin) + Math.min(0, at - margin);
}

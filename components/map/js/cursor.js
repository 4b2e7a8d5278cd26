// The coin under the pointer, or the one that the arrow keys are on, with its card.

import { el } from "../../shell/js/elements.js";

/** @import { Atlas, MapCard } from "./main.js" */
/** @import { Name } from "./painting.js" */
/** @import { Position, View } from "./view.js" */

const NEAR = 14; // px around the pointer
const CLOSER = { once: 2, least: 3 }; // how much a click on a name zooms; the second: than the whole map

const CARD = 272; // px, as in canvas.css
const BESIDE = 18; // px from the point
const TAGS = 6;

export class Cursor {
  card = new Card();
  row = -1;
  isWalking = false;
  /** @type {Position | null} */
  pointer = null;

  /** @param {Atlas} atlas */
  constructor(atlas) {
    this.atlas = atlas;
  }

  reset() {
    this.row = -1;
    this.isWalking = false;
    this.pointer = null;
    this.card.hide();
  }

  /** @param {number[]} rows whose cards came, or points */
  refresh(rows) {
    if (rows.includes(this.row)) this.look(this.row);
    else if (this.pointer && !this.atlas.drag) this.hover(...this.pointer); // the point below it may be new
  }

  /**
   * The row at a position; -1 for none.
   *
   * @param {number} x
   * @param {number} y
   */
  at(x, y, reach = Math.max(NEAR, this.atlas.side * 0.6)) {
    return this.atlas.view.nearest(this.atlas, x, y, reach);
  }

  /** @param {number} x @param {number} y */
  hover(x, y) {
    this.pointer = [x, y];
    const isOverName = this.atlas.boxes.some((box) => holds(box, x, y));
    this.atlas.canvas.classList.toggle("over", isOverName);
    if (!this.isWalking) this.look(this.at(x, y));
  }

  leave() {
    this.pointer = null;
    if (!this.isWalking) this.look(-1);
  }

  /** @param {number} row whose card is shown; none for -1 */
  look(row) {
    const { x, y, view, cards } = this.atlas;
    this.row = row;
    const card = cards[row];
    if (row >= 0 && card === undefined) this.atlas.ask([row]);
    if (!card) return this.card.hide();
    this.card.show(card, view.onScreen(x[row], y[row]), view, view.others(this.atlas, row));
  }

  /**
   * Selects the coin at a position, or goes to the place whose name is there.
   *
   * @param {number} x
   * @param {number} y
   */
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

  /**
   * Begins to go from coin to coin by keys, or selects the current one; ends with `false`.
   *
   * @param {boolean} on
   */
  walk(on) {
    const { atlas } = this;
    if (on && this.isWalking && this.row >= 0) atlas.selection.chooseOne(this.row);
    else if (on && atlas.shown.length) {
      this.isWalking = true;
      this.look(this.at(atlas.view.width / 2, atlas.view.height / 2, Infinity));
    } else if (this.isWalking) {
      this.isWalking = false;
      this.look(-1);
    }
    atlas.soon();
  }

  /** @param {Position} direction in which to go to the next coin, which stays in view */
  step(direction) {
    const { x, y, view } = this.atlas;
    const next = view.towards(this.atlas, this.row, direction);
    if (next < 0) return;
    const [px, py] = view.onScreen(x[next], y[next]);
    view.move(outside(px, view.width), outside(py, view.height));
    this.look(next);
  }
}

/** @param {Name} box @param {number} x @param {number} y */
function holds({ left: from, right, top, bottom }, x, y) {
  return x >= from && x <= right && y >= top && y <= bottom;
}

/**
 * How far a position is outside of the middle of so many px.
 *
 * @param {number} at
 * @param {number} size
 */
function outside(at, size) {
  const margin = size / 6;
  return Math.max(0, at - size + margin) + Math.min(0, at - margin);
}

/** The card of a coin: its picture large, with what is written about it. */
class Card {
  key = "";
  root = el("div", { class: "near", hidden: true, "aria-live": "polite" });

  /**
   * Shows a coin next to a position; `others` are at the same place.
   *
   * @param {MapCard} card
   * @param {Position} position
   * @param {View} view
   * @param {number} others
   */
  show({ name, ticker, captions, tags, picture }, [x, y], { width, height }, others) {
    const key = `${picture} ${name} ${others}`;
    if (this.key !== key) {
      this.key = key;
      this.root.replaceChildren(
        el("img", { alt: "", src: picture }),
        el("b", {}, name, " ", el("span", {}, ticker)),
        ...captions.slice(0, 2).map((text) => el("p", {}, text)),
        el("div", { class: "tags" }, ...tags.slice(0, TAGS).map((tag) => el("i", {}, tag))),
        ...(others ? [el("small", {}, `and ${others.toLocaleString("en")} more at this place`)] : []),
      );
    }
    this.root.hidden = false;
    const high = this.root.offsetHeight;
    const left = x + BESIDE + CARD < width ? x + BESIDE : Math.max(4, x - BESIDE - CARD);
    this.root.style.left = `${left}px`;
    this.root.style.top = `${Math.max(4, Math.min(y - high / 3, height - high - 4))}px`;
  }

  hide() {
    this.root.hidden = true;
  }
}

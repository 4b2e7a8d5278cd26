// The cards: one node for each address while it is on the page; nodes are moved, not created again.

import { setAttribute, setText } from "../../shell/js/elements.js";
import { bar } from "./bars.js";
import { dress, make } from "./card.js";

const GAP = 10; // px, as in the style
const PADDING = 4;
const MOTION = { duration: 190, easing: "cubic-bezier(.2,.7,.2,1)" };
const BARS = 80; // ms between redraws of all bars while a slider is dragged: they take a third of each frame's work
const CALM = 220; // ms; changes that follow faster than this are not animated

export class Cards {
  constructor(container) {
    this.container = container;
    this.nodes = new Map();
    this.changedAt = 0;
    this.places = new Map(); // address → its last index in the order
  }

  /** Shows these addresses in this order; `model` holds their cards. */
  show(model, { glide = true, scores = null } = {}) {
    if (this.isMoved) this.settle();
    const calm = performance.now() - this.changedAt > CALM;
    const glides = glide && calm && canGlide();
    const shape = glides ? this.shape() : null;
    const sight = glides ? this.inSight(shape.pitch) : null;
    const wanted = new Set(model.visible);
    let changed = false;
    for (const [address, node] of this.nodes) {
      if (wanted.has(address)) continue;
      node.remove();
      this.nodes.delete(address);
      changed = true;
    }
    let previous = null;
    model.visible.forEach((address, index) => {
      let node = this.nodes.get(address);
      if (!node) {
        node = make();
        this.nodes.set(address, node);
      }
      dress(node, model.card(address), { scores, index });
      const there = previous ? previous.nextElementSibling : this.container.firstElementChild;
      if (there !== node) {
        this.container.insertBefore(node, there);
        changed = true;
      }
      previous = node;
    });
    if (changed) this.changedAt = performance.now();
    if (glides && changed) this.glide(this.places, model.visible, shape, sight);
    if (changed) this.places = new Map(model.visible.map((address, index) => [address, index]));
  }

  /**
   * The same while a slider is dragged: a card keeps its place in the document and is only drawn elsewhere, so that
   * no new layout is needed, and cards out of sight wait. `show` reorders the document when the slider rests.
   */
  move(model, { scores }) {
    const shape = this.shape();
    const [first, last] = this.inSight(shape.pitch);
    const glides = performance.now() - this.changedAt > CALM && canGlide();
    const row = (place) => Math.floor(place / shape.columns);
    const dressed = [];
    let changed = !this.isMoved;
    this.isMoved = true;
    this.exchange(model);
    model.visible.forEach((address, index) => {
      const node = this.nodes.get(address);
      const was = this.places.get(address) ?? index;
      const isFar = Math.max(row(index), row(was)) < first || Math.min(row(index), row(was)) > last;
      if (isFar && node.dataset.address === address) return;
      dress(node, model.card(address), { scores: { ...scores, barsLater: true }, index });
      dressed.push(node);
      const to = shift(node.slot, index, shape);
      this.places.set(address, index);
      if (node.shift === to) return;
      changed = true;
      node.gliding?.cancel();
      node.style.transform = node.shift = to;
      if (glides && was !== index)
        node.gliding = node.animate([{ transform: shift(node.slot, was, shape) }, { transform: to }], MOTION);
    });
    if (changed) this.changedAt = performance.now();
    this.barless = { dressed, top: scores.top };
    this.drawing ??= setTimeout(() => this.drawBars(), BARS);
  }

  /** Updates the bars of the cards that the last movement changed. */
  drawBars() {
    this.drawing = null;
    const { dressed, top } = this.barless;
    if (this.isMoved) dressed.forEach((node) => bar(node, top));
  }

  /** Reuses the nodes of removed cards for new ones, in place. */
  exchange(model) {
    const wanted = new Set(model.visible);
    const leaving = [...this.nodes].filter(([address]) => !wanted.has(address));
    for (const address of model.visible) {
      if (this.nodes.has(address)) continue;
      const [gone, free] = leaving.pop() ?? [];
      const node = free ?? make();
      if (free) this.forget(gone);
      else this.container.append(node);
      this.nodes.set(address, node);
    }
    for (const [address, node] of leaving) {
      node.remove();
      this.forget(address);
    }
    [...this.container.children].forEach((node, slot) => (node.slot = slot));
  }

  forget(address) {
    this.nodes.delete(address);
    this.places.delete(address);
  }

  /** Draws every card at its place in the document. */
  settle() {
    for (const node of this.nodes.values()) {
      node.gliding?.cancel();
      node.style.transform = node.shift = "";
    }
    this.isMoved = false;
  }

  /** Updates cursor, selection, refusals and waiting marks, and nothing else. */
  mark(model, columns) {
    model.visible.forEach((address, index) => {
      const node = this.nodes.get(address);
      const at = address === model.cursor;
      const chosen = model.isChosen(address);
      node.classList.toggle("at", at);
      node.classList.toggle("chosen", chosen);
      node.classList.toggle("waiting", Boolean(model.waiting?.has(address)));
      node.tabIndex = at ? 0 : -1;
      setAttribute(node, "aria-selected", String(chosen));
      setAttribute(node.parts.pick, "aria-checked", String(chosen));
      setAttribute(node, "aria-rowindex", String(Math.floor(index / columns) + 1));
      setAttribute(node, "aria-colindex", String((index % columns) + 1));
      const reason = model.refused.get(address);
      node.classList.toggle("refused", Boolean(reason));
      setText(node.parts.reason, reason ?? "");
    });
  }

  /** The number of columns and the spacing of cards; measured once for each size of the page. */
  shape() {
    if (!this.measured) {
      const columns = getComputedStyle(this.container).gridTemplateColumns.split(" ").length;
      this.measured = { columns, pitch: (this.container.clientWidth - 2 * PADDING + GAP) / columns };
    }
    return this.measured;
  }

  /** The rows of the grid that are in the window. */
  inSight(pitch) {
    // Users do not scroll while dragging a slider; measuring each time would force a layout during the change.
    if (this.sight && performance.now() - this.sightAt < 300) return this.sight;
    this.sightAt = performance.now();
    const from = -this.container.getBoundingClientRect().top;
    this.sight = [from / pitch - 2, (from + window.innerHeight) / pitch + 1];
    return this.sight;
  }

  /**
   * First, last, invert, play: each visible card glides from its old position. Positions follow from the order, since
   * all cards have one size: reading them from the page would force a layout during the change.
   */
  glide(before, after, shape, [first, last]) {
    after.forEach((address, index) => {
      const was = before.get(address);
      if (was === undefined || was === index) return;
      const rows = [was, index].map((place) => Math.floor(place / shape.columns));
      if (Math.max(...rows) < first || Math.min(...rows) > last) return;
      this.nodes.get(address).animate([{ transform: shift(index, was, shape) }, { transform: "none" }], MOTION);
    });
  }
}

/** The transform that draws a card at another place. */
function shift(from, to, { columns, pitch }) {
  const x = Math.round(((to % columns) - (from % columns)) * pitch);
  const y = Math.round((Math.floor(to / columns) - Math.floor(from / columns)) * pitch);
  return `translate(${x}px, ${y}px)`;
}

function canGlide() {
  return !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

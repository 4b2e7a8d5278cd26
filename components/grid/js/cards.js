// The cards: one node for each address while it is on the page, filled with the coin it shows; nodes are moved, not
// created again.

import { el, setAttribute, setHidden, setText } from "../../shell/js/elements.js";
import { bar, standing } from "./bars.js";
import { ageOf, icon } from "./dom.js";

/** @import { Attributes, Child } from "../../shell/js/elements.js" */
/** @import { Card, Model } from "./model.js" */
/** @import { Hit } from "./rank.js" */
/** @import { Scores } from "./ranking.js" */

/**
 * How many cards are in a row, and px from one to the next and from one row to the next.
 *
 * @typedef {{columns: number, pitch: number, rowPitch: number}} Shape
 */
/** @typedef {[first: number, last: number]} Sight rows */

const GAP = 10; // px, as in the style
const MOTION = { duration: 190, easing: "cubic-bezier(.2,.7,.2,1)" };
const BARS = 80; // ms between redraws of all bars while a slider is dragged: they take a third of each frame's work
const CALM = 220; // ms; changes that follow faster than this are not animated

export class Cards {
  /** @type {Map<string, CardNode>} by address */
  nodes = new Map();
  /** @type {Map<string, number>} address → its last index in the order */
  places = new Map();
  changedAt = 0;
  isMoved = false; // whether cards are drawn elsewhere than at their places in the document
  /** @type {Shape | null} */
  measured = null;
  /** @type {Sight | null} */
  sight = null;
  sightAt = 0;
  drawing = 0;
  /** Buttons over the card under the cursor. They are only drawn elsewhere, so that a step needs no layout. */
  quick = el("span", { class: "quick", "aria-hidden": "true" });
  /** @type {{dressed: CardNode[], top: number}} cards whose bars are drawn later */
  barless = { dressed: [], top: 0 };

  /** @param {HTMLElement} container */
  constructor(container) {
    this.container = container;
  }

  /**
   * The card that this element is a part of.
   *
   * @param {EventTarget | null} target
   */
  at(target) {
    const found = target instanceof Element ? target.closest(".card") : null;
    return found instanceof HTMLElement ? this.nodes.get(found.dataset.address ?? "") : undefined;
  }

  /**
   * Shows these addresses in this order; `model` holds their cards.
   *
   * @param {Model} model
   * @param {{glide?: boolean, scores?: Scores | null}} how
   */
  show(model, { glide = true, scores = null } = {}) {
    if (this.isMoved) this.settle();
    const calm = performance.now() - this.changedAt > CALM;
    const glides = glide && calm && canGlide() ? this.shape() : null;
    const sight = glides && this.inSight(glides.rowPitch);
    const wanted = new Set(model.visible);
    let changed = false;
    for (const [address, node] of this.nodes) {
      if (wanted.has(address)) continue;
      node.remove();
      this.nodes.delete(address);
      changed = true;
    }
    let there = this.container.firstElementChild;
    model.shown.forEach((card, index) => {
      const node = this.nodes.get(card.address) ?? make();
      this.nodes.set(card.address, node);
      dress(node, card, { scores, index });
      if (there !== node) {
        this.container.insertBefore(node, there);
        changed = true;
      }
      there = node.nextElementSibling;
    });
    if (changed) this.changedAt = performance.now();
    if (glides && sight && changed) this.glide(this.places, model.visible, glides, sight);
    if (changed) this.places = new Map(model.visible.map((address, index) => [address, index]));
  }

  /**
   * The same while a slider is dragged: a card keeps its place in the document and is only drawn elsewhere, so that
   * no new layout is needed, and cards out of sight wait. `show` reorders the document when the slider rests.
   *
   * @param {Model} model
   * @param {Scores} scores
   */
  move(model, scores) {
    const shape = this.shape();
    const [first, last] = this.inSight(shape.rowPitch);
    const glides = performance.now() - this.changedAt > CALM && canGlide();
    const row = (/** @type {number} */ place) => Math.floor(place / shape.columns);
    /** @type {CardNode[]} */
    const dressed = [];
    let changed = !this.isMoved;
    this.isMoved = true;
    this.exchange(model);
    model.shown.forEach((card, index) => {
      const { address } = card;
      const node = this.nodes.get(address);
      const was = this.places.get(address) ?? index;
      const isFar = Math.max(row(index), row(was)) < first || Math.min(row(index), row(was)) > last;
      if (!node || (isFar && node.dataset.address === address)) return;
      dress(node, card, { scores: { ...scores, barsLater: true }, index });
      dressed.push(node);
      const to = shift(node.home, index, shape);
      this.places.set(address, index);
      if (node.shift === to) return;
      changed = true;
      node.gliding?.cancel();
      node.style.transform = node.shift = to;
      if (glides && was !== index)
        node.gliding = node.animate([{ transform: shift(node.home, was, shape) }, { transform: to }], MOTION);
    });
    if (changed) this.changedAt = performance.now();
    this.barless = { dressed, top: scores.top };
    this.drawing ||= setTimeout(() => this.drawBars(), BARS);
  }

  /** Updates the bars of the cards that the last movement changed. */
  drawBars() {
    this.drawing = 0;
    const { dressed, top } = this.barless;
    if (this.isMoved) dressed.forEach((node) => bar(node, top));
  }

  /**
   * Reuses the nodes of removed cards for new ones, in place.
   *
   * @param {Model} model
   */
  exchange(model) {
    const wanted = new Set(model.visible);
    const leaving = [...this.nodes].filter(([address]) => !wanted.has(address));
    for (const address of model.visible) {
      if (this.nodes.has(address)) continue;
      const [gone, node] = leaving.pop() ?? ["", make()];
      if (gone) this.forget(gone);
      else this.container.append(node);
      this.nodes.set(address, node);
    }
    for (const [address, node] of leaving) {
      node.remove();
      this.forget(address);
    }
    /** @type {Map<Element, number>} */
    const slots = new Map();
    [...this.container.children].forEach((node, slot) => slots.set(node, slot));
    for (const node of this.nodes.values()) node.home = slots.get(node) ?? 0;
  }

  /** @param {string} address */
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

  /**
   * Updates cursor, selection, refusals and waiting marks, and nothing else.
   *
   * @param {Model} model
   */
  mark(model) {
    const { columns, pitch } = this.shape();
    const cursor = model.visible.indexOf(model.cursor ?? "");
    setHidden(this.quick, cursor < 0 || model.chosenCount > 0);
    const width = `${pitch - GAP}px`;
    if (this.quick.style.width !== width) this.quick.style.width = this.quick.style.height = width;
    if (cursor >= 0) this.quick.style.transform = shift(0, cursor, this.shape());
    model.visible.forEach((address, index) => {
      const node = this.nodes.get(address);
      if (!node) return;
      const at = address === model.cursor;
      const chosen = model.isChosen(address);
      node.classList.toggle("at", at);
      node.classList.toggle("chosen", chosen);
      node.classList.toggle("waiting", model.waiting.has(address));
      node.tabIndex = at ? 0 : -1;
      setAttribute(node, "aria-selected", String(chosen));
      setAttribute(node.parts.pick, "aria-checked", String(chosen));
      setAttribute(node, "aria-rowindex", String(Math.floor(index / columns) + 1));
      setAttribute(node, "aria-colindex", String((index % columns) + 1));
      const reason = model.refused.get(address) ?? "";
      node.classList.toggle("refused", Boolean(reason));
      setText(node.parts.reason, reason);
      setAttribute(node.parts.reason, "title", reason);
    });
  }

  /** The number of columns and the spacing of cards; measured once for each size of the page. */
  shape() {
    if (!this.measured) {
      const columns = getComputedStyle(this.container).gridTemplateColumns.split(" ").length;
      const pitch = (this.container.clientWidth + GAP) / columns;
      const first = this.container.querySelector(".card");
      this.measured = { columns, pitch, rowPitch: first ? first.getBoundingClientRect().height + GAP : pitch };
    }
    return this.measured;
  }

  /**
   * The rows of the grid that are in the window.
   *
   * @param {number} rowPitch
   */
  inSight(rowPitch) {
    // Users do not scroll while dragging a slider; measuring each time would force a layout during the change.
    if (this.sight && performance.now() - this.sightAt < 300) return this.sight;
    this.sightAt = performance.now();
    const from = -this.container.getBoundingClientRect().top;
    this.sight = [from / rowPitch - 2, (from + window.innerHeight) / rowPitch + 1];
    return this.sight;
  }

  /**
   * First, last, invert, play: each visible card glides from its old position. Positions follow from the order, since
   * all cards have one size: reading them from the page would force a layout during the change.
   *
   * @param {Map<string, number>} before
   * @param {string[]} after
   * @param {Shape} shape
   * @param {Sight} sight
   */
  glide(before, after, shape, [first, last]) {
    after.forEach((address, index) => {
      const was = before.get(address);
      if (was === undefined || was === index) return;
      const rows = [was, index].map((place) => Math.floor(place / shape.columns));
      if (Math.max(...rows) < first || Math.min(...rows) > last) return;
      this.nodes.get(address)?.animate([{ transform: shift(index, was, shape) }, { transform: "none" }], MOTION);
    });
  }
}

/**
 * The transform that draws a card at another place.
 *
 * @param {number} from
 * @param {number} to
 * @param {Shape} shape
 */
function shift(from, to, { columns, pitch, rowPitch }) {
  const x = Math.round(((to % columns) - (from % columns)) * pitch);
  const y = Math.round((Math.floor(to / columns) - Math.floor(from / columns)) * rowPitch);
  return `translate(${x}px, ${y}px)`;
}

function canGlide() {
  return !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** @typedef {ReturnType<typeof make>} CardNode a card's element, with its parts and what it shows */

/** Creates an empty card: the picture, and below it the name, the ticker and one line about the coin. */
function make() {
  const control = (/** @type {string} */ name, /** @type {Attributes} */ attributes, /** @type {Child[]} */ ...inner) =>
    el("span", { class: name, tabindex: "-1", ...attributes }, ...inner);
  const parts = {
    picture: el("img", { alt: "", loading: "lazy", decoding: "async", draggable: "false" }),
    name: el("span", { class: "name", dir: "auto" }),
    ticker: el("span", { class: "ticker" }),
    reason: el("span", { class: "reason" }),
    mark: el("span", { class: "mark", hidden: true }),
    exact: el("span", { class: "exact", hidden: true }, "Exact match"),
    strength: el("span", { class: "strength", hidden: true }),
    twin: control("twin-badge", { "data-twin": "", role: "button", hidden: true }),
    age: el("span", { class: "age" }),
    tags: el("span", { class: "tags", dir: "auto" }),
    pick: control("pick", { "data-pick": "", role: "checkbox", "aria-label": "Select" }, icon("check")),
    score: el("span", { class: "score", hidden: true }),
    moved: el("span", { class: "moved", hidden: true }),
    strange: el("span", { class: "strange", hidden: true }, "mixed"),
    bar: el("span", { class: "bar", hidden: true }),
    edge: el("span", { class: "edge", hidden: true }),
  };
  const expand = { "data-expand": "", role: "button", "aria-label": "Open", title: "Open (enter)" };
  const node = el(
    "div",
    { class: "card", role: "gridcell", tabindex: "-1" },
    el("span", { class: "picture" }, parts.picture),
    // The card's accessible name is its text in this order, so its name comes first.
    el(
      "span",
      { class: "foot" },
      parts.bar,
      el("span", { class: "line" }, parts.name, parts.ticker),
      el(
        "span",
        { class: "about" },
        parts.reason,
        parts.moved,
        parts.mark,
        parts.exact,
        parts.strength,
        parts.age,
        parts.twin,
        parts.tags,
      ),
      parts.edge,
    ),
    el("span", { class: "standing" }, parts.strange, parts.score),
    parts.pick,
    control("expand", expand, icon("expand")),
  );
  parts.picture.addEventListener("load", () => made.picture && made.classList.add("loaded"));
  parts.picture.addEventListener("error", () => made.picture && made.classList.add("broken"));
  const made = Object.assign(node, {
    parts,
    card: /** @type {Card | null} */ (null),
    picture: "",
    hit: /** @type {Hit | null} */ (null),
    stripe: "", // its bar
    home: 0, // its place in the document …
    shift: "", // … and where it is drawn instead
    gliding: /** @type {Animation | null} */ (null),
  });
  return made;
}

/**
 * Fills this node with a coin; `scores` gives its position among the results.
 *
 * @param {CardNode} node
 * @param {Card} card
 * @param {{scores: Scores | null, index: number}} place
 */
function dress(node, card, { scores, index }) {
  if (node.card !== card) {
    const { parts } = node;
    node.card = card;
    node.dataset.address = card.address;
    if (node.picture !== card.picture) show(node, card.picture);
    setText(parts.name, card.name);
    setText(parts.ticker, card.ticker);
    node.classList.toggle("blank", Boolean(card.blank));
    node.classList.toggle("shadow", Boolean(card.shadow));
    setText(parts.mark, card.mark?.label ?? "");
    setHidden(parts.mark, !card.mark);
    node.dataset.tone = card.mark?.tone ?? "";
    setText(parts.twin, card.twin?.text ?? "");
    setAttribute(parts.twin, "title", card.twin?.title ?? "");
    parts.twin.dataset.tone = card.twin?.tone ?? "";
    // A warning is the one thing that matters of a coin.
    const warns = [card.mark?.tone, card.twin?.tone].some((tone) => tone === "warn" || tone === "bad");
    setHidden(parts.twin, !card.twin || (warns && card.twin.tone === "quiet"));
    setText(parts.age, card.blank || warns ? "" : ageOf(card));
    setAttribute(parts.age, "title", card.created ?? "");
    setText(parts.tags, warns ? "" : card.tags.join(", "));
    grow(node, card.branch);
  }
  if (scores) standing(node, scores, index);
}

/**
 * Puts a card at its place in a tree: how far in, how many lines below the coin that it came from, and how it did.
 *
 * @param {CardNode} node
 * @param {Card["branch"]} branch
 */
function grow(node, { depth, up, edge } = { depth: 0, up: 0, edge: "" }) {
  node.style.setProperty("--depth", String(depth));
  node.style.setProperty("--up", String(up));
  node.classList.toggle("grown", up > 0);
  setText(node.parts.edge, edge);
  setHidden(node.parts.edge, !edge);
}

/**
 * Changes the picture. Without one, the last stays hidden: removing the source would trigger a new layout.
 *
 * @param {CardNode} node
 * @param {string} picture
 */
function show(node, picture) {
  const { parts } = node;
  const isThere = picture && parts.picture.getAttribute("src") === picture && parts.picture.complete;
  node.picture = picture;
  node.classList.toggle("loaded", Boolean(isThere && parts.picture.naturalWidth));
  node.classList.toggle("broken", Boolean(isThere && !parts.picture.naturalWidth));
  if (picture && !isThere) parts.picture.src = picture;
}

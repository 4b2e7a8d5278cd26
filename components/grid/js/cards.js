// The cards: one node for each address for as long as it is on the page, moved rather than made anew.

import { age, el, icon, setText } from "./dom.js";
import { likeness } from "./comparison.js";
import { bar } from "./bars.js";

const GAP = 10; // px, as in the style
const PADDING = 4;
const MOTION = { duration: 190, easing: "cubic-bezier(.2,.7,.2,1)" };
const CALM = 220; // ms since the last change below which nothing glides: a fast hand wants no motion

export class Cards {
  constructor(container) {
    this.container = container;
    this.nodes = new Map();
    this.changedAt = 0;
    this.places = new Map(); // address → where it was last, as a number in the order
  }

  /** Shows these addresses in this order; `model` says what each looks like. */
  show(model, { glide = true, scores = null } = {}) {
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
        node = make(address);
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

  /** Cursor, selection, refusals and waiting, without touching anything else. */
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
      setAttribute(node, "aria-rowindex", String(Math.floor(index / columns) + 1));
      setAttribute(node, "aria-colindex", String((index % columns) + 1));
      const reason = model.refused.get(address);
      node.classList.toggle("refused", Boolean(reason));
      setText(node.parts.reason, reason ?? "");
    });
  }

  /** How many columns there are and how far apart cards lie; measured once for each size of the page. */
  shape() {
    if (!this.measured) {
      const columns = getComputedStyle(this.container).gridTemplateColumns.split(" ").length;
      this.measured = { columns, pitch: (this.container.clientWidth - 2 * PADDING + GAP) / columns };
    }
    return this.measured;
  }

  /** The part of the grid that the window shows, in rows. */
  inSight(pitch) {
    // While a slider is dragged nobody scrolls; asking each time would lay out the page in the middle of the change.
    if (this.sight && performance.now() - this.sightAt < 300) return this.sight;
    this.sightAt = performance.now();
    const from = -this.container.getBoundingClientRect().top;
    this.sight = [from / pitch - 2, (from + window.innerHeight) / pitch + 1];
    return this.sight;
  }

  /**
   * First, last, invert, play: each card in sight glides from where it was. Places follow from the order, since all
   * cards are of one size: reading them from the page would lay it out anew in the middle of the change.
   */
  glide(before, after, { columns, pitch }, [first, last]) {
    after.forEach((address, index) => {
      const was = before.get(address);
      if (was === undefined || was === index) return;
      const rows = [Math.floor(was / columns), Math.floor(index / columns)];
      if (Math.max(...rows) < first || Math.min(...rows) > last) return;
      const x = ((was % columns) - (index % columns)) * pitch;
      const y = (rows[0] - rows[1]) * pitch;
      this.nodes.get(address).animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], MOTION);
    });
  }
}

function canGlide() {
  return !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

function make(address) {
  const parts = {
    picture: el("img", { alt: "", loading: "lazy", decoding: "async", draggable: "false" }),
    name: el("span", { class: "name" }),
    ticker: el("span", { class: "ticker" }),
    age: el("span", { class: "age" }),
    tags: el("span", { class: "tags" }),
    mark: el("span", { class: "mark", hidden: true }),
    reason: el("span", { class: "reason" }),
    score: el("span", { class: "score", hidden: true }),
    moved: el("span", { class: "moved", hidden: true }),
    strange: el("span", { class: "strange", hidden: true }, "≠"),
    bar: el("span", { class: "bar", hidden: true }),
    twin: el("span", { class: "twin-badge", "data-twin": "", title: "Compare (d)", hidden: true }),
  };
  const node = el(
    "div",
    { class: "card", role: "gridcell", tabindex: "-1", "data-address": address },
    parts.picture,
    el("span", { class: "pick", "data-pick": "" }, icon("check")),
    el("span", { class: "expand", "data-expand": "", title: "Open (enter)" }, icon("expand")),
    parts.mark,
    el("span", { class: "standing" }, parts.strange, parts.moved, parts.score),
    parts.reason,
    el("span", { class: "foot" }, parts.twin, el("span", { class: "line" }, parts.name, parts.ticker), el("span", { class: "line small" }, parts.age, parts.tags), parts.bar),
  );
  parts.picture.addEventListener("load", () => node.classList.add("loaded"));
  parts.picture.addEventListener("error", () => node.classList.add("broken"));
  node.parts = parts;
  return node;
}

function dress(node, card, { scores, index }) {
  if (node.card !== card) {
    const { parts } = node;
    node.card = card;
    if (parts.picture.getAttribute("src") !== card.picture) {
      node.classList.remove("loaded", "broken");
      if (card.picture) parts.picture.src = card.picture;
      else parts.picture.removeAttribute("src");
    }
    setText(parts.name, card.name);
    setText(parts.ticker, card.ticker);
    setText(parts.age, card.blank ? "" : age(card.created_at));
    node.classList.toggle("blank", Boolean(card.blank));
    setText(parts.tags, card.tags.join(" · "));
    setText(parts.mark, card.mark?.label ?? "");
    parts.mark.hidden = !card.mark;
    node.dataset.tone = card.mark?.tone ?? "";
    setText(parts.twin, card.twin ? likeness(card.twin) : "");
    parts.twin.hidden = !card.twin;
    setAttribute(node, "aria-label", [card.name, card.ticker, card.mark?.label, card.twin && likeness(card.twin)].filter(Boolean).join(", "));
  }
  if (scores) bar(node, scores, index);
}

// The map: it shows the server's points, colours and cards, and reports the selection.

import { el } from "../../grid/js/dom.js";
import { paletteOf, ramp } from "./colours.js";
import { listenToGestures } from "./gestures.js";
import { asBits, within } from "./lasso.js";
import { CLOSE, Painting } from "./painting.js";
import { View } from "./view.js";

const REST = 140; // ms of rest before pictures are requested
const NEAR = 14; // px around the pointer

let left = null; // the map of the previous page, to restore selection and zoom on return

class Atlas {
  constructor(root, tell) {
    this.root = root;
    this.tell = tell;
    this.cards = {};
    this.images = new Map();
    this.lasso = false;
    this.view = new View();
    this.canvas = el("canvas", { tabindex: "0", "aria-label": "Map of coins: drag or arrow keys move, wheel or + and - zoom, with lasso or shift held a drag chooses" });
    this.painting = new Painting(this.canvas);
    this.legend = el("div", { class: "legend" });
    this.told = el("div", { class: "told" });
    this.near = el("div", { class: "near", hidden: true }, el("img", { alt: "" }), el("b"), el("span"), el("small"));
    this.draws = el("button", { type: "button", "aria-pressed": "false", onclick: () => this.choosing(!this.lasso) }, "Lasso");
    this.clear = el("button", { type: "button", hidden: true, onclick: () => this.choose(null) }, "Clear");
    const whole = el("button", { type: "button", onclick: () => this.whole() }, "Reset view");
    const these = el("button", { type: "button", onclick: () => this.chooseInView() }, "Select visible");
    root.replaceChildren(this.canvas, el("div", { class: "tools" }, this.draws, whole, these, this.clear), this.legend, this.told, this.near);
    listenToGestures(this);
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(root);
  }

  update(data) {
    if (data.sheet !== this.sheet) this.begin(data.sheet);
    if (data.rows) {
      const first = !this.x;
      this.take(data.rows);
      this.version = data.version;
      if (first) this.arrive();
      this.tell("knows", { sheet: data.sheet, version: data.version });
    } else if (this.version < data.version) this.tell("knows", null); // a restored page without its points requests them once
    if (data.colours) {
      this.colours = Uint8Array.from(atob(data.colours), (sign) => sign.charCodeAt(0));
      this.tell("coloured", data.colouring);
    } else if (!this.colours) this.tell("coloured", "");
    this.palette = paletteOf(data.legend);
    Object.assign(this.cards, data.cards);
    for (const { picture } of Object.values(data.cards)) if (!this.images.has(picture)) this.fetch(picture);
    this.explain(data);
    if (this.pointer && !this.drag) this.hover(...this.pointer); // the point below it may be new
    this.soon();
  }

  /** Resets everything for another map or query. */
  begin(sheet) {
    Object.assign(this, { sheet, version: 0, count: 0, cards: {}, x: null, y: null, colours: null });
    this.hold(null);
    if (left?.sheet === sheet) this.kept = left.kept; // used when the points have arrived
  }

  /** Shows the whole map, or restores the view and selection from before. */
  arrive() {
    const before = left?.sheet === this.sheet ? left.view : null;
    if (before && !before.isWhole) Object.assign(this.view, { x: before.x, y: before.y, scale: before.scale });
    else this.view.fit(this.x, this.y);
    if (this.chosen) this.tellChosen();
    this.soon();
  }

  /** Applies new, moved, changed and removed rows (removed ones have no position); all others stay. */
  take(table) {
    const [rows, xs, ys] = ["row", "x", "y"].map((name) => table.getChild(name).toArray());
    const length = Math.max(this.x?.length ?? 0, rows[rows.length - 1] + 1); // rows are ascending
    this.x = longer(this.x, new Float32Array(length).fill(NaN));
    this.y = longer(this.y, new Float32Array(length).fill(NaN));
    if (this.kept) this.kept = longer(this.kept, new Uint8Array(length));
    rows.forEach((row, at) => {
      this.x[row] = xs[at];
      this.y[row] = ys[at];
      delete this.cards[row];
    });
    this.count = this.x.reduce((sum, x) => sum + !Number.isNaN(x), 0);
    this.hold(this.kept);
  }

  fetch(address) {
    const image = new Image();
    image.onload = () => this.soon();
    image.src = address;
    this.images.set(address, image);
  }

  explain({ title, legend, range }) {
    const rows = legend.filter(({ label }) => label).map(({ label, colour }) => {
      const dot = el("i");
      dot.style.background = colour;
      return el("div", {}, dot, label);
    });
    if (range.length) {
      const strip = el("div", { class: "ramp" });
      strip.style.background = `linear-gradient(90deg, ${[0, 0.33, 0.66, 1].map((part) => `rgb(${ramp(part)})`).join(",")})`;
      rows.push(strip, el("div", { class: "ends" }, ...range.map((end) => el("span", {}, end))));
    }
    this.legend.replaceChildren(el("div", { class: "title" }, title), ...rows);
  }

  resize() {
    const [width, height] = [this.root.clientWidth, this.root.clientHeight];
    if (!width || !height) return;
    const first = !this.view.width;
    Object.assign(this.view, { width, height });
    this.painting.resize(this.view);
    if (first) this.arrive();
    else if (this.view.isWhole) this.view.fit(this.x, this.y); // the page may get its width only now
    this.soon();
  }

  whole() {
    this.view.fit(this.x, this.y);
    this.soon();
  }

  soon() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.paint();
    });
  }

  paint() {
    if (!this.x || !this.painting.pen) return;
    const began = performance.now();
    const { inView, seen } = this.painting.dots(this);
    this.painting.reach = 0;
    if (inView <= CLOSE) {
      this.painting.pictures(seen, this, (row) => this.images.get(this.cards[row]?.picture));
      this.ask(seen);
    }
    if (this.drag?.path) this.painting.outline(this.drag.path);
    const said = this.chosen ? `${this.held.toLocaleString("en")} selected · ` : "";
    this.told.textContent = `${said}${inView.toLocaleString("en")} of ${this.count.toLocaleString("en")} in view`;
    this.root.dataset.milliseconds = (performance.now() - began).toFixed(1);
  }

  /** Requests the missing cards of these points. */
  ask(rows) {
    const missing = rows.filter((row) => !this.cards[row]);
    clearTimeout(this.timer);
    if (missing.length) this.timer = setTimeout(() => this.tell("wanted", { sheet: this.sheet, rows: missing }), REST);
  }

  hover(x, y) {
    if (!this.x) return;
    this.pointer = [x, y];
    const best = this.view.nearest(this.x, this.y, x, y, Math.max(NEAR, this.painting.reach));
    const card = this.cards[best];
    if (best >= 0 && !card) this.ask([best]);
    this.near.hidden = !card;
    if (!card) return;
    const [image, name, ticker, more] = this.near.children;
    const others = this.view.others(this.x, this.y, best);
    image.src = card.picture;
    name.textContent = card.name;
    ticker.textContent = card.ticker;
    more.textContent = others ? `and ${others.toLocaleString("en")} more at this place` : "";
    this.near.style.left = `${Math.min(x + 14, this.view.width - 160)}px`;
    this.near.style.top = `${Math.min(y + 14, this.view.height - 220)}px`;
  }

  choosing(on) {
    this.lasso = on;
    this.draws.setAttribute("aria-pressed", String(on));
    this.root.classList.toggle("lasso", on);
  }

  choose(inside) {
    this.hold(inside);
    this.choosing(false);
    if (!this.chosen) this.kept = null;
    this.tellChosen();
    this.soon();
  }

  tellChosen() {
    this.tell("chosen", this.chosen ? { sheet: this.sheet, bits: asBits(this.chosen) } : null);
  }

  /** Selects like a lasso around the whole canvas, for use without a pointer. */
  chooseInView() {
    const { width, height } = this.view;
    const corners = [[0, 0], [width, 0], [width, height], [0, height]].map((corner) => this.view.onMap(corner));
    this.choose(within(corners, this.x, this.y));
  }

  /** Removed points are not selected, but are selected again when they return. */
  hold(inside) {
    this.kept = inside;
    this.held = inside ? inside.reduce((sum, one, row) => sum + (one && !Number.isNaN(this.x[row])), 0) : 0;
    this.chosen = this.held ? inside : null;
    this.clear.hidden = !this.chosen;
  }

  stop() {
    if (this.x && this.view.width) left = { sheet: this.sheet, kept: this.kept, view: this.view }; // else it was never seen
    this.watcher.disconnect();
    clearTimeout(this.timer);
    cancelAnimationFrame(this.waiting);
  }
}

/** Copies the old values to the start of a longer array. */
function longer(old, array) {
  if (old) array.set(old);
  return array;
}

const open = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".memedex-atlas");
  let atlas = open.get(root);
  if (!atlas) {
    atlas = new Atlas(root, (name, value) => atlas.setStateValue(name, value));
    open.set(root, atlas);
  }
  atlas.setStateValue = setStateValue;
  if (data) atlas.update(data);
  return () => {
    // Streamlit also calls this for an overtaken run of this function, while the page stays open.
    if (root.isConnected) return;
    atlas.stop();
    open.delete(root);
  };
}

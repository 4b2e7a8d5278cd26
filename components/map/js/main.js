// The map: it shows the server's points, colours and cards, and reports the selection.

import { el } from "../../grid/js/dom.js";
import { paletteOf, ramp } from "./colours.js";
import { listenToGestures } from "./gestures.js";
import { asBits, fromBase64, fromBits, within } from "./lasso.js";
import { CLOSE, Painting } from "./painting.js";
import { Requests } from "./requests.js";
import { View } from "./view.js";

const REST = 140; // ms of rest before pictures are requested
const NEAR = 14; // px around the pointer
const AT_ONCE = 100; // cards in one request

let left = null; // the map of the previous page, to restore its zoom on return

class Atlas {
  constructor(root, tell) {
    this.root = root;
    this.tell = tell;
    this.wanted = new Set(); // rows whose cards are requested next
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
    this.requests = new Requests({ lacking: () => this.lacking(), came: (body, answer) => this.came(body, answer) });
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(root);
  }

  update(data) {
    this.data = data;
    if (data.sheet !== this.sheet) this.begin(data);
    this.palette = paletteOf(data.legend);
    this.explain(data);
    this.requests.run();
    this.soon();
  }

  /** The request for what the page has drawn and this map has not; null if there is nothing. */
  lacking() {
    const { url, token, version, colouring } = this.data;
    if (this.version >= version && this.colouredFor === colouring && !this.wanted.size) return null;
    const cards = [...this.wanted].slice(-AT_ONCE); // the most recent ones: earlier ones may be out of sight
    return { url, body: { token, sheet: this.sheet, version: this.version, colouring: this.colouring, colouredFor: colouring, cards } };
  }

  came({ sheet, colouredFor, cards: asked }, { version, rows, points, colouring, colours, cards }) {
    if (sheet !== this.sheet) return;
    const first = !this.x && rows;
    if (rows) this.take(new Uint32Array(fromBase64(rows).buffer), new Float32Array(fromBase64(points).buffer));
    this.version = version ?? this.data.version;
    if (colours) Object.assign(this, { colouring, colours: fromBase64(colours) });
    this.colouredFor = colouredFor;
    for (const row of asked) {
      this.wanted.delete(row);
      this.cards[row] ??= cards[row] ?? null; // null: there is none
    }
    for (const { picture } of Object.values(cards)) if (!this.images.has(picture)) this.fetch(picture);
    if (first) this.arrive();
    if (this.pointer && !this.drag) this.hover(...this.pointer); // the point below it may be new
    this.soon();
  }

  /** Resets everything for another map or query. */
  begin({ sheet, chosen }) {
    Object.assign(this, { sheet, version: 0, count: 0, cards: {}, x: null, y: null, colours: null, colouring: "", colouredFor: null });
    this.hold(null);
    this.wanted.clear();
    this.restored = chosen; // used when the points have arrived
  }

  /** Shows the whole map, or restores the view from before. */
  arrive() {
    const before = left?.sheet === this.sheet ? left.view : null;
    if (before && !before.isWhole) Object.assign(this.view, { x: before.x, y: before.y, scale: before.scale });
    else this.view.fit(this.x, this.y);
    this.soon();
  }

  /** Applies new, moved, changed and removed rows (removed ones have no position); all others stay. */
  take(rows, points) {
    if (!rows.length) return;
    const length = Math.max(this.x?.length ?? 0, rows[rows.length - 1] + 1); // rows are ascending
    this.x = longer(this.x, new Float32Array(length).fill(NaN));
    this.y = longer(this.y, new Float32Array(length).fill(NaN));
    if (this.kept) this.kept = longer(this.kept, new Uint8Array(length));
    if (this.restored) [this.kept, this.restored] = [fromBits(this.restored, length), ""];
    rows.forEach((row, at) => {
      this.x[row] = points[2 * at];
      this.y[row] = points[2 * at + 1];
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
    const missing = rows.filter((row) => !(row in this.cards));
    clearTimeout(this.timer);
    if (missing.length) this.timer = setTimeout(() => {
      missing.forEach((row) => this.wanted.add(row));
      this.requests.run();
    }, REST);
  }

  hover(x, y) {
    if (!this.x) return;
    this.pointer = [x, y];
    const best = this.view.nearest(this.x, this.y, x, y, Math.max(NEAR, this.painting.reach));
    const card = this.cards[best];
    if (best >= 0 && card === undefined) this.ask([best]);
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
    this.tell("chosen", { sheet: this.sheet, bits: this.chosen ? asBits(this.chosen) : "" });
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
    if (this.x && this.view.width) left = { sheet: this.sheet, view: this.view }; // else it was never seen
    this.watcher.disconnect();
    this.requests.stop();
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

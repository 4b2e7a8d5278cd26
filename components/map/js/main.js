// The map: it shows the server's points, colours, pictures and names, and reports the selection.

import { button } from "../../grid/js/dom.js";
import { el, part } from "../../shell/js/elements.js";
import { isLeaving } from "../../shell/js/hand.js";
import { isBlurred } from "../../shell/session/safe_mode.js";
import { paletteOf } from "./colours.js";
import { Cursor } from "./cursor.js";
import { contours } from "./density.js";
import { Detail, LARGE, pictured, pictureOf } from "./detail.js";
import { Film } from "./film.js";
import { listenToGestures } from "./gestures.js";
import { Legend } from "./legend.js";
import { Painting } from "./painting.js";
import { Requests, Sprites } from "./requests.js";
import { fromBase64, longer, Selection } from "./selection.js";
import { Timeline } from "./timeline.js";
import { stretchOf, View } from "./view.js";

/** @import { Server } from "../../shell/js/post.js" */
/** @import { Mount } from "../../shell/js/streamlit_page.js" */
/** @import { Parameters } from "../../shell/session/safe_mode.js" */
/** @import { Look } from "./film.js" */
/** @import { Drag } from "./gestures.js" */
/** @import { Colours } from "./legend.js" */
/** @import { Name, Place } from "./painting.js" */

/**
 * What a run of the page gives (components/map/canvas.py): which points it has drawn, as a sheet with a version, their
 * colours and names, and which are selected.
 *
 * @typedef {Colours & {
 *   server: Server,
 *   safe: Parameters | null,
 *   sheet: string,
 *   version: number,
 *   colouring: string,
 *   chosen: string,
 *   places: Place[],
 * }} MapData
 */
/** @typedef {{name: string, ticker: string, captions: string[], tags: string[], picture: string}} MapCard */
/** @typedef {{sheet: string, version: number, colouring: string, colouredFor: string, cards: number[]}} Message */
/**
 * What came since a version (components/map/requests.py); numbers as bytes in base64.
 *
 * @typedef {{
 *   version?: number,
 *   rows?: string,
 *   points?: string,
 *   times?: string,
 *   colouring?: string,
 *   colours?: string,
 *   cards: Record<number, MapCard>,
 * }} Answer
 */
/** @typedef {(name: string, value: unknown) => void} Tell */

const REST = 140; // ms of rest before cards are requested, pictures distributed again, and a dragged map painted
const SLOW = 4; // ms of painting, after which drawing the canvas takes as many more
const AT_ONCE = 100; // cards in one request
const HELP =
  "Map of coins: arrows move, + and - zoom, 0 shows all, " +
  "Enter goes from coin to coin with the arrows and selects, Escape ends; drag with shift for a lasso";

/** @type {Pick<Atlas, "sheet" | "view" | "stretch"> | null} the map of the previous page, to restore its zoom */
let left = null;

export class Atlas {
  sheet = "";
  version = 0;
  colouring = "";
  /** @type {string | null} the colouring of the page that the colours are for */
  colouredFor = null;
  // By row; a removed one has no position.
  x = new Float32Array(0);
  y = new Float32Array(0);
  times = new Uint32Array(0);
  shown = new Uint8Array(0);
  /** @type {Uint8Array | null} indexes of the palette */
  colours = null;
  palette = new Uint32Array(256);
  count = 0; // of the rows that there are
  stretch = 1;
  /** @type {Record<number, MapCard | null>} by row; null: there is none */
  cards = {};
  /** @type {Set<number>} rows whose cards are requested next */
  wanted = new Set();
  /** @type {Set<number>} rows whose pictures are shown in safe mode */
  clicked = new Set();
  /** @type {Map<string, HTMLImageElement>} by address */
  images = new Map();
  /** @type {Place[]} */
  places = [];
  /** @type {Path2D[]} */
  paths = [];
  /** @type {Name[]} */
  boxes = [];
  side = 0; // px of a picture; 0 where none is shown
  /** @type {Drag | null} */
  drag = null;
  isSlow = false; // to paint
  waiting = 0; // the request for the next frame
  timer = 0;
  resting = 0;
  repainting = 0;
  view = new View();
  detail = new Detail();

  /** @param {HTMLElement} root @param {MapData} data @param {Tell} tell */
  constructor(root, data, tell) {
    this.root = root;
    this.data = data;
    this.tell = tell;
    this.canvas = el("canvas", { tabindex: "0", role: "application", "aria-label": HELP });
    this.painting = new Painting(this.canvas);
    this.legend = new Legend(() => this.sift());
    this.timeline = new Timeline(
      () => this.sift(),
      () => new Film(this.canvas, () => this.filmed()),
    );
    this.cursor = new Cursor(this);
    this.counts = el("div", { class: "told" });
    this.selection = new Selection(this, (name, value) => isLeaving() || this.tell(name, value));
    const whole = button("", "Reset view", () => this.whole());
    const { draws, whatIsVisible, clear } = this.selection;
    const bottom = el("div", { class: "bottom" }, this.counts, this.timeline.root);
    root.replaceChildren(
      this.canvas,
      el("div", { class: "tools" }, draws, whole, whatIsVisible, clear),
      this.legend.root,
      bottom,
      this.cursor.card.root,
    );
    listenToGestures(this);
    this.requests = new Requests({
      lacking: () => this.lacking(),
      came: (message, answer) => this.came(message, answer),
    });
    this.sprites = new Sprites(() => this.soon());
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(root);
  }

  /** @param {MapData} data */
  update(data) {
    this.data = data;
    if (data.sheet !== this.sheet) this.begin(data);
    this.palette = paletteOf(data.legend);
    this.legend.show(data);
    this.placeNames();
    this.sprites.faults = 0;
    this.requests.run();
    this.sift();
  }

  /** The request for what the page has drawn and this map has not; null if there is nothing. */
  lacking() {
    const { server, version, colouring } = this.data;
    if (this.version >= version && this.colouredFor === colouring && !this.wanted.size) return null;
    const cards = [...this.wanted].slice(-AT_ONCE); // the most recent ones: earlier ones may be out of sight
    return {
      server,
      message: { sheet: this.sheet, version: this.version, colouring: this.colouring, colouredFor: colouring, cards },
    };
  }

  /** @param {Message} message @param {Answer} answer */
  came({ sheet, colouredFor, cards: requested }, answer) {
    if (sheet !== this.sheet) return;
    const { rows = "", points = "", times = "", colours, cards } = answer;
    const first = !this.x.length && rows;
    if (rows) {
      const positions = new Float32Array(fromBase64(points).buffer);
      if (first) this.widen(positions);
      this.take(new Uint32Array(fromBase64(rows).buffer), positions, new Uint32Array(fromBase64(times).buffer));
    }
    this.version = answer.version ?? this.data.version;
    if (colours) {
      this.colouring = answer.colouring ?? "";
      this.colours = fromBase64(colours);
    }
    this.colouredFor = colouredFor;
    for (const row of requested) {
      this.wanted.delete(row);
      this.cards[row] ??= cards[row] ?? null; // null: there is none
    }
    for (const { picture } of Object.values(cards)) if (!this.images.has(picture)) this.fetch(picture);
    if (first) this.arrive();
    if (rows || colours) this.sift();
    this.cursor.refresh(requested);
    this.soon();
  }

  /** @param {MapData} data of another map or query, for which everything is reset */
  begin({ sheet, chosen }) {
    this.sheet = sheet;
    this.version = this.count = 0;
    this.colouring = "";
    this.colouredFor = this.colours = null;
    this.x = new Float32Array(0);
    this.y = new Float32Array(0);
    this.times = new Uint32Array(0);
    this.shown = new Uint8Array(0);
    this.stretch = 1;
    this.cards = {};
    this.boxes = [];
    this.clicked.clear();
    this.selection.reset(chosen);
    this.wanted.clear();
    this.cursor.reset();
    this.sprites.reset();
    this.detail.reset(this);
  }

  /** @param {Float32Array} points that fill the width of the page, as on the page before if it showed this map */
  widen(points) {
    this.stretch = left?.sheet === this.sheet ? left.stretch : stretchOf(points, this.view);
    this.placeNames();
  }

  placeNames() {
    this.places = this.data.places.map((place) => ({ ...place, x: place.x * this.stretch }));
  }

  /** Shows the whole map, or restores the view from before. */
  arrive() {
    const before = left?.sheet === this.sheet ? left.view : null;
    this.view.fit(this.x, this.y);
    if (before && !before.isWhole)
      Object.assign(this.view, { x: before.x, y: before.y, scale: before.scale, isWhole: false });
    this.soon();
  }

  /**
   * Applies new, moved, changed and removed rows (removed ones have no position); all others stay.
   *
   * @param {Uint32Array} rows
   * @param {Float32Array} points x, y, x, y, …
   * @param {Uint32Array} times
   */
  take(rows, points, times) {
    if (!rows.length) return;
    const length = Math.max(this.x.length, rows[rows.length - 1] + 1); // rows are ascending
    this.x = longer(this.x, new Float32Array(length).fill(NaN));
    this.y = longer(this.y, new Float32Array(length).fill(NaN));
    this.times = longer(this.times, new Uint32Array(length));
    this.selection.grow(length);
    rows.forEach((row, at) => {
      this.x[row] = points[2 * at] * this.stretch;
      this.y[row] = points[2 * at + 1];
      this.times[row] = times[at];
      delete this.cards[row];
      this.sprites.forget(row);
    });
    this.count = this.x.reduce((sum, x) => sum + (Number.isNaN(x) ? 0 : 1), 0);
    this.timeline.span(this.times, this.x);
    this.selection.hold();
  }

  /** Finds the points that time and legend let through; pictures and lines follow after a moment of rest. */
  sift() {
    if (!this.x.length) return;
    const { x, times, colours } = this;
    const { until } = this.timeline;
    const { hidden } = this.legend;
    const shown = new Uint8Array(x.length);
    for (let row = 0; row < x.length; row += 1) {
      const isHidden = Number.isNaN(x[row]) || times[row] > until || (colours && hidden.has(colours[row]));
      shown[row] = isHidden ? 0 : 1;
    }
    const isSame = this.shown.length === shown.length && this.shown.every((one, row) => one === shown[row]);
    this.soon();
    if (isSame && this.detail.x === x) return;
    const isFirst = !this.shown.length;
    this.shown = shown;
    clearTimeout(this.resting);
    const distribute = () => {
      this.paths = contours(this);
      this.detail.reset(this);
      this.soon();
    };
    if (isFirst) distribute();
    else this.resting = setTimeout(distribute, REST);
  }

  /** @param {string} address */
  fetch(address) {
    const image = new Image();
    image.onload = () => this.soon();
    image.src = address;
    this.images.set(address, image);
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
    if (!this.shown.length || !this.painting.memory) return;
    const began = performance.now();
    const { painting, view } = this;
    clearTimeout(this.repainting);
    // A map that takes long to paint follows a drag as a picture, and is painted when the hand rests.
    if (this.isSlow && this.drag && !this.drag.path && !this.drag.isPinch && painting.slide(view)) {
      this.repainting = setTimeout(() => {
        this.painting.painted = null;
        this.soon();
      }, REST);
      return;
    }
    painting.begin(view);
    const [text, ground, accent] = this.themed("--st-text-color", "--st-background-color", "--st-primary-color");
    const inView = painting.dots(this);
    painting.lines(this.paths, view, text);
    const { rows, side } = pictured(this);
    this.side = rows.length ? side : 0;
    this.lack(rows);
    painting.pictures(rows, side, this, (row) => pictureOf(this, row));
    this.boxes = painting.names(this.places, view, { text, ground, taken: this.taken() });
    if (this.cursor.isWalking && this.cursor.row >= 0) painting.ring(this.cursor.row, this.side, this, accent);
    if (this.drag?.path) painting.outline(this.drag.path, accent);
    const { count } = this.selection;
    const selected = count ? `${count.toLocaleString("en")} selected · ` : "";
    this.counts.textContent = `${selected}${inView.toLocaleString("en")} of ${this.count.toLocaleString("en")} in view`;
    this.root.dataset.milliseconds = (performance.now() - began).toFixed(1);
    this.root.dataset.pictures = String(rows.length);
    this.isSlow = performance.now() - began > SLOW;
    if (this.detail.work()) this.soon();
  }

  /** @param {string[]} names of the theme's colours */
  themed(...names) {
    const style = getComputedStyle(this.root);
    return names.map((name) => style.getPropertyValue(name));
  }

  /** @returns {Look} */
  filmed() {
    const [text, ground] = this.themed("--st-text-color", "--st-secondary-background-color");
    const count = this.shown.reduce((sum, one) => sum + one, 0);
    const { family, ratio } = this.painting;
    return {
      text,
      ground,
      font: `600 ${18 * ratio}px ${family || "sans-serif"}`,
      caption: `${this.timeline.output.textContent} · ${count.toLocaleString("en")} coins`,
    };
  }

  /** @param {number[]} rows whose missing pictures are requested */
  lack(rows) {
    const missing = rows.filter((row) => !this.sprites.places.has(row));
    this.sprites.want(missing, { server: this.data.server, sheet: this.sheet, clicked: [...this.clicked] });
    if (this.side > LARGE && rows.length <= AT_ONCE) this.ask(rows);
  }

  /** What lies above the map, where no name may be. */
  taken() {
    const own = this.root.getBoundingClientRect();
    return [...this.root.querySelectorAll(".legend, .tools button, .bottom > *")].map((other) => {
      const { left: from, top, right, bottom } = other.getBoundingClientRect();
      return { left: from - own.left, right: right - own.left, top: top - own.top, bottom: bottom - own.top };
    });
  }

  /** @param {number[]} rows whose missing cards are requested */
  ask(rows) {
    const missing = rows.filter((row) => !(row in this.cards));
    clearTimeout(this.timer);
    if (missing.length)
      this.timer = setTimeout(() => {
        missing.forEach((row) => this.wanted.add(row));
        this.requests.run();
      }, REST);
  }

  /**
   * In safe mode, shows a coin's picture if it is blurred; whether it was.
   *
   * @param {number} row
   */
  unblur(row) {
    const card = this.cards[row];
    const { safe } = this.data;
    if (!safe || !card || !isBlurred(card.picture, safe)) return false;
    card.picture += `&${safe.shown}=1`;
    this.fetch(card.picture);
    this.clicked.add(row);
    this.sprites.forget(row);
    this.soon();
    return true;
  }

  stop() {
    // Else it was never seen.
    if (this.x.length && this.view.width) left = { sheet: this.sheet, view: this.view, stretch: this.stretch };
    this.watcher.disconnect();
    this.requests.stop();
    this.sprites.stop();
    this.timeline.stop();
    clearTimeout(this.timer);
    clearTimeout(this.resting);
    clearTimeout(this.repainting);
    cancelAnimationFrame(this.waiting);
  }
}

/** @type {WeakMap<HTMLElement, Atlas>} */
const open = new WeakMap();

/** @param {Mount<MapData>} mount */
export default function ({ data, parentElement, setStateValue }) {
  const root = part(parentElement, ".memedex-atlas", HTMLElement);
  const atlas = open.get(root) ?? new Atlas(root, data, setStateValue);
  open.set(root, atlas);
  atlas.tell = setStateValue;
  atlas.update(data);
  return () => {
    // Streamlit also calls this for an overtaken run of this function, while the page stays open.
    if (root.isConnected) return;
    open.get(root)?.stop();
    open.delete(root);
  };
}

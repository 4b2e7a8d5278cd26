// One grid: it takes the server's data, holds what is decided here, and keeps both in step.

import { count, el } from "./dom.js";
import { listenToBars } from "./bars.js";
import { Cards } from "./cards.js";
import { DecisionLog } from "./log.js";
import { fillHelp, helpSheet } from "./help.js";
import { listenToKeys } from "./keys.js";
import { listenToPointer } from "./pointer.js";
import { Model, read, write } from "./model.js";
import { rank } from "./rank.js";
import { Sliders } from "./sliders.js";
import { Tools } from "./tools.js";
import { Viewer } from "./viewer.js";

const ASK = 120; // ms on one coin before its details are asked for, so that leafing through costs nothing

class Grid {
  constructor(root, key) {
    this.root = root;
    this.key = key;
    this.model = new Model(key);
    this.log = new DecisionLog(key, (contents) => this.tell("log", contents));
    this.tools = new Tools(this);
    this.viewer = new Viewer(this);
    this.help = helpSheet();
    this.parts = {
      field: el("div", { class: "cards", role: "row" }),
      sliders: el("div", {}),
    };
    this.frame = el("div", { class: "field", role: "grid", "aria-multiselectable": "true", "aria-label": "Coins" }, this.parts.field);
    this.cards = new Cards(this.parts.field);
    this.pool = new Map(); // row → card, of this query
    root.replaceChildren(this.parts.sliders, this.tools.node, this.frame, this.viewer.node, this.help);
    this.resize(read("memedex-size", 168, "localStorage"));
    this.stops = [listenToKeys(this), listenToPointer(this)];
    const leave = () => this.log.flush();
    window.addEventListener("pagehide", leave);
    this.stops.push(() => window.removeEventListener("pagehide", leave));
    this.watcher = new ResizeObserver(() => {
      this.cards.measured = null;
      this.placeBar();
    });
    this.watcher.observe(this.parts.field);
  }

  /** New data from the server. */
  update(data) {
    const first = !this.data;
    this.data = data;
    this.actions = data.actions;
    this.log.boot = data.boot;
    this.log.beacon = data.beacon;
    this.tools.offer(data.actions, data);
    if (this.offered !== JSON.stringify(data.actions)) fillHelp(this.help, data.actions, data);
    this.offered = JSON.stringify(data.actions);
    this.settled(this.log.confirm(data.confirmed ?? {}));
    if (data.ranking) this.takeRanking(data);
    else this.model.take(data.cards);
    this.model.hold(data.matching);
    this.paint({ glide: !first });
    if (first && !this.log.isEmpty) this.log.sendNow();
  }

  /** Results of decisions: reasons for what was refused, the cursor onto what was taken back. */
  settled(results) {
    for (const result of results) {
      for (const { item, reason } of result.refused) this.model.refused.set(item, reason);
      if (result.refused.length) this.tools.say(`${count(result.refused.length, "coin")} refused: ${result.refused[0].reason}`, "red");
      else if (result.said) this.tools.say(result.said);
      if (result.verb === "undo" && result.done.length && this.data.cards?.some((card) => card.address === result.done[0])) this.model.moveTo(result.done[0]);
    }
  }

  /** Does a verb to the selection, or to the card under the cursor; felt at once, confirmed later. */
  decide(action, { reason = "" } = {}) {
    const { model } = this;
    const everything = !this.viewer.isOpen && !action.single && model.everything;
    const addresses = this.viewer.isOpen ? [model.cursor] : model.targets(action);
    if (!addresses.length && !everything) return;
    const seen = Object.fromEntries(addresses.map((address) => [address, model.selection.get(address) ?? model.card(address)?.revision ?? null]));
    const number = everything ? model.chosenCount : addresses.length;
    const { filter, generation, except } = everything || {};
    const about = everything ? { addresses: [], seen: {}, matching: { filter, generation, except } } : { addresses, seen };
    const entry = this.log.add({ verb: action.verb, reason, ...about });
    if (everything) model.clear();
    entry.effect = action.leaves ? { hide: addresses } : null;
    if (action.leaves) {
      entry.hides = addresses;
      model.history = [...model.history.filter((each) => !each.undone), entry];
      model.select(addresses, false);
    }
    addresses.forEach((address) => model.refused.delete(address));
    const name = number === 1 && addresses.length ? model.card(addresses[0])?.name ?? "one coin" : count(number, "coin");
    this.tools.say(action.leaves ? `${action.said} ${name}` : `${action.label}: ${name} …`);
    this.paint({ focus: true });
  }

  takeBack(verb) {
    if (!this.data.undoable) return;
    const { history } = this.model;
    const target = verb === "undo" ? history.findLast((entry) => !entry.undone) : history.find((entry) => entry.undone);
    const entry = this.log.add({ verb, addresses: [], seen: {} });
    if (target) {
      target.undone = verb === "undo";
      entry.effect = verb === "undo" ? { show: target.hides } : { hide: target.hides };
      if (verb === "undo") this.model.moveTo(target.hides[0] ?? this.model.cursor);
    }
    this.tools.say(verb === "undo" ? "Taken back" : "Done again");
    this.paint({ focus: true });
  }

  step(x, y, { select = false } = {}) {
    const { model } = this;
    const at = model.visible.indexOf(model.cursor);
    const to = at + x + y * this.columns();
    const address = model.visible[to] ?? (at < 0 ? model.visible[0] : null);
    if (!address) return;
    if (select) model.select([model.cursor, address], true);
    model.moveTo(address);
    model.anchor = address;
    this.refresh({ focus: true });
  }

  edge(end) {
    const { visible } = this.model;
    if (!visible.length) return;
    this.model.moveTo(end ? visible[visible.length - 1] : visible[0]);
    this.refresh({ focus: true });
  }

  toggle() {
    const { model } = this;
    model.anchor = model.cursor;
    model.select([model.cursor], !model.isChosen(model.cursor));
    this.refresh();
  }

  selectPage() {
    this.model.select(this.model.visible, true);
    this.refresh();
  }

  /** Whether more match than this page shows; without anything to do to them there is nothing to choose for. */
  get offersEverything() {
    return Boolean(this.data?.pages && this.data.matching && !this.model.everything && this.actions.some((action) => !action.single));
  }

  selectEverything() {
    this.model.selectEverything(this.data.matching);
    this.refresh();
  }

  clear() {
    if (!this.model.chosenCount) return false;
    this.model.clear();
    this.refresh();
    return true;
  }

  bringBack() {
    this.model.bringBack();
    this.refresh();
  }

  turn(by) {
    if (!this.data.pages) return false;
    this.log.add({ verb: by > 0 ? "next" : "previous", addresses: [], seen: {} });
    return true;
  }

  open(address) {
    this.viewer.show(address);
  }

  /** Asks the server for the details of the coin in the large view, and of its neighbours. */
  ask(address) {
    clearTimeout(this.asking);
    const { visible } = this.model;
    const at = visible.indexOf(address);
    const wanted = at < 0 ? [] : visible.slice(Math.max(0, at - 1), at + 2);
    this.asking = setTimeout(() => this.tell("open", wanted), ASK);
  }

  resize(size) {
    this.size = size;
    this.root.style.setProperty("--size", `${size}px`);
    this.root.dataset.size = size <= 120 ? "small" : size >= 248 ? "large" : "medium";
    if (this.cards) this.cards.measured = null;
    write("memedex-size", size, "localStorage");
    if (this.data) this.refresh();
  }

  /** The bar sticks below Streamlit's own header, which lies over the page. */
  placeBar() {
    const header = document.querySelector("[data-testid=stHeader]");
    this.root.style.setProperty("--memedex-bar-top", `${Math.round(header?.getBoundingClientRect().height ?? 0)}px`);
  }

  columns() {
    return this.cards.shape().columns;
  }

  paint({ glide = true, focus = false } = {}) {
    if (this.data.ranking) this.rank();
    this.model.settle(this.log.entries);
    this.cards.show(this.model, { glide, scores: this.scores && this.scoresOfVisible() });
    this.refresh({ focus });
  }

  refresh({ focus = false } = {}) {
    this.cards.mark(this.model, this.columns());
    this.tools.refresh(this.model);
    if (this.viewer.isOpen) this.viewer.refresh();
    if (focus && !this.viewer.isOpen) this.follow();
  }

  /** Keeps the cursor in sight, and the focus with it unless it is somewhere else on purpose. */
  follow() {
    const node = this.cards.nodes.get(this.model.cursor);
    if (!node) return;
    const active = document.activeElement;
    if (!active || active === document.body || active === this.root.getRootNode().host) node.focus({ preventScroll: true });
    node.scrollIntoView({ block: "nearest" });
  }

  tell(name, value) {
    this.send(name, value);
  }

  // Ranked results

  takeRanking({ ranking, cards }) {
    if (!this.sliders) {
      listenToBars(this);
      this.sliders = new Sliders(this);
      this.parts.sliders.replaceChildren(this.sliders.node);
    }
    if (this.query !== ranking.query) {
      this.pool.clear();
      this.similarities = null;
      this.places = null;
    }
    this.query = ranking.query;
    const table = this.data.similarities;
    if (table) this.similarities = { columns: ["image", "entity", "context", "visual", "emotions"].map((name) => floats(table.getChild(name))), means: ranking.means.map((mean) => mean ?? NaN) };
    // A page that came back without its similarities says so once; the server then sends them again.
    if (!this.similarities && this.knows !== "") this.tell("knows", (this.knows = ""));
    else if (table) this.tell("knows", (this.knows = ranking.query));
    for (const card of cards) this.pool.set(card.row, card);
    this.sliders.take(ranking.weights);
  }

  get weights() {
    return this.sliders?.weights;
  }

  rank() {
    if (!this.similarities) return;
    const { list, hits } = rank(this.similarities, this.weights, this.data.ranking.top + (this.model.hidden?.size ?? 0));
    this.scores = { list, top: list[0]?.score ?? 0, before: this.places };
    this.hits = hits;
    this.model.take(list.map((hit) => this.pool.get(hit.row) ?? blank(hit.row)));
  }

  scoresOfVisible() {
    const byAddress = new Map(this.scores.list.map((hit) => [(this.pool.get(hit.row) ?? blank(hit.row)).address, hit]));
    return { ...this.scores, list: this.model.visible.map((address) => byAddress.get(address)) };
  }

  /** Remembers where each result is now, for the ▲▼ of the next movement. */
  holdPlaces() {
    this.places = new Map((this.scores?.list ?? []).map((hit, index) => [hit.row, index]));
  }

  rerank() {
    this.cards.changedAt = 0;
    this.paint();
  }

  stop() {
    this.stops.forEach((stop) => stop());
    this.watcher.disconnect();
    this.log.stop();
    this.sliders?.stop();
    clearTimeout(this.asking);
  }
}

const blanks = new Map();

/** The place of a result whose card the server has not sent yet. */
function blank(row) {
  if (!blanks.has(row)) blanks.set(row, { address: `row-${row}`, row, name: "…", ticker: "", created_at: 0, tags: [], picture: "", blank: true, facets: true });
  return blanks.get(row);
}

/** An Arrow column as floats, NaN where the record lacks the facet. */
function floats(column) {
  const values = new Float32Array(column.length);
  for (let row = 0; row < column.length; row++) values[row] = column.get(row) ?? NaN;
  return values;
}

const grids = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".memedex-grid");
  let grid = grids.get(parentElement);
  // Another page's grid may be handed the same place in the document.
  if (grid && (grid.key !== data.key || grid.root !== root)) {
    grid.stop();
    grid = null;
  }
  if (!grid) {
    grid = new Grid(root, data.key);
    grids.set(parentElement, grid);
  }
  grid.send = setStateValue;
  grid.update(data);
  return () => {
    grid.stop();
    grids.delete(parentElement);
  };
}

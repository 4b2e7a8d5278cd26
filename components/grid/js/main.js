// One grid: it combines the server's data with the decisions made here.

import { hand, isBusy, isLeaving } from "../../shell/js/hand.js";
import { mayRun } from "../../shell/js/outdated.js";
import { read, write } from "../../shell/js/storage.js";
import { headerHeight } from "../../shell/js/streamlit_page.js";
import { el } from "../../shell/js/elements.js";
import { count } from "./dom.js";
import { Acts } from "./acts.js";
import { Cards } from "./cards.js";
import { Completion } from "./completion.js";
import { Comparison } from "./comparison.js";
import { Decisions } from "./decisions.js";
import { DecisionLog } from "./log.js";
import { FilterField } from "./filter_field.js";
import { EarlyKeys } from "./early_keys.js";
import { Focus } from "./focus.js";
import { KeySheet } from "./help.js";
import { KeyMap } from "./key_map.js";
import { listenToKeys } from "./keys.js";
import { listenToPointer } from "./pointer.js";
import { Model } from "./model.js";
import { askTags, TagDialog } from "./tag_dialog.js";
import { Ranking } from "./ranking.js";
import { Tools } from "./tools.js";
import { Viewer } from "./viewer.js";

const LOOK = 250; // ms between two looks at whether the hand rests, while decisions are not in the cards
const ASK = 120; // ms on one coin before its details are requested, so that paging through costs nothing

class Grid {
  constructor(root, data) {
    const { key } = data;
    this.root = root;
    this.key = key;
    this.place = placeOf(data);
    this.model = new Model([data.library, data.who, key].map(encodeURIComponent).join(":"));
    this.acts = new Acts((asked) => this.send("asked", asked));
    this.log = new DecisionLog({
      place: this.place,
      waits: (number) => this.sayWaiting(number),
      heard: (results) => this.hear(results),
      refused: () => this.acts.ask(),
      canDecide: data.undoable,
    });
    this.keyMap = new KeyMap();
    this.decisions = new Decisions(this);
    this.ranking = new Ranking(this);
    this.tools = new Tools(this);
    this.viewer = new Viewer(this);
    this.comparison = new Comparison(this);
    this.tagging = new TagDialog(this);
    this.focus = new Focus(this);
    this.filter = new FilterField();
    this.completion = new Completion(this, {
      known: async () => (await askTags(this.data, { addresses: [] }))?.known ?? [],
    });
    this.earlyKeys = new EarlyKeys(this);
    this.help = new KeySheet(this);
    this.parts = { field: el("div", { class: "cards", role: "row" }) };
    this.frame = el(
      "div",
      { class: "field", role: "grid", "aria-multiselectable": "true", "aria-label": "Coins" },
      this.parts.field,
    );
    this.cards = new Cards(this.parts.field);
    root.dataset.keys = this.keyMap.isOff ? "off" : "on";
    root.replaceChildren(
      this.ranking.node,
      this.tools.node,
      this.frame,
      this.viewer.node,
      this.comparison.node,
      this.tagging.node,
      this.help.node,
    );
    this.resize(read("memedex-size", 168, "localStorage"));
    this.stops = [listenToKeys(this), listenToPointer(this)];
    const leave = () => this.log.flush();
    window.addEventListener("pagehide", leave);
    this.stops.push(() => window.removeEventListener("pagehide", leave));
    this.watcher = new ResizeObserver(([{ contentRect }]) => {
      const width = Math.round(contentRect.width);
      if (width === this.tools.width) return; // higher or lower only: rows came or went
      this.cards.measured = null;
      this.tools.fit({ width });
      this.placeBar();
    });
    this.watcher.observe(root);
  }

  /** New data from the server. */
  update(data) {
    const first = !this.data;
    this.data = data;
    const isAnother = this.model.ask(data);
    this.actions = data.actions;
    this.acts.take(data.acted);
    this.log.take(data);
    this.tools.offer(data.actions, data);
    if (this.offered !== JSON.stringify(data.actions)) this.help.fill();
    this.offered = JSON.stringify(data.actions);
    this.lastRun = { at: -Infinity, times: 0 };
    if (data.ranking) this.ranking.take(data);
    else this.model.take(data.cards, data.elsewhere);
    this.model.hold(data.matching);
    this.paint({ glide: !first });
    if (data.tagging) this.tagging.showOnce(data.tagging);
    if (isAnother) this.focus.toTop({ focus: !first });
    if (first) this.focus.leaveLink();
    const told = first ? this.log.nameForeign() : "";
    if (told) this.tools.say(told, "red");
  }

  /** The server has answered decisions. */
  hear(results) {
    this.paint({ focus: this.decisions.settle(results) });
    this.catchUp();
  }

  /** Runs the page, once the hand rests or half of the cards are gone. */
  catchUp() {
    clearTimeout(this.catching);
    if (!this.log.applied.length) return;
    const now = performance.now();
    const isShort = 2 * this.model.hidden.size >= this.model.order.length && !this.lastRun.times && !isBusy();
    if (isShort || mayRun(hand(), { now, lastRun: this.lastRun })) {
      this.lastRun = { at: now, times: this.lastRun.times + 1 };
      this.acts.ask();
    }
    this.catching = setTimeout(() => this.catchUp(), LOOK);
  }

  /** Shows the keys as they are set now. */
  relabel() {
    this.root.dataset.keys = this.keyMap.isOff ? "off" : "on";
    this.tools.made = this.viewer.made = this.comparison.made = null;
    this.tools.offer(this.data.actions, this.data);
    this.help.fill();
    this.ranking.views?.show();
    this.refresh();
  }

  step(x, y, { select = false } = {}) {
    const { model } = this;
    const at = model.visible.indexOf(model.cursor);
    const address = model.visible[at + x + y * this.columns()] ?? (at < 0 ? model.visible[0] : null);
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

  /** Whether more coins match than this page shows, and there is an action for them. */
  get offersEverything() {
    return Boolean(
      this.data?.pages && this.data.matching && !this.model.everything && this.actions.some((action) => !action.single),
    );
  }

  /** Selects all coins that match; with one page, that is this page. */
  selectEverything() {
    if (!this.data.pages) return this.selectPage();
    if (!this.offersEverything) return;
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
    this.model.bringBack(this.data.matching);
    this.refresh();
  }

  turn(by) {
    if (!this.data.pages) return false;
    this.acts.add({ verb: by > 0 ? "next" : "previous", addresses: [], goes: "page" });
    return true;
  }

  open(address) {
    this.viewer.show(address);
  }

  /** The coin next to similar ones. */
  compare(address) {
    if (!this.viewer.isOpen) this.model.moveTo(address);
    this.comparison.show(address);
    this.refresh();
  }

  /** Asks the server for the details of the coin in the large view, and of its neighbours. */
  ask(address) {
    clearTimeout(this.asking);
    const { visible } = this.model;
    const at = visible.indexOf(address);
    const wanted = at < 0 ? [] : [address, visible[at + 1], visible[at - 1]].filter(Boolean);
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
    this.root.style.setProperty("--memedex-bar-top", `${Math.round(headerHeight())}px`);
  }

  columns() {
    return this.cards.shape().columns;
  }

  paint({ glide = true, focus = false } = {}) {
    if (this.data.ranking) this.ranking.rank();
    this.model.settle(this.log.news);
    this.frame.inert = !this.model.visible.length; // a grid without a cell is none for screen readers
    this.cards.show(this.model, { glide, scores: this.ranking.scoresOfVisible() });
    this.ranking.views?.show();
    this.refresh({ focus });
  }

  refresh({ focus = false } = {}) {
    this.cards.mark(this.model, this.columns());
    this.tools.refresh(this.model);
    this.viewer.refresh();
    this.comparison.refresh();
    this.focus.keep();
    if (focus && !this.focus.isCovered) this.focus.follow();
  }

  /** Reports decisions that are safe but not stored yet: the server is away or busy. */
  sayWaiting(number) {
    if (!number) return this.tools.say("All that was decided is stored");
    const kept = `This browser keeps ${number === 1 ? "it" : "them"} and goes on trying.`;
    this.tools.say(`${count(number, "decision")} not stored yet: the server is away or busy. ${kept}`, "red");
  }

  /** Tells the server, and thereby runs the page; not while another page is on its way. */
  tell(name, value) {
    if (!isLeaving()) this.send(name, value);
  }

  stop() {
    this.stops.forEach((stop) => stop());
    this.watcher.disconnect();
    this.log.stop();
    this.acts.stop();
    this.filter.stop();
    this.completion.stop();
    this.earlyKeys.stop();
    this.ranking.stop();
    clearTimeout(this.asking);
    clearTimeout(this.catching);
  }
}

/** The owner of decisions made here. */
function placeOf({ library, who }) {
  return { library, who };
}

const grids = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".memedex-grid");
  let grid = grids.get(parentElement);
  // Streamlit may reuse the node for another page's grid, or for another library or person.
  const isAnother =
    grid && (grid.key !== data.key || grid.place.library !== data.library || grid.place.who !== data.who);
  if (grid && (isAnother || grid.root !== root)) {
    grid.stop();
    grid = null;
  }
  if (!grid) {
    grid = new Grid(root, data);
    grids.set(parentElement, grid);
  }
  grid.send = setStateValue;
  grid.update(data);
  return () => {
    // Streamlit also calls this for an overtaken run of this function, while the page stays open.
    if (root.isConnected) return;
    grid.stop();
    grids.delete(parentElement);
  };
}

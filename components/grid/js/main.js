// One grid: it combines the server's data with the decisions made here.

import { hand, isBusy, isLeaving } from "../../shell/js/hand.js";
import { mayRun, NEVER } from "../../shell/js/outdated.js";
import { read, write } from "../../shell/js/storage.js";
import { headerHeight } from "../../shell/js/streamlit_page.js";
import { el, part } from "../../shell/js/elements.js";
import { count } from "./dom.js";
import { Cards } from "./cards.js";
import { Coins } from "./coins.js";
import { Comparison } from "./comparison.js";
import { Acts, Decisions } from "./decisions.js";
import { Completion, FilterField } from "./filter_line.js";
import { Focus } from "./focus.js";
import { KeySheet } from "./help.js";
import { EarlyKeys, KeyMap, listenToKeys } from "./keys.js";
import { DecisionLog } from "./log.js";
import { Model } from "./model.js";
import { Panel } from "./panel.js";
import { takePlace } from "./place.js";
import { listenToPointer } from "./pointer.js";
import { Ranking } from "./ranking.js";
import { Listed } from "./table.js";
import { askTags, TagDialog } from "./tag_dialog.js";
import { SIZES, Tools } from "./tools.js";

/** @import { Server } from "../../shell/js/post.js" */
/** @import { Mount } from "../../shell/js/streamlit_page.js" */
/** @import { Parameters, Switch } from "../../shell/session/safe_mode.js" */
/** @import { Action } from "./decisions.js" */
/** @import { Place, Result } from "./log.js" */
/** @import { Card, Elsewhere, Matching } from "./model.js" */
/** @import { ArrowTable, RankingData } from "./ranking.js" */

/**
 * What a run of the page gives (`mount` of components/grid/grid.py): the cards and what is asked, what can be done, and
 * whose decisions these are. Search results have `ranking` and their similarities.
 *
 * @typedef {Place & {
 *   key: string,
 *   server: Server,
 *   generation: number,
 *   cards: Card[],
 *   elsewhere?: Record<string, Elsewhere>,
 *   pages?: boolean,
 *   matching?: Matching | null,
 *   question?: string,
 *   order?: string,
 *   line: {field: string, says: string, keys: string[]} | null,
 *   tagging?: {id: string, addresses: string[]} | null,
 *   actions: Action[],
 *   undoable: boolean,
 *   counted?: string,
 *   isTree?: boolean,
 *   switches?: Switch[],
 *   undo: string[],
 *   redo: string[],
 *   acted: {client: string, n: number, link: string} | null,
 *   safe: Parameters | null,
 *   presents: boolean,
 *   table?: boolean,
 *   ranking?: RankingData,
 *   similarities?: ArrowTable | null,
 * }} GridData
 */
/** @typedef {(name: string, value: unknown) => void} Send carries a value to the server, and thereby runs the page */

const PRESENTED = 300; // px of a card while somebody presents
const LOOK = 250; // ms between two looks at whether the hand rests, while decisions are not in the cards

export class Grid {
  isNew = true; // before the first update
  /** @type {Ranking | null} of search results */
  ranking = null;
  /** @type {Listed | null} of a page that offers its coins as a table */
  listed = null;
  /** @type {Map<string, string>} address → "unfit" or "fit", as said here since the page ran */
  flags = new Map();
  lastRun = NEVER;
  offered = ""; // the actions, as one text
  size = 0; // of cards, in px
  width = 0;
  catching = 0;

  /** @param {HTMLElement} root @param {GridData} data @param {Send} send */
  constructor(root, data, send) {
    const { key, library, who } = data;
    this.root = root;
    this.data = data;
    this.send = send;
    this.key = key;
    this.place = { library, who };
    this.actions = data.actions;
    this.model = new Model([library, who, key].map(encodeURIComponent).join(":"));
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
    this.tools = new Tools(this);
    this.coins = new Coins(this);
    this.panel = new Panel(this);
    this.comparison = new Comparison(this);
    this.tagging = new TagDialog(this);
    this.focus = new Focus(this);
    this.filter = new FilterField();
    this.completion = new Completion(this, {
      known: async () => (await askTags(this.data, { addresses: [] }))?.known ?? [],
    });
    this.earlyKeys = new EarlyKeys(this);
    this.help = new KeySheet(this);
    this.field = el("div", { class: "cards", role: "row" });
    this.frame = el(
      "div",
      { class: "field", role: "grid", "aria-multiselectable": "true", "aria-label": "Coins" },
      this.field,
    );
    this.cards = new Cards(this.field);
    this.frame.append(this.cards.quick);
    this.sayKeys();
    root.replaceChildren(
      this.tools.node,
      this.frame,
      this.panel.node,
      this.comparison.node,
      this.tagging.node,
      this.help.node,
    );
    this.resize(nearestSize(read("memedex-size", SIZES.M, "localStorage")));
    this.stops = [listenToKeys(this), listenToPointer(this), takePlace(this)];
    const leave = () => this.log.flush();
    window.addEventListener("pagehide", leave);
    this.stops.push(() => window.removeEventListener("pagehide", leave));
    this.watcher = new ResizeObserver((changed) => {
      for (const { target, contentRect } of changed) {
        const width = Math.round(contentRect.width);
        if (target === this.tools.node) this.tools.fit({ width });
        else if (width !== this.width) this.cards.measured = null; // higher or lower only: rows came or went
        if (target === root) this.width = width;
      }
      this.placeBar();
    });
    this.watcher.observe(root);
    this.watcher.observe(this.tools.node);
  }

  /** The table of these coins, if the page offers one. */
  get table() {
    return this.ranking?.views.table ?? this.listed?.table;
  }

  /** The element of this component on the page. */
  get host() {
    const top = this.root.getRootNode();
    return top instanceof ShadowRoot ? top.host : null;
  }

  /** @param {GridData} data new, from the server */
  update(data) {
    const first = this.isNew;
    this.isNew = false;
    this.data = data;
    const isAnother = this.model.ask(data);
    this.actions = data.actions;
    this.acts.take(data.acted);
    this.log.take(data);
    this.tools.offer(data.actions, data);
    const offered = JSON.stringify(data.actions);
    if (this.offered !== offered) this.help.fill();
    this.offered = offered;
    this.lastRun = NEVER;
    if (data.ranking) {
      this.ranking ??= new Ranking(this, data.ranking);
      this.ranking.take(data.ranking, data);
    } else this.model.take(data.cards, data.elsewhere);
    if (data.table) this.listed ??= new Listed(this);
    this.model.hold(data.matching);
    this.field.classList.toggle("tree", Boolean(data.isTree));
    this.paint({ glide: !first });
    this.coins.forget();
    if (first) this.panel.showNamed();
    if (data.tagging) this.tagging.showOnce(data.tagging);
    if (isAnother) this.focus.toTop({ focus: !first });
    if (first) this.focus.leaveLink();
    const told = first ? this.log.nameForeign() : "";
    if (told) this.tools.say(told, "red");
  }

  /** @param {Result[]} results of decisions, from the server */
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

  /** Buttons name their keys unless these are off. */
  sayKeys() {
    for (const node of [this.root, this.tools.node]) {
      node.dataset.keys = this.keyMap.isOff ? "off" : "on";
      if (this.data.presents) node.dataset.presents = "";
    }
  }

  /** Shows the keys as they are set now. */
  relabel() {
    this.sayKeys();
    this.tools.made = this.comparison.made = null;
    this.panel.made = "";
    this.tools.offer(this.data.actions, this.data);
    this.help.fill();
    this.ranking?.views.show();
    this.refresh();
  }

  /** @param {number} x @param {number} y @param {{select?: boolean}} how */
  step(x, y, { select = false } = {}) {
    const { model } = this;
    const order = this.table?.order ?? model.visible;
    const columns = this.table?.order ? 1 : this.cards.shape().columns;
    const at = order.indexOf(model.cursor ?? "");
    const address = order[at + x + y * columns] ?? (at < 0 ? order[0] : null);
    if (!address) return;
    if (select) model.select([model.cursor ?? address, address], true);
    model.moveTo(address);
    model.anchor = address;
    this.refresh({ focus: true });
  }

  /** @param {boolean} end */
  edge(end) {
    const order = this.table?.order ?? this.model.visible;
    if (!order.length) return;
    this.model.moveTo(end ? order[order.length - 1] : order[0]);
    this.refresh({ focus: true });
  }

  toggle() {
    const { model } = this;
    const { cursor } = model;
    model.anchor = cursor;
    if (cursor !== null) model.select([cursor], !model.isChosen(cursor));
    this.refresh();
  }

  selectPage() {
    this.model.select(this.model.visible, true);
    this.refresh();
  }

  /** Whether more coins match than this page shows, and there is an action for them. */
  get offersEverything() {
    const { pages, matching } = this.data;
    return Boolean(pages && matching) && !this.model.everything && this.actions.some((action) => !action.single);
  }

  /** Selects all coins that match; with one page, that is this page. */
  selectEverything() {
    if (!this.data.pages) return this.selectPage();
    if (!this.offersEverything || !this.data.matching) return;
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

  /** @param {number} by */
  turn(by) {
    if (!this.data.pages) return false;
    this.acts.add({ verb: by > 0 ? "next" : "previous", addresses: [], goes: "page" });
    return true;
  }

  /** @param {string} address of a coin that is compared with similar ones */
  compare(address) {
    this.model.moveTo(address);
    this.comparison.show(address);
    this.refresh();
  }

  /** @param {number} size of cards, in px */
  resize(size) {
    this.size = size;
    this.root.style.setProperty("--size", `${this.data.presents ? PRESENTED : size}px`);
    this.root.dataset.size = size <= SIZES.S ? "small" : size >= SIZES.L ? "large" : "medium";
    this.cards.measured = null;
    write("memedex-size", size, "localStorage");
    if (!this.isNew) this.refresh();
  }

  /** The bar sticks below Streamlit's own header, which lies over the page. */
  placeBar() {
    this.root.style.setProperty("--memedex-bar-top", `${Math.round(headerHeight())}px`);
  }

  paint({ glide = true, focus = false } = {}) {
    if (this.data.ranking) this.ranking?.rank();
    this.model.settle(this.log.news);
    this.frame.inert = !this.model.visible.length; // a grid without a cell is none for screen readers
    this.cards.show(this.model, { glide, scores: this.ranking?.scoresOfVisible() ?? null });
    this.ranking?.views.show();
    this.listed?.table.show();
    this.refresh({ focus });
  }

  refresh({ focus = false } = {}) {
    this.cards.mark(this.model);
    this.table?.mark();
    this.tools.refresh(this.model);
    this.panel.refresh();
    this.comparison.refresh();
    this.focus.keep();
    if (focus && !this.focus.isCovered) this.focus.follow();
  }

  /** @param {number} number of decisions that are safe but not stored yet: the server is away or busy */
  sayWaiting(number) {
    if (!number) return this.tools.say("All that was decided is stored");
    const kept = `This browser keeps ${number === 1 ? "it" : "them"} and goes on trying.`;
    this.tools.say(`${count(number, "decision")} not stored yet: the server is away or busy. ${kept}`, "red");
  }

  /**
   * Tells the server, and thereby runs the page; not while another page is on its way.
   *
   * @param {string} name
   * @param {unknown} value
   */
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
    this.ranking?.stop();
    this.panel.stop();
    clearTimeout(this.catching);
  }
}

/** @param {number} size as it was chosen, maybe among the sizes of an earlier version */
function nearestSize(size) {
  return Object.values(SIZES).reduce((best, each) => (Math.abs(each - size) < Math.abs(best - size) ? each : best));
}

/** @type {WeakMap<Node, Grid>} */
const grids = new WeakMap();

/** @param {Mount<GridData>} mount */
export default function ({ data, parentElement, setStateValue }) {
  const root = part(parentElement, ".memedex-grid", HTMLElement);
  let grid = grids.get(parentElement);
  // Streamlit may reuse the node for another page's grid, or for another library or person.
  const isAnother =
    grid && (grid.key !== data.key || grid.place.library !== data.library || grid.place.who !== data.who);
  if (grid && (isAnother || grid.root !== root)) {
    grid.stop();
    grid = undefined;
  }
  if (!grid) {
    grid = new Grid(root, data, setStateValue);
    grids.set(parentElement, grid);
  }
  grid.send = setStateValue;
  grid.update(data);
  return () => {
    // Streamlit also calls this for an overtaken run of this function, while the page stays open.
    if (root.isConnected) return;
    grids.get(parentElement)?.stop();
    grids.delete(parentElement);
  };
}

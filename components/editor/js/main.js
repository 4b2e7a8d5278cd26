// The editor of one coin's caption: drafts are stored, commits are compared first, nothing moves unexpectedly.

import { activeIn, el, part, setText } from "../../shell/js/elements.js";
import { isLeaving } from "../../shell/js/hand.js";
import { showPicture } from "../../grid/js/dom.js";
import { Bar } from "./bar.js";
import { baseOf, Conflict, sameTags } from "./conflict.js";
import { DraftStore } from "./draft_store.js";
import { Row } from "./facet.js";
import { Neighbours } from "./neighbours.js";
import { Revisions } from "./revisions.js";
import { Saving } from "./saving.js";
import { Server } from "./server.js";
import { Suggesting } from "./suggesting.js";
import { Tags } from "./tags.js";

/** @import { Server as Place } from "../../shell/js/post.js" */
/** @import { Mount } from "../../shell/js/streamlit_page.js" */
/** @import { Source, Sources, Typed } from "./draft_store.js" */
/** @import { Purpose } from "./facet.js" */
/** @import { Content } from "./server.js" */

/**
 * What a run of the page gives (components/editor/editor.py): a coin, who may change it, and the coins before and after
 * it and the next one that is bare.
 *
 * @typedef {{
 *   server: Place,
 *   who: string,
 *   library: string,
 *   canWrite: boolean,
 *   canPromote: boolean,
 *   model: string,
 *   facets: Purpose[],
 *   mostTags: number,
 *   categories: Record<string, string>,
 *   content: Content,
 *   ways: {previous: string | null, following: string | null, bare: string | null},
 * }} EditorData
 */
/** @typedef {(name: string, value: unknown) => void} Trigger runs the page */

export class Editor {
  address = "";
  /** @type {Sources} */
  sources = {};
  measuring = 0;

  /** @param {HTMLElement} root @param {EditorData} data @param {Trigger} trigger */
  constructor(root, data, trigger) {
    this.root = root;
    this.data = data;
    this.trigger = trigger;
    this.content = data.content;
    this.base = baseOf(data.content);
    /** @type {Map<string, string>} address → name of each coin that was open here */
    this.names = new Map();
    this.server = new Server(() => this.data, { renew: () => this.trigger("renew", Date.now()) });
    this.draftStore = new DraftStore({
      ask: (verb, body) => this.server.ask(verb, body),
      beacon: (verb, body) => this.server.beacon(verb, body),
      say: (state, why, address) => (address === this.address ? this.bar.say(state, why) : this.refresh()),
      elsewhere: (address, draft) => address === this.address && this.conflict.meetDraft(draft),
    });
    this.rows = data.facets.map((purpose) => new Row(this, purpose));
    this.tags = new Tags(this);
    this.neighbours = new Neighbours(this);
    this.history = new Revisions(this);
    this.conflict = new Conflict(this);
    this.suggesting = new Suggesting(this);
    this.saving = new Saving(this);
    this.bar = new Bar(this);
    this.coin = new Coin(this.suggesting.node);
    const desk = el(
      "div",
      { class: "desk" },
      this.bar.node,
      this.bar.note,
      this.bar.drafts,
      ...this.rows.map((row) => row.node),
      this.tags.node,
      this.history.node,
    );
    root.replaceChildren(el("div", { class: "columns" }, this.coin.node, desk, this.neighbours.node));
    this.stops = [listenToKeys(this), this.listenToWindow()];
  }

  /** Drafts outlive the page and follow changes made in another window. */
  listenToWindow() {
    const leave = () => this.draftStore.flush();
    const back = () => this.draftStore.waiting.size && this.draftStore.send();
    const returned = () => document.visibilityState === "visible" && this.lookElsewhere();
    window.addEventListener("pagehide", leave);
    window.addEventListener("online", back);
    window.addEventListener("focus", returned);
    document.addEventListener("visibilitychange", returned);
    return () => {
      window.removeEventListener("pagehide", leave);
      window.removeEventListener("online", back);
      window.removeEventListener("focus", returned);
      document.removeEventListener("visibilitychange", returned);
    };
  }

  get canWrite() {
    return this.data.canWrite;
  }

  get caption() {
    return Object.fromEntries(this.rows.map((row) => [row.facet, row.value]));
  }

  /** Whether anything here differs from the stored caption it started from. */
  get isChanged() {
    const { caption } = this;
    return (
      this.rows.some(({ facet }) => caption[facet] !== (this.base.caption[facet] ?? null)) ||
      !sameTags(this.tags.values, this.base.tags)
    );
  }

  /** @param {EditorData} data from the server: another coin, or changes to this one */
  update(data) {
    this.data = data;
    this.draftStore.place = `${data.library}:${data.who}`;
    this.tags.offer(data.categories);
    if (data.content.address !== this.address) this.open(data.content);
    else if (data.content.revision > this.content.revision) this.follow(data.content);
    else if (data.content.revision === this.content.revision) this.identify(data.content);
    this.conflict.takeUp(data.content.draft);
    this.bar.offer(Boolean(data.ways.bare));
  }

  /** @param {Content} content */
  open(content) {
    const wasHere = Boolean(this.address);
    if (this.address) this.draftStore.send();
    this.address = content.address;
    this.conflict.clear();
    this.suggesting.begin();
    const draft = this.canWrite ? this.draftStore.open(content.address, content.draft) : null;
    this.begin(content);
    this.identify(content);
    if (draft) {
      this.base = draft.base;
      this.sources = draft.sources ?? {};
      this.rows.forEach((row) => row.show(draft.caption[row.facet] ?? null));
      this.tags.show(draft.tags);
    }
    const halfTyped = this.tags.dropHalfTyped();
    this.bar.noteThat(halfTyped ? `“${halfTyped}” was not added as a tag of the coin before.` : "");
    if (draft && draft.base.revision !== content.revision) this.conflict.meetStored(content);
    if (draft && draft !== content.draft) {
      // The browser had a draft that the server never confirmed.
      if (content.draft && content.draft.client !== draft.client) this.conflict.meetDraft(content.draft);
      this.changed();
      if (!this.conflict.isOpen) this.conflict.meetNext();
    }
    this.bar.say("rest");
    this.measure();
    const first = this.rows.find((row) => row.value === null && row.purpose.required) ?? this.rows[0];
    this.look(first);
    const at = document.activeElement;
    const isIdle = at === null || at === document.body || at.shadowRoot === this.root.getRootNode();
    if (this.canWrite && (wasHere || isIdle)) first.area.focus({ preventScroll: !wasHere });
    if (this.history.node.open) this.history.load();
  }

  /** @param {Content} content whose stored caption is shown, and is the base of the next draft */
  begin(content) {
    this.base = baseOf(content);
    this.sources = {};
    this.rows.forEach((row) => {
      row.aside.replaceChildren();
      row.show(content.stored.caption[row.facet] ?? null);
    });
    this.tags.show(content.stored.tags);
  }

  /** @param {Content} content */
  identify(content) {
    this.content = content;
    this.names.set(content.address, content.name);
    this.coin.show(content);
    this.bar.nameOthers(content.others);
    this.rows.forEach((row) => row.signed(content.wrote[row.facet]));
    this.suggesting.show(content.suggestions);
  }

  /** @param {Content} content of the record, which was changed by this page or by another user */
  follow(content) {
    if (this.isChanged) this.conflict.meetStored(content);
    else this.begin(content);
    this.identify(content);
    this.bar.say("rest");
    if (this.history.node.open) this.history.load();
  }

  /** @param {Row} row @param {Source} source */
  wrote(row, source) {
    this.sources[row.facet] = { ...source, text: source.text.trim() };
    this.changed(row);
  }

  /** @param {Row} [row] */
  changed(row) {
    if (!this.canWrite) return;
    if (this.conflict.isWithWindow) this.draftStore.hold(this.address, this.draft());
    else if (this.isChanged) this.draftStore.keep(this.address, this.draft());
    else this.draftStore.drop(this.address); // typed, and typed back
    if (row) this.neighbours.ask(row);
    this.refresh();
  }

  /** @returns {Typed} */
  draft() {
    const caption = Object.fromEntries(this.rows.map((row) => [row.facet, row.text.trim() ? row.text : row.value]));
    return { caption, tags: this.tags.values, base: this.base, sources: this.attributed() };
  }

  /** The model's suggestion that each facet started from; the server works out how much of it is left. */
  attributed() {
    return Object.fromEntries(
      this.rows.filter((row) => row.value && this.sources[row.facet]).map(({ facet }) => [facet, this.sources[facet]]),
    );
  }

  /** The window has the focus again: follow what another window did with the draft. */
  async lookElsewhere() {
    const { address, draftStore } = this;
    const { n } = draftStore; // what is typed while the server answers makes that answer an old one
    const isBusy = () =>
      address !== this.address ||
      n !== draftStore.n ||
      this.saving.isUnderWay ||
      (this.conflict.isOpen && !this.conflict.isWithWindow) ||
      draftStore.waiting.size > 0;
    if (!this.canWrite || isBusy()) return;
    let own;
    try {
      own = await this.server.ask("own", { address });
    } catch {
      return; // the next keystroke handles it
    }
    if (isBusy()) return;
    if (own.draft) this.conflict.takeUp(own.draft);
    else if (this.isChanged) this.changed(); // discarded there, but still here
  }

  /**
   * Opens another coin, or shows a message if there is none.
   *
   * @param {string | null} address
   */
  go(address, otherwise = "Every coin of this list has its caption.") {
    if (address) this.trigger("go", address);
    else this.bar.noteThat(otherwise);
  }

  /** @param {Row} row */
  look(row) {
    this.rows.forEach((other) => other.node.classList.toggle("at", other === row));
    if (this.neighbours.row !== row || !row.text || !this.neighbours.isOfThisCoin)
      this.neighbours.ask(row, { wait: 0 });
  }

  /** Counts how much of the model's limit these texts use. */
  async measure(rows = this.rows) {
    const { address } = this;
    const texts = Object.fromEntries(rows.filter((row) => row.text.trim()).map((row) => [row.facet, row.text]));
    if (!Object.keys(texts).length) return;
    try {
      const answer = await this.server.ask("measure", { texts });
      if (address !== this.address) return;
      clearTimeout(this.measuring);
      if (!Object.keys(answer).length) this.measuring = setTimeout(() => this.measure(), 1500);
      for (const row of rows) if (answer[row.facet] && row.text === texts[row.facet]) row.measure(answer[row.facet]);
    } catch {
      // the next keystroke counts the tokens again
    }
  }

  discard() {
    this.draftStore.drop(this.address);
    this.suggesting.taken.clear();
    this.conflict.clear();
    this.bar.noteThat("");
    this.begin(this.content);
    this.measure();
    this.bar.say("rest");
  }

  /** Takes the focus from what is typed in. */
  release() {
    const active = activeIn(this.root);
    if (active instanceof HTMLElement) active.blur();
  }

  refresh() {
    this.bar.refresh();
    this.suggesting.refresh();
  }

  stop() {
    this.draftStore.flush();
    this.neighbours.stop();
    clearTimeout(this.measuring);
    this.suggesting.stop();
    clearTimeout(this.draftStore.timer);
    this.stops.forEach((stop) => stop());
  }
}

/** The current coin: its picture and its names. */
class Coin {
  /** @param {HTMLElement} helpers */
  constructor(helpers) {
    this.picture = el("img", { class: "picture", alt: "" });
    this.name = el("h2", { dir: "auto" });
    this.ticker = el("code", { class: "ticker" });
    this.tier = el("span", { class: "tier" });
    this.description = el("p", { class: "description", dir: "auto" });
    this.key = el("code", { class: "address" });
    this.node = el(
      "div",
      { class: "coin" },
      this.picture,
      el("div", { class: "line" }, this.name, this.ticker, this.tier),
      this.description,
      this.key,
      helpers,
    );
  }

  /** @param {Content} content */
  show(content) {
    if (this.picture.getAttribute("src") !== content.picture) showPicture(this.picture, content.picture);
    this.picture.alt = `Picture of ${content.name}`;
    setText(this.name, content.name);
    setText(this.ticker, content.ticker);
    setText(this.tier, content.tier);
    this.tier.dataset.tier = content.tier;
    setText(this.description, content.description);
    setText(this.key, content.address);
  }
}

/**
 * The editor's keys, with the focus in any place of the page; returns a function that stops listening.
 *
 * @param {Editor} editor
 */
function listenToKeys(editor) {
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (!editor.root.isConnected || document.querySelector("[role=dialog]")) return;
    const act = verb(editor, event);
    if (!act) return;
    event.preventDefault(); // the browser would offer to save the page
    event.stopImmediatePropagation();
    act();
  };
  document.addEventListener("keydown", pressed, true);
  return () => document.removeEventListener("keydown", pressed, true);
}

/** @param {Editor} editor @param {KeyboardEvent} event */
function verb(editor, { key, ctrlKey, metaKey, altKey, shiftKey }) {
  const { previous, following } = editor.data.ways;
  if ((ctrlKey || metaKey) && !altKey) {
    if (key.toLowerCase() === "s") return () => editor.saving.commit();
    if (key === "Enter") return () => editor.saving.commit(shiftKey ? { promote: true } : { next: true });
  } else if (altKey) {
    if (key === "ArrowDown") return () => editor.go(following, "That was the last one of this list.");
    if (key === "ArrowUp") return () => editor.go(previous, "This is the first one of this list.");
    if (key === "Enter") return () => editor.suggesting.acceptAll();
  }
  return null;
}

/** @type {WeakMap<Node, Editor>} */
const editors = new WeakMap();

/** @param {Mount<EditorData>} mount */
export default function ({ data, parentElement, setTriggerValue }) {
  const root = part(parentElement, ".memedex-editor", HTMLElement);
  /** @type {Trigger} */
  const trigger = (name, value) => {
    if (!isLeaving()) setTriggerValue(name, value);
  };
  let editor = editors.get(parentElement);
  if (editor && editor.root !== root) {
    editor.stop();
    editor = undefined;
  }
  editor ??= new Editor(root, data, trigger);
  editors.set(parentElement, editor);
  editor.trigger = trigger;
  editor.update(data);
  return () => {
    // Streamlit also calls this for an overtaken run of this function, while the page stays open.
    if (root.isConnected) return;
    editors.get(parentElement)?.stop();
    editors.delete(parentElement);
  };
}

// The editor of one coin's caption: what is typed is kept, what is committed is compared first, nothing jumps.

import { el, icon, setText } from "../../grid/js/dom.js";
import { Beside } from "./beside.js";
import { Keeper } from "./keeper.js";
import { Row, button } from "./facet.js";
import { Revisions } from "./revisions.js";
import { Tags } from "./tags.js";
import { Meeting } from "./meeting.js";
import { Suggesting } from "./suggesting.js";
import { sameTags, trimmed } from "./merge.js";

const PATIENT = 60_000; // ms; a server that never answers must not hold back what is typed next

class Editor {
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.keeper = new Keeper({
      ask: (verb, body) => this.ask(verb, body),
      beacon: (verb, body) => navigator.sendBeacon?.(`${this.data.routes}/${verb}`, JSON.stringify({ token: this.data.token, ...body })),
      say: (state, why) => this.say(state, why),
      elsewhere: (address, draft) => address === this.address && this.meeting.meetDraft(draft),
    });
    this.rows = data.facets.map((purpose) => new Row(this, purpose));
    this.tags = new Tags(this);
    this.beside = new Beside(this);
    this.history = new Revisions(this);
    this.meeting = new Meeting(this);
    this.suggesting = new Suggesting(this);
    this.build();
    const pressed = (event) => this.pressed(event);
    const leave = () => this.keeper.flush();
    const back = () => this.keeper.waiting.size && this.keeper.send();
    document.addEventListener("keydown", pressed, true);
    window.addEventListener("pagehide", leave);
    window.addEventListener("online", back);
    const returned = () => document.visibilityState === "visible" && this.lookElsewhere();
    window.addEventListener("focus", returned);
    document.addEventListener("visibilitychange", returned);
    this.stops = [
      () => document.removeEventListener("keydown", pressed, true),
      () => window.removeEventListener("pagehide", leave),
      () => window.removeEventListener("online", back),
      () => window.removeEventListener("focus", returned),
      () => document.removeEventListener("visibilitychange", returned),
    ];
  }

  build() {
    this.state = el("span", { class: "state", role: "status" });
    this.save = button("Save", () => this.commit(), { main: true, title: "Ctrl-S: save and stay" });
    this.saveNext = button("Save & next", () => this.commit({ next: true }), { title: "Ctrl-Enter: save, and go to the next coin that lacks its caption" });
    this.discard = button("Discard", () => this.throwAway(), { title: "Back to what is stored" });
    this.people = el("span", { class: "people" });
    this.note = el("p", { class: "note", hidden: true });
    this.bar = el("div", { class: "bar-of-all" }, this.state, this.people, el("span", { class: "verbs" }, this.discard, this.saveNext, this.save));
    this.picture = el("img", { class: "picture", alt: "" });
    this.name = el("h3", { dir: "auto" });
    this.ticker = el("code", { class: "ticker" });
    this.tier = el("span", { class: "tier" });
    this.description = el("p", { class: "description", dir: "auto" });
    this.key = el("code", { class: "address" });
    this.root.replaceChildren(
      el(
        "div",
        { class: "columns" },
        el("div", { class: "coin" }, this.picture, el("div", { class: "line" }, this.name, this.ticker, this.tier), this.description, this.key, this.suggesting.node),
        el("div", { class: "desk" }, this.bar, this.note, ...this.rows.map((row) => row.node), this.tags.node, this.history.node),
        this.beside.node,
      ),
    );
  }

  get canWrite() {
    return this.data.canWrite;
  }

  get caption() {
    return Object.fromEntries(this.rows.map((row) => [row.facet, row.value]));
  }

  /** Whether anything here differs from what this began with. */
  get isChanged() {
    const { caption } = this;
    return this.rows.some(({ facet }) => caption[facet] !== (this.base.caption[facet] ?? null)) || !sameTags(this.tags.values, this.base.tags);
  }

  /** New data from the server: another coin, or what has become of this one. */
  update(data) {
    this.data = data;
    this.keeper.place = `${data.library}:${data.who}`;
    this.tags.offer(data.categories);
    if (data.content.address !== this.address) this.open(data.content);
    else if (data.content.revision > this.content.revision) this.follow(data.content);
    else if (data.content.revision === this.content.revision) this.identify(data.content);
    this.meeting.takeUp(data.content.draft);
    this.saveNext.hidden = !data.ways.bare;
  }

  open(content) {
    const wasHere = Boolean(this.address);
    if (this.address) this.keeper.send();
    this.address = content.address;
    this.meeting.forget();
    this.suggesting.begin();
    const draft = this.canWrite ? this.keeper.open(content.address, content.draft) : null;
    this.begin(content);
    this.identify(content);
    if (draft) {
      this.base = draft.base;
      this.sources = draft.sources ?? {};
      this.rows.forEach((row) => row.show(draft.caption[row.facet] ?? null));
      this.tags.show(draft.tags);
    }
    this.noteThat("");
    if (draft && draft.base.revision !== content.revision) this.meeting.meetStored(content);
    if (draft && draft !== content.draft) {
      // The browser held words that the server never confirmed.
      if (content.draft && content.draft.client !== draft.client) this.meeting.meetDraft(content.draft);
      this.changed();
    }
    this.say("rest");
    this.measure();
    const first = this.rows.find((row) => row.value === null && row.purpose.required) ?? this.rows[0];
    this.look(first);
    const idle = [null, document.body, this.root.getRootNode().host].includes(document.activeElement);
    if (this.canWrite && (wasHere || idle)) first.area.focus({ preventScroll: !wasHere });
    if (this.history.node.open) this.history.load();
  }

  /** Shows what is stored, as the beginning of whatever is typed next. */
  begin(content) {
    this.base = { revision: content.revision, caption: trimmed(content.stored.caption), tags: [...content.stored.tags] };
    this.sources = {};
    this.rows.forEach((row) => {
      row.aside.replaceChildren();
      row.show(content.stored.caption[row.facet] ?? null);
    });
    this.tags.show(content.stored.tags);
  }

  identify(content) {
    this.content = content;
    if (this.picture.getAttribute("src") !== content.picture) this.picture.src = content.picture;
    this.picture.alt = `Picture of ${content.name}`;
    setText(this.name, content.name);
    setText(this.ticker, content.ticker);
    setText(this.tier, content.tier);
    this.tier.dataset.tier = content.tier;
    setText(this.description, content.description);
    setText(this.key, content.address);
    setText(this.people, content.others.length ? `${content.others.map(({ who, when }) => `${who} (${when})`).join(", ")} also has a draft here` : "");
    this.rows.forEach((row) => row.signed(content.wrote[row.facet]));
    this.suggesting.show(content.suggestions);
  }

  /** The record was changed, by this page or by somebody else. */
  follow(content) {
    if (this.isChanged) this.meeting.meetStored(content);
    else this.begin(content);
    this.identify(content);
    this.say("rest");
    if (this.history.node.open) this.history.load();
  }

  wrote(row, source) {
    this.sources[row.facet] = { ...source, text: source.text.trim() };
    this.changed(row);
  }

  changed(row) {
    if (!this.canWrite) return;
    if (this.meeting.isWithWindow) this.keeper.hold(this.address, this.draft());
    else if (this.isChanged) this.keeper.keep(this.address, this.draft());
    else this.keeper.drop(this.address); // typed, and typed back
    if (row) {
      this.beside.ask(row);
    }
    this.refresh();
  }

  draft() {
    const caption = Object.fromEntries(this.rows.map((row) => [row.facet, row.text.trim() ? row.text : row.value]));
    return { caption, tags: this.tags.values, base: this.base, sources: this.attributed() };
  }

  /** Which model's suggestion each facet began with; what is left of it, the server sees. */
  attributed() {
    return Object.fromEntries(this.rows.filter((row) => row.value && this.sources[row.facet]).map(({ facet }) => [facet, this.sources[facet]]));
  }

  /** Somebody comes back to this window: what another one made of the draft meanwhile. */
  async lookElsewhere() {
    const { address, keeper } = this;
    const isBusy = () => address !== this.address || this.committing || this.meeting.isOpen || keeper.waiting.size > 0;
    if (!this.canWrite || isBusy()) return;
    let own;
    try {
      own = await this.ask("own", { address });
    } catch {
      return; // what is typed next says so
    }
    if (isBusy()) return;
    if (own.draft) this.meeting.takeUp(own.draft);
    else if (this.isChanged) this.changed(); // thrown away there, and still here
  }

  throwAway() {
    this.keeper.drop(this.address);
    this.suggesting.taken.clear();
    this.meeting.forget();
    this.noteThat("");
    this.begin(this.content);
    this.measure();
    this.say("rest");
  }

  /** Saves; to the next coin without a caption, if asked to, once it is saved. */
  async commit({ next = false } = {}) {
    if (!this.canWrite || this.committing) return;
    if (this.meeting.isOpen) {
      [...this.meeting.disputes][0].node.scrollIntoView({ block: "center", behavior: "smooth" });
      return this.say("failed", "choose between the two texts first");
    }
    if (!this.isChanged) {
      this.say("rest");
      return next && this.go(this.data.ways.bare);
    }
    this.committing = true;
    const { address } = this;
    const draft = { ...this.draft(), caption: this.caption, client: this.keeper.client, n: ++this.keeper.n };
    this.say("saving");
    try {
      await this.keeper.settle(address);
      const answer = await this.ask("commit", { address, draft, ids: [...this.suggesting.taken] });
      if (answer.failed) throw new Error(answer.failed);
      if (answer.conflict) {
        this.identify(answer.conflict);
        this.meeting.meetStored(answer.conflict);
        this.say("failed", "somebody else saved first; nothing was overwritten");
      } else {
        this.saved(address, answer.saved, draft);
        if (next) this.go(this.data.ways.bare);
      }
    } catch (error) {
      if (address === this.address) {
        this.keeper.keep(address, this.draft());
        this.noteThat(`Not saved: ${error.message}`); // stays, while the state goes on to say that the draft is kept
      }
      this.say("failed", error.message);
    } finally {
      this.committing = false;
    }
  }

  /** What was typed while it was being saved goes on as a draft upon it. */
  saved(address, content, draft) {
    this.keeper.forget(address);
    this.suggesting.taken.clear();
    if (address === this.address) {
      const typedOn = this.rows.some((row) => row.value !== draft.caption[row.facet]) || !sameTags(this.tags.values, draft.tags);
      this.identify(content);
      if (typedOn) {
        this.base = { revision: content.revision, caption: trimmed(content.stored.caption), tags: [...content.stored.tags] };
        this.changed();
      } else this.begin(content);
      this.say("rest");
      this.noteThat("");
      this.measure();
      if (this.history.node.open) this.history.load();
    }
    this.trigger("saved", content.revision);
  }

  async restore(revision) {
    if (this.isChanged) return this.say("failed", "save or discard what you are writing first");
    this.rows.forEach((row) => row.show(revision.after.caption[row.facet] ?? null));
    this.tags.show(revision.after.tags);
    this.sources = {};
    await this.commit();
  }

  pressed(event) {
    if (!this.root.isConnected || document.querySelector("[role=dialog]")) return;
    const command = (event.ctrlKey || event.metaKey) && !event.altKey;
    const { previous, following } = this.data.ways;
    const act = command && event.key.toLowerCase() === "s" ? () => this.commit()
      : command && event.key === "Enter" ? () => this.commit({ next: true })
      : event.altKey && !command && event.key === "ArrowDown" ? () => this.go(following, "That was the last one of this list.")
      : event.altKey && !command && event.key === "Enter" ? () => this.suggesting.takeEverything()
      : event.altKey && !command && event.key === "ArrowUp" ? () => this.go(previous, "This is the first one of this list.")
      : null;
    if (!act) return;
    event.preventDefault(); // the browser would offer to save the page
    event.stopImmediatePropagation();
    act();
  }

  go(address, otherwise = "Every coin of this list has its caption.") {
    if (address) this.trigger("go", address);
    else this.noteThat(otherwise);
  }

  look(row) {
    this.rows.forEach((other) => other.node.classList.toggle("at", other === row));
    if (this.beside.row !== row || !row.text) this.beside.ask(row, { wait: 0 });
  }

  /** How much of the model's limit these texts take. */
  async measure(rows = this.rows) {
    const { address } = this;
    const texts = Object.fromEntries(rows.filter((row) => row.text.trim()).map((row) => [row.facet, row.text]));
    if (!Object.keys(texts).length) return;
    try {
      const answer = await this.ask("measure", { texts });
      if (address !== this.address) return;
      clearTimeout(this.measuring);
      if (!Object.keys(answer).length) this.measuring = setTimeout(() => this.measure(), 1500);
      for (const row of rows) if (answer[row.facet] && row.text === texts[row.facet]) row.measure(answer[row.facet]);
    } catch {
      // the count of tokens comes with the next letter
    }
  }

  say(state, why = "") {
    const shown = state === "rest" || state === "draft" ? (this.isChanged ? "draft" : "saved") : state;
    const words = { saved: "Saved", draft: this.meeting.isWithWindow ? "Two drafts: choose below" : "Draft kept", keeping: "Draft …", saving: "Saving …", failed: `Failed: ${why}` };
    this.state.dataset.state = this.canWrite ? shown : "saved";
    this.state.title = shown === "draft" ? "On the server, for you alone; not saved yet" : why;
    setText(this.state, this.canWrite ? words[shown] : "You may read this, not change it");
    this.refresh();
  }

  refresh() {
    const changed = this.canWrite && this.isChanged;
    this.save.disabled = !changed || this.meeting.isOpen;
    this.discard.disabled = !changed;
    this.bar.classList.toggle("reading", !this.canWrite);
    this.suggesting.refresh();
  }

  noteThat(sentence) {
    this.note.hidden = !sentence;
    this.note.replaceChildren(...(sentence ? [icon("alert"), el("span", {}, sentence)] : []));
  }

  async ask(verb, body) {
    let answer;
    try {
      answer = await fetch(`${this.data.routes}/${verb}`, { method: "POST", body: JSON.stringify({ token: this.data.token, ...body }), signal: AbortSignal.timeout(PATIENT) });
    } catch {
      throw new Error("the server cannot be reached; your words are kept in this browser and sent again");
    }
    if (!answer.ok) throw new Error(answer.status === 403 ? "this page is from another library; reload it" : `the server answered ${answer.status}`);
    return answer.json();
  }

  stop() {
    this.keeper.flush();
    this.beside.stop();
    clearTimeout(this.measuring);
    this.suggesting.stop();
    clearTimeout(this.keeper.timer);
    this.stops.forEach((stop) => stop());
  }
}

const editors = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".memedex-editor");
  let editor = editors.get(parentElement);
  if (editor && editor.root !== root) {
    editor.stop();
    editor = null;
  }
  if (!editor) {
    editor = new Editor(root, data);
    editors.set(parentElement, editor);
  }
  editor.trigger = setTriggerValue;
  editor.update(data);
  return () => {
    // Streamlit also calls this, on a page that stays, for a run of this function that a newer one overtook.
    if (root.isConnected) return;
    editor.stop();
    editors.delete(parentElement);
  };
}

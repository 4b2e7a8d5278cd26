// Suggestions of models for the current coin: requested, awaited, accepted, dismissed.

import { el, setText } from "../../shell/js/elements.js";
import { button } from "../../grid/js/dom.js";

/** @import { Editor } from "./main.js" */
/** @import { Proposed, Refusal, Suggestion } from "./server.js" */

export class Suggesting {
  /** @type {Suggestion[]} */
  open = [];
  /** @type {Set<number>} suggestions used in this draft; marked as accepted on saving */
  taken = new Set();
  /** @type {Set<number>} */
  refused = new Set();
  isAsking = false;
  job = 0;
  at = 0; // when they were read, by the server's clock
  awaiting = 0;

  /** @param {Editor} editor */
  constructor(editor) {
    this.editor = editor;
    this.asker = button("", "Suggest a caption", () => this.ask("", ""), {
      title: "Ask the language model for all four texts and tags",
    });
    this.alike = button("", "Borrow from similar coins", () => this.ask("", "", "nearest"), {
      title: "Without a language model: tags and phrases of the coins whose pictures are nearest",
    });
    this.acceptButton = button("", "Accept all", () => this.acceptAll(), {
      title: "Alt-Enter: every newest suggestion, where nothing is written yet",
    });
    this.node = el("div", { class: "helpers" }, this.asker, this.alike, this.acceptButton);
  }

  /** Another coin. */
  begin() {
    this.taken.clear();
    this.refused.clear();
    this.job = 0;
    this.at = 0;
  }

  refresh() {
    const { canWrite, data, rows } = this.editor;
    this.asker.hidden = !data.model || !canWrite;
    this.alike.hidden = !canWrite;
    this.asker.disabled = this.alike.disabled = this.isAsking;
    setText(this.asker, this.isAsking ? "Asking the model …" : "Suggest a caption");
    this.acceptButton.hidden =
      !canWrite ||
      !this.open.some((each) =>
        rows.some((row) => row.facet === each.facet && !row.text.trim() && !this.refused.has(each.id)),
      );
  }

  /** @param {Proposed} proposed */
  show({ at, open, asking }) {
    if (at < this.at) return; // a run of the page that is older than the last answer
    Object.assign(this, { at, open, isAsking: asking });
    this.editor.rows.forEach((row) => row.proposals.take(open.filter((each) => each.facet === row.facet)));
    this.editor.tags.propose(open.filter((each) => each.facet === "tags" || each.facet === "new_tags"));
    clearTimeout(this.awaiting);
    if (asking) this.awaiting = setTimeout(() => this.await(), 1000);
    this.editor.refresh();
  }

  /** @param {string} facet @param {string} hint @param {"suggest" | "nearest"} verb */
  async ask(facet, hint, verb = "suggest") {
    const { address } = this.editor;
    this.isAsking = true;
    this.editor.refresh();
    try {
      const answer = await this.editor.server.ask(verb, { address, facet, hint });
      if (address !== this.editor.address) return;
      this.job = "job" in answer ? answer.job : 0;
      this.editor.bar.noteThat("why" in answer ? answer.why : "");
      this.show({ ...answer, asking: this.job > 0 });
    } catch (error) {
      this.isAsking = false;
      this.editor.bar.noteThat(/** @type {Refusal} */ (error).message);
      this.editor.refresh();
    }
  }

  /** Waits for the model, which answers within seconds or a minute. */
  async await() {
    const { address } = this.editor;
    try {
      const answer = await this.editor.server.ask("suggestions", { address, job: this.job });
      if (address !== this.editor.address) return;
      if (answer.why) this.editor.bar.noteThat(answer.why);
      this.show(answer);
    } catch {
      this.awaiting = setTimeout(() => this.await(), 3000);
    }
  }

  /** @param {Suggestion} each */
  async refuse(each) {
    const { address } = this.editor;
    this.refused.add(each.id);
    this.editor.rows.forEach((row) => row.proposals.refresh());
    this.editor.tags.refresh();
    if (this.taken.has(each.id)) return; // part of it is used here: saving marks it as accepted
    try {
      const answer = await this.editor.server.ask("refuse", { address, ids: [each.id] });
      if (address === this.editor.address) this.show(answer);
    } catch (error) {
      this.editor.bar.noteThat(/** @type {Refusal} */ (error).message);
    }
  }

  acceptAll() {
    for (const row of this.editor.rows) {
      const each = row.proposals.list.find((one) => !this.refused.has(one.id));
      if (each && !row.text.trim()) row.proposals.accept(each);
    }
    for (const each of this.editor.tags.suggestions.filter((one) => one.facet === "tags"))
      for (const tag of each.text.split(","))
        if (tag && !this.editor.tags.values.includes(tag)) this.editor.tags.accept(tag, each);
  }

  stop() {
    clearTimeout(this.awaiting);
  }
}

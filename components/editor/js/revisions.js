// Every earlier version of this coin's caption: who, when, with which model, and what changed.

import { el, fill } from "../../shell/js/elements.js";
import { button } from "../../grid/js/dom.js";
import { sameTags } from "./conflict.js";
import { difference } from "./difference.js";
import { whyNot } from "./server.js";

/** @import { Row } from "./facet.js" */
/** @import { Editor } from "./main.js" */
/** @import { Revision, WrittenBy } from "./server.js" */

export class Revisions {
  /** @param {Editor} editor */
  constructor(editor) {
    this.editor = editor;
    this.list = el("ol", {});
    this.node = el(
      "details",
      { class: "revisions", ontoggle: () => this.load() },
      el("summary", {}, "History of this caption"),
      this.list,
    );
  }

  async load() {
    if (!this.node.open) return;
    const { address } = this.editor;
    try {
      const { revisions } = await this.editor.server.ask("history", { address });
      if (address !== this.editor.address) return;
      const items = revisions.map((revision, place) => ({ revision, isNow: place === 0 }));
      if (items.length) fill(this.list, items, (each) => this.item(each), this.editor.canWrite);
      else this.list.replaceChildren(el("li", { class: "quiet" }, "Nothing has been written yet."));
    } catch (error) {
      this.list.replaceChildren(el("li", { class: "quiet" }, whyNot(error)));
    }
  }

  /** @param {{revision: Revision, isNow: boolean}} shown */
  item({ revision, isNow }) {
    const { before, after, who, when, verb, undone } = revision;
    const changes = this.editor.rows
      .filter(({ facet }) => before.caption[facet] !== after.caption[facet])
      .map((row) => this.change(row, before.caption[row.facet], after.caption[row.facet], revision.sources[row.facet]));
    if (!sameTags(before.tags, after.tags)) {
      const tags = difference(before.tags.join(", "), after.tags.join(", "));
      changes.push(el("div", { class: "change-of" }, el("b", {}, "Tags"), tags));
    }
    const hidden = isNow || !this.editor.canWrite;
    const back = button("", "Restore this", () => this.editor.saving.restore(revision), { hidden });
    return el(
      "li",
      {},
      el(
        "header",
        {},
        el("b", {}, who),
        el("span", {}, `${verb}${undone ? " (undone)" : ""}`),
        el("span", { class: "quiet" }, when),
        back,
      ),
      ...changes,
    );
  }

  /**
   * @param {Row} row
   * @param {string | null | undefined} before
   * @param {string | null | undefined} after
   * @param {WrittenBy | undefined} source
   */
  change(row, before, after, source) {
    const model = source && [source.author, source.prompt, source.edited && "edited"].filter(Boolean).join(" · ");
    const change = after === "" ? "left empty" : after === undefined ? "removed" : "";
    return el(
      "div",
      { class: "change-of" },
      el("b", {}, row.purpose.label),
      model ? el("span", { class: "by" }, model) : null,
      difference(before ?? "", after ?? ""),
      change ? el("span", { class: "quiet" }, change) : null,
    );
  }
}

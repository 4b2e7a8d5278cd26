// Every earlier version of this coin's caption: who, when, with which model, and what changed.

import { el, fill } from "../../shell/js/elements.js";
import { difference } from "./difference.js";
import { sameTags } from "./merge.js";

export class Revisions {
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
      if (items.length)
        fill(
          this.list,
          items,
          (each) => [each, this.editor.canWrite],
          (each) => this.item(each),
        );
      else this.list.replaceChildren(el("li", { class: "quiet" }, "Nothing has been written yet."));
    } catch (error) {
      const why = error.status === 409 ? error.message : "No answer from the server.";
      this.list.replaceChildren(el("li", { class: "quiet" }, why));
    }
  }

  item({ revision, isNow }) {
    const { before, after, who, when, verb, undone } = revision;
    const changes = this.editor.rows
      .filter(({ facet }) => before.caption[facet] !== after.caption[facet])
      .map((row) => this.change(row, before.caption[row.facet], after.caption[row.facet], revision.sources[row.facet]));
    if (!sameTags(before.tags, after.tags))
      changes.push(
        el(
          "div",
          { class: "change-of" },
          el("b", {}, "Tags"),
          difference(before.tags.join(", "), after.tags.join(", ")),
        ),
      );
    const back = el("button", { type: "button", onclick: () => this.editor.saving.restore(revision) }, "Restore this");
    back.hidden = isNow || !this.editor.canWrite;
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

  change(row, before, after, source) {
    const model = source
      ? `${source.author}${source.prompt ? ` · ${source.prompt}` : ""}${source.edited ? " · edited" : ""}`
      : "";
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

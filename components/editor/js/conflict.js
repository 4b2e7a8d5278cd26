// Another user edited the same coin: both texts are merged, and the user resolves the conflicts.

import { sameTags, tagsTogether, together, trimmed } from "./merge.js";

const WINDOW = "Another window of yours";

export class Conflict {
  constructor(editor) {
    this.editor = editor;
    this.disputes = new Set(); // rows with two texts
    this.theirs = null;
  }

  get isOpen() {
    return this.disputes.size > 0;
  }

  /** Whether the other text is the user's own draft, which the text typed here would overwrite on the server. */
  get isWithWindow() {
    return this.isOpen && !this.theirs.base;
  }

  clear() {
    this.disputes.clear();
    this.theirs = null;
  }

  meetStored(content) {
    const { caption, tags } = content.stored;
    this.meet({
      caption,
      tags,
      who: content.changed?.who ?? "Another user",
      base: { revision: content.revision, caption, tags },
    });
  }

  /** A draft that was changed in another window. */
  takeUp(draft) {
    if (draft && this.editor.canWrite && this.editor.draftStore.isNews(this.editor.address, draft))
      this.meetDraft(draft);
  }

  meetDraft(draft) {
    const { caption, tags, sources, client } = draft;
    this.editor.draftStore.meet(this.editor.address, draft);
    this.meet({ caption, tags, sources, client, who: WINDOW });
  }

  /** A draft that another window left in this browser and the server never had. */
  meetNext() {
    const slot = this.editor.draftStore.nextOther(this.editor.address);
    if (!slot) return;
    const { caption, tags, sources, client } = slot.draft;
    this.meet({ caption, tags, sources, client, who: WINDOW, slot });
  }

  /** Merges another person's text with this one: one-sided changes are applied, conflicts are shown. */
  meet(theirs) {
    const took = [];
    // An older draft of this window.
    const former = this.isWithWindow && theirs.client === this.theirs.client ? this.theirs : null;
    const decided = former ? this.decidedRows(former, theirs) : new Set();
    this.theirs = theirs;
    this.disputes.forEach((row) => row.aside.replaceChildren());
    this.disputes.clear();
    const [before, after] = [this.editor.base, theirs].map(({ caption }) => trimmed(caption));
    for (const row of this.editor.rows) {
      if (decided.has(row)) continue;
      const [base, other] = [before[row.facet] ?? null, after[row.facet] ?? null];
      const { value, disputed } = together(base, row.value, other);
      if (disputed) {
        this.disputes.add(row);
        row.dispute(other, theirs.who, () => this.decided(row));
      } else if (value !== row.value) {
        row.show(value);
        if (theirs.sources?.[row.facet]) this.editor.sources[row.facet] = theirs.sources[row.facet];
        took.push(row.purpose.label);
      }
    }
    const areTagsOld = former && sameTags(former.tags, theirs.tags);
    const tags = areTagsOld
      ? this.editor.tags.values
      : tagsTogether(this.editor.base.tags, this.editor.tags.values, theirs.tags);
    if (!sameTags(tags, this.editor.tags.values)) {
      this.editor.tags.show(tags);
      took.push("Tags");
    }
    const disputed = [...this.disputes].map((row) => row.purpose.label).join(", ");
    this.editor.bar.noteThat(
      [
        took.length ? `${theirs.who} changed ${took.join(", ")} meanwhile; that is taken over here.` : "",
        disputed
          ? `${theirs.who} wrote other words for ${disputed}: choose below, then save. Nothing is overwritten before.`
          : "",
      ]
        .filter(Boolean)
        .join(" "),
    );
    if (!this.disputes.size) this.agreed();
    else this.editor.bar.say("rest");
  }

  /** Rows for which a person has chosen already, and a newer draft of the same window has the same words. */
  decidedRows(former, theirs) {
    const [before, now] = [former, theirs].map(({ caption }) => trimmed(caption));
    return new Set(
      this.editor.rows.filter(
        (row) => !this.disputes.has(row) && (before[row.facet] ?? null) === (now[row.facet] ?? null),
      ),
    );
  }

  decided(row) {
    this.disputes.delete(row);
    if (!this.disputes.size) {
      this.editor.bar.noteThat("");
      this.agreed();
    }
    this.editor.refresh();
  }

  /** From now on, edits are based on their version. */
  agreed() {
    const { base, slot, caption = {}, tags = [] } = this.theirs ?? {};
    this.theirs = null;
    const { address, rows, draftStore } = this.editor;
    const after = trimmed(caption);
    const isTheirs =
      rows.every((row) => row.value === (after[row.facet] ?? null)) && sameTags(this.editor.tags.values, tags);
    if (isTheirs && !base && !slot) {
      draftStore.isKept(address); // by the other window
      this.editor.bar.say("rest");
    } else {
      if (base) this.editor.base = { revision: base.revision, caption: trimmed(base.caption), tags: [...base.tags] };
      this.editor.changed();
      draftStore.remove(slot);
    }
    this.meetNext();
  }
}

// Another user edited the same coin: both texts are merged, and the user resolves the conflicts.

/** @import { Base, Draft, Slot, Sources } from "./draft_store.js" */
/** @import { Row } from "./facet.js" */
/** @import { Editor } from "./main.js" */
/** @import { Caption, Content, Words } from "./server.js" */

/**
 * The other words: stored ones, which are the new base, or a draft of the same person in another window, that may wait
 * in a slot of this browser.
 *
 * @typedef {Words & {who: string, base?: Base, sources?: Sources, client?: string, slot?: Slot}} Theirs
 */

const WINDOW = "Another window of yours";

export class Conflict {
  /** @type {Set<Row>} with two texts */
  disputes = new Set();
  /** @type {Theirs | null} */
  theirs = null;

  /** @param {Editor} editor */
  constructor(editor) {
    this.editor = editor;
  }

  get isOpen() {
    return this.disputes.size > 0;
  }

  /** Whether the other text is the user's own draft, which the text typed here would overwrite on the server. */
  get isWithWindow() {
    return this.isOpen && !this.theirs?.base;
  }

  clear() {
    this.disputes.clear();
    this.theirs = null;
  }

  /** @param {Content} content */
  meetStored(content) {
    const { caption, tags } = content.stored;
    this.meet({
      caption,
      tags,
      who: content.changed?.who ?? "Another user",
      base: { revision: content.revision, caption, tags },
    });
  }

  /** @param {Draft | null} draft that was changed in another window */
  takeUp(draft) {
    if (draft && this.editor.canWrite && this.editor.draftStore.isNews(this.editor.address, draft))
      this.meetDraft(draft);
  }

  /** @param {Draft} draft */
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

  /**
   * Merges another person's text with this one: one-sided changes are applied, conflicts are shown.
   *
   * @param {Theirs} theirs
   */
  meet(theirs) {
    const took = [];
    // An older draft of this window.
    const former = this.isWithWindow && theirs.client === this.theirs?.client ? this.theirs : null;
    const decided = former ? this.decidedRows(former, theirs) : [];
    this.theirs = theirs;
    this.disputes.forEach((row) => row.aside.replaceChildren());
    this.disputes.clear();
    const [before, after] = [this.editor.base, theirs].map(({ caption }) => trimmed(caption));
    for (const row of this.editor.rows) {
      if (decided.includes(row)) continue;
      const [base, other] = [before[row.facet] ?? null, after[row.facet] ?? null];
      const { value, disputed } = together(base, row.value, other);
      if (disputed) {
        this.disputes.add(row);
        row.dispute(other, theirs.who, () => this.decided(row));
      } else if (value !== row.value) {
        row.show(value);
        const source = theirs.sources?.[row.facet];
        if (source) this.editor.sources[row.facet] = source;
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
    const { who } = theirs;
    const disputed = [...this.disputes].map((row) => row.purpose.label).join(", ");
    const notes = [];
    if (took.length) notes.push(`${who} changed ${took.join(", ")} meanwhile; that is taken over here.`);
    if (disputed)
      notes.push(`${who} wrote other words for ${disputed}: choose below, then save. Nothing is overwritten before.`);
    this.editor.bar.noteThat(notes.join(" "));
    if (!this.disputes.size) this.agreed();
    else this.editor.bar.say("rest");
  }

  /**
   * Rows for which a person has chosen already, and a newer draft of the same window has the same words.
   *
   * @param {Theirs} former
   * @param {Theirs} theirs
   */
  decidedRows(former, theirs) {
    const [before, now] = [former, theirs].map(({ caption }) => trimmed(caption));
    return this.editor.rows.filter(
      (row) => !this.disputes.has(row) && (before[row.facet] ?? null) === (now[row.facet] ?? null),
    );
  }

  /** @param {Row} row */
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
    const { base, slot, caption, tags } = this.theirs ?? { caption: {}, tags: [] };
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

/**
 * The value of one facet, and whether it is in conflict: both changed it, differently.
 *
 * @param {string | null} base
 * @param {string | null} mine
 * @param {string | null} theirs
 */
export function together(base, mine, theirs) {
  if (mine === theirs || theirs === base) return { value: mine, disputed: false };
  if (mine === base) return { value: theirs, disputed: false };
  return { value: mine, disputed: true };
}

/**
 * Tags that either side added, without those that either side removed.
 *
 * @param {string[]} base
 * @param {string[]} mine
 * @param {string[]} theirs
 */
export function tagsTogether(base, mine, theirs) {
  const gone = (/** @type {string} */ tag) => base.includes(tag) && (!mine.includes(tag) || !theirs.includes(tag));
  return [...new Set([...mine, ...theirs])].filter((tag) => !gone(tag));
}

/**
 * Texts without surrounding space, as they would be stored: space alone is not a change.
 *
 * @param {Record<string, string | null | undefined>} caption
 * @returns {Caption}
 */
export function trimmed(caption) {
  const texts = Object.entries(caption);
  return Object.fromEntries(texts.map(([facet, text]) => [facet, text === "" ? "" : text?.trim() || null]));
}

/** @param {string[]} one @param {string[]} other */
export function sameTags(one, other) {
  return one.length === other.length && one.every((tag, place) => tag === other[place]);
}

/** @param {Content} content @returns {Base} for drafts, of what is stored */
export function baseOf({ revision, stored }) {
  return { revision, caption: trimmed(stored.caption), tags: [...stored.tags] };
}

// Saving: the draft becomes the stored caption, unless another user saved first.

import { newId } from "../../shell/js/post.js";
import { baseOf, sameTags } from "./conflict.js";

/** @import { Typed } from "./draft_store.js" */
/** @import { Editor } from "./main.js" */
/** @import { Answers, Content, Refusal, Revision } from "./server.js" */

export class Saving {
  /** @type {Set<string>} addresses */
  underWay = new Set();
  /** @type {Map<string, string>} what was decided → its id, until the server has said what became of it */
  unanswered = new Map();

  /** @param {Editor} editor */
  constructor(editor) {
    this.editor = editor;
  }

  /** Whether the open coin is being saved; saves of others do not matter to it. */
  get isUnderWay() {
    return this.underWay.has(this.editor.address);
  }

  /** Saves; then opens the next coin without a caption, or promotes this one, if requested. */
  async commit({ next = false, promote = false } = {}) {
    const { editor } = this;
    const { address, bar, draftStore, conflict } = editor;
    const { name } = editor.content;
    const isOpen = () => address === editor.address; // another coin may be opened while this one is saved
    if (!editor.canWrite || this.isUnderWay) return;
    if (conflict.isOpen) {
      [...conflict.disputes][0].node.scrollIntoView({ block: "center", behavior: "smooth" });
      return bar.say("failed", "choose between the two texts first");
    }
    editor.tags.left();
    if (editor.tags.halfTyped) {
      editor.tags.input.focus();
      return bar.say("failed", `“${editor.tags.halfTyped}” is no tag yet: enter adds it`);
    }
    const mayPromote = promote && editor.data.canPromote && !bar.promote.disabled;
    if (!editor.isChanged) {
      bar.say("rest");
      if (mayPromote) await this.promote(address, name);
      else if (next) editor.go(editor.data.ways.bare);
      return;
    }
    this.underWay.add(address);
    const draft = { ...editor.draft(), caption: editor.caption, client: draftStore.client, n: ++draftStore.n };
    const ids = [...editor.suggesting.taken];
    bar.say("saving");
    try {
      await draftStore.settle(address);
      const { caption, tags } = draft;
      const answer = await this.decide("commit", { address, draft, ids }, [address, caption, tags]);
      if (answer.conflict && !isOpen()) throw new Error("another user saved first; your text is kept as a draft");
      if (answer.conflict) {
        editor.identify(answer.conflict);
        conflict.meetStored(answer.conflict);
        bar.say("failed", "another user saved first; nothing was overwritten");
      } else if (answer.saved) {
        this.saved(address, answer.saved, draft, { ids, isShown: mayPromote });
        if (mayPromote) await this.promote(address, name);
        if (next && isOpen()) editor.go(editor.data.ways.bare);
      }
    } catch (error) {
      const { message } = /** @type {Refusal} */ (error);
      // The note stays, while the state shows that the draft is stored.
      if (isOpen()) {
        draftStore.keep(address, editor.draft());
        bar.noteThat(`Not saved: ${message}`);
        bar.say("failed", message);
      } else {
        if (!draftStore.waiting.has(address)) draftStore.keep(address, draft); // what waits is newer
        bar.noteThat(`${name} was not saved: ${message}`);
      }
    } finally {
      this.underWay.delete(address);
    }
  }

  /**
   * Sends a decision; the same `content` keeps its id while it is unknown whether it was made.
   *
   * @template {"commit" | "promote"} Verb
   * @param {Verb} verb
   * @param {object} message
   * @param {unknown[]} content
   * @returns {Promise<Answers[Verb]>}
   */
  async decide(verb, message, content) {
    const { unanswered } = this;
    const key = JSON.stringify([verb, content]);
    const decision = unanswered.get(key) ?? newId();
    unanswered.set(key, decision);
    try {
      const answer = await this.editor.server.ask(verb, { ...message, decision });
      unanswered.delete(key);
      return answer;
    } catch (error) {
      if (/** @type {Refusal} */ (error).status === 409) unanswered.delete(key); // it was not made
      throw error;
    }
  }

  /**
   * Text typed during the save becomes a draft based on the saved caption.
   *
   * @param {string} address
   * @param {Content} content
   * @param {Typed} draft
   * @param {{ids: number[], isShown: boolean}} saving
   */
  saved(address, content, draft, { ids, isShown }) {
    const { editor } = this;
    editor.draftStore.forget(address);
    if (address === editor.address) {
      ids.forEach((id) => editor.suggesting.taken.delete(id));
      const typedOn =
        editor.rows.some((row) => row.value !== draft.caption[row.facet]) || !sameTags(editor.tags.values, draft.tags);
      editor.identify(content);
      if (typedOn) {
        editor.base = baseOf(content);
        editor.changed();
      } else editor.begin(content);
      editor.bar.say("rest");
      editor.bar.noteThat("");
      editor.measure();
      if (editor.history.node.open) editor.history.load();
    }
    if (!isShown) editor.trigger("saved", content.revision); // else the promotion runs the page
  }

  /**
   * Promotes a coin whose caption is saved, and opens the next without a caption, unless another coin was opened
   * meanwhile.
   *
   * @param {string} address
   * @param {string} name
   */
  async promote(address, name) {
    const { editor } = this;
    const isOpen = () => address === editor.address;
    // Done with typing: the page may show what comes of it.
    if (isOpen()) editor.release();
    try {
      await this.decide("promote", { address }, [address]);
      const { bare } = editor.data.ways;
      if (bare && bare !== address && isOpen()) return editor.go(bare);
    } catch (error) {
      const { message } = /** @type {Refusal} */ (error);
      editor.bar.noteThat(isOpen() ? `Not promoted: ${message}` : `${name} was saved, but not promoted: ${message}`);
    }
    editor.trigger("saved", editor.content.revision);
  }

  /** @param {Revision} revision an earlier one, that is stored again */
  async restore(revision) {
    const { editor } = this;
    if (editor.isChanged) return editor.bar.say("failed", "save or discard what you are writing first");
    editor.rows.forEach((row) => row.show(revision.after.caption[row.facet] ?? null));
    editor.tags.show(revision.after.tags);
    editor.sources = {};
    await this.commit();
  }
}

// Saving: the draft becomes the stored caption, unless another user saved first.

import { newId } from "../../shell/js/post.js";
import { sameTags } from "./merge.js";

export class Saving {
  constructor(editor) {
    this.editor = editor;
    this.underWay = new Set(); // addresses
    // what was decided → the id of its decision, until the server has said what became of it
    this.unanswered = new Map();
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
      if (mayPromote) return this.promote(address, name);
      return next && editor.go(editor.data.ways.bare);
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
      } else {
        this.saved(address, answer.saved, draft, { ids, isShown: mayPromote });
        if (mayPromote) await this.promote(address, name);
        if (next && isOpen()) editor.go(editor.data.ways.bare);
      }
    } catch (error) {
      // The note stays, while the state shows that the draft is stored.
      if (isOpen()) {
        draftStore.keep(address, editor.draft());
        bar.noteThat(`Not saved: ${error.message}`);
        bar.say("failed", error.message);
      } else {
        if (!draftStore.waiting.has(address)) draftStore.keep(address, draft); // what waits is newer
        bar.noteThat(`${name} was not saved: ${error.message}`);
      }
    } finally {
      this.underWay.delete(address);
    }
  }

  /** Sends a decision; the same `content` keeps its id while it is unknown whether it was made. */
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
      if (error.status === 409) unanswered.delete(key); // it was not made
      throw error;
    }
  }

  /** Text typed during the save becomes a draft based on the saved caption. */
  saved(address, content, draft, { ids, isShown }) {
    const { editor } = this;
    editor.draftStore.forget(address);
    if (address === editor.address) {
      ids.forEach((id) => editor.suggesting.taken.delete(id));
      const typedOn =
        editor.rows.some((row) => row.value !== draft.caption[row.facet]) || !sameTags(editor.tags.values, draft.tags);
      editor.identify(content);
      if (typedOn) {
        editor.goOnFrom(content);
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
   */
  async promote(address, name) {
    const { editor } = this;
    const isOpen = () => address === editor.address;
    // Done with typing: the page may show what comes of it.
    if (isOpen()) editor.root.getRootNode().activeElement?.blur();
    try {
      await this.decide("promote", { address }, [address]);
      const { bare } = editor.data.ways;
      if (bare && bare !== address && isOpen()) return editor.go(bare);
    } catch (error) {
      editor.bar.noteThat(
        isOpen() ? `Not promoted: ${error.message}` : `${name} was saved, but not promoted: ${error.message}`,
      );
    }
    editor.trigger("saved", editor.content.revision);
  }

  /** Stores an earlier version again. */
  async restore(revision) {
    const { editor } = this;
    if (editor.isChanged) return editor.bar.say("failed", "save or discard what you are writing first");
    editor.rows.forEach((row) => row.show(revision.after.caption[row.facet] ?? null));
    editor.tags.show(revision.after.tags);
    editor.sources = {};
    await this.commit();
  }
}

// Tags of the selection, or of the card under the cursor: the grid's own dialog, so that no key is lost.

import { post } from "../../shell/js/post.js";
import { el, setText } from "../../shell/js/elements.js";
import { button, count, keepPress } from "./dom.js";
import { TagField } from "./tag_field.js";

/** @import { Server } from "../../shell/js/post.js" */
/** @import { About } from "./decisions.js" */
/** @import { Grid } from "./main.js" */
/** @import { Likely, Tags } from "./tag_field.js" */

/** @typedef {Pick<About, "addresses" | "matching">} Coins */

/** @type {typeof globalThis & {memedexTagging?: Set<string>}} has the ids of dialogs that were opened once */
const tab = globalThis;

export class TagDialog {
  /** @type {About | null} the coins */
  about = null;
  number = 0;

  /** @param {Grid} grid */
  constructor(grid) {
    this.grid = grid;
    this.title = el("h2", { dir: "auto" });
    this.hint = el("p", { class: "hint" });
    this.field = new TagField({ applies: () => this.apply(), changed: () => this.refresh() });
    this.applying = button("verb main", el("span", {}, "Apply"), () => this.applyOrAccept(), { key: "enter" });
    keepPress(this.applying); // known and suggested tags come later, and make the dialog higher
    const cancel = button("tool", "Cancel", () => this.close(), { key: "esc" });
    this.node = el(
      "dialog",
      { class: "tag-dialog", "aria-label": "Tags" },
      this.title,
      this.field.node,
      el("div", { class: "below" }, this.hint, cancel, this.applying),
    );
    this.node.addEventListener("cancel", (event) => {
      event.preventDefault();
      this.close();
    });
    // Immediately: the browser's own close event comes later, and the next key would still go into the field.
    this.node.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.isComposing) return;
      event.preventDefault();
      this.close();
    });
  }

  get isOpen() {
    return this.node.open;
  }

  /**
   * Opens for these coins, given by addresses or as all that match a filter.
   *
   * @param {About} about
   * @param {{number: number, name?: string}} what
   */
  show(about, { number, name = "" }) {
    this.about = about;
    this.number = number;
    setText(this.title, name ? `Tags of ${name}` : `Tags of ${count(number, "coin")}`);
    this.field.among = number;
    this.field.begin();
    this.node.showModal();
    this.field.input.focus();
    this.learn(about);
  }

  /**
   * Opens once for coins that a button elsewhere on the page named; they need not be visible here.
   *
   * @param {{id: string, addresses: string[]}} named
   */
  showOnce({ id, addresses }) {
    const opened = (tab.memedexTagging ??= new Set());
    if (opened.has(id)) return;
    opened.add(id);
    this.show(this.grid.decisions.about(addresses), { number: addresses.length });
  }

  /**
   * Which tags there are, and which these coins have.
   *
   * @param {About} about
   */
  async learn(about) {
    const tags = await askTags(this.grid.data, about);
    if (this.about !== about) return;
    if (tags) this.field.know(tags);
    else setText(this.hint, "The server does not answer: the known tags cannot be listed. Try again.");
    const learned = tags && (await askTags(this.grid.data, about, { suggest: true }));
    if (learned && this.about === about) this.field.offerLikely(learned.suggested);
  }

  /** Pending text first becomes a chip, so that it is visible before it is applied. */
  applyOrAccept() {
    if (!this.field.known) this.field.enterEarly();
    else if (this.field.typed.name) this.field.take();
    else this.apply();
  }

  apply() {
    const { field, about, number } = this;
    const { decisions } = this.grid;
    if (!about) return;
    const add = [...field.added.keys()].filter((tag) => !field.only.has(tag));
    if (add.length || field.removed.size) decisions.tag(about, { add, remove: [...field.removed], number });
    for (const [tag, addresses] of field.only)
      decisions.tag(decisions.about(addresses), { add: [tag], remove: [], number: addresses.length });
    this.close();
  }

  close() {
    this.about = null;
    this.grid.focus.close(this.node);
    this.field.input.blur(); // a hidden field keeps the focus until the next frame and would take the next key
    this.grid.earlyKeys.rest();
    this.grid.refresh({ focus: true });
  }

  refresh() {
    const { field } = this;
    if (!field) return;
    const { name } = field.typed;
    this.applying.disabled = !field.isChanged && !name && !field.early.length;
    const offer = field.offered[field.at];
    if (name)
      setText(
        this.hint,
        !field.known
          ? "…"
          : !offer
            ? ""
            : `Enter ${offer.removes ? "removes" : "adds"} “${offer.tag}”${offer.isNew ? ", a new tag" : ""}`,
      );
    else setText(this.hint, field.isChanged ? "Enter applies" : "");
  }
}

/**
 * All tags, and those of these coins, or with `suggest` likely ones; null if the server does not answer.
 *
 * @param {{server: Server}} data
 * @param {Coins} coins
 * @param {{suggest?: true}} more
 * @returns {Promise<(Tags & {suggested: Likely[]}) | null>}
 */
export async function askTags({ server }, { addresses, matching }, more = {}) {
  const { answer } = await post(
    server,
    "tags",
    { addresses, matching: matching ?? null, ...more },
    { keepalive: false },
  );
  return answer ?? null;
}

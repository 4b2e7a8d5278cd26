// Tags of the selection, or of the card under the cursor: the grid's own dialog, so that no key is lost.

import { post } from "../../shell/js/post.js";
import { el, setText } from "../../shell/js/elements.js";
import { count, keepPress } from "./dom.js";
import { TagField } from "./tag_field.js";

export class TagDialog {
  constructor(grid) {
    this.grid = grid;
    this.title = el("h2", { dir: "auto" });
    this.hint = el("p", { class: "hint" });
    this.field = new TagField({ applies: () => this.apply(), changed: () => this.refresh() });
    this.applying = el(
      "button",
      { type: "button", class: "verb main", onclick: () => this.applyOrAccept() },
      el("span", {}, "Apply"),
      el("kbd", {}, "enter"),
    );
    keepPress(this.applying); // known and suggested tags come later, and make the dialog higher
    const cancel = el(
      "button",
      { type: "button", class: "tool", onclick: () => this.close() },
      "Cancel",
      el("kbd", {}, "esc"),
    );
    this.node = el(
      "dialog",
      { class: "tag-dialog", "aria-label": "Tags" },
      this.title,
      this.field.node,
      el("div", { class: "below" }, this.hint, cancel, this.applying),
    );
    this.node.addEventListener("cancel", (event) => (event.preventDefault(), this.close()));
    // Immediately: the browser's own close event comes later, and the next key would still go into the field.
    this.node.addEventListener(
      "keydown",
      (event) => event.key === "Escape" && !event.isComposing && (event.preventDefault(), this.close()),
    );
  }

  get isOpen() {
    return this.node.open;
  }

  /** Opens for these coins, given by addresses or as all that match a filter. */
  show(about, { number, name }) {
    this.about = about;
    this.number = number;
    setText(this.title, name ? `Tags of ${name}` : `Tags of ${count(number, "coin")}`);
    this.field.among = number;
    this.field.begin();
    this.node.showModal();
    this.field.input.focus();
    this.learn(about);
  }

  /** Opens once for coins that a button elsewhere on the page named; they need not be visible here. */
  showOnce({ id, addresses }) {
    const opened = (window.memedexTagging ??= new Set());
    if (opened.has(id)) return;
    opened.add(id);
    this.show(this.grid.decisions.about(addresses), { number: addresses.length });
  }

  /** Which tags there are, and which these coins have. */
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
    const offer = field.offered?.[field.at];
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

/** All tags, and those of these coins, or with `suggest` likely ones; null if the server does not answer. */
export async function askTags({ server }, { addresses, matching = null }, more = {}) {
  const { answer } = await post(server, "tags", { addresses, matching, ...more }, { keepalive: false });
  return answer ?? null;
}

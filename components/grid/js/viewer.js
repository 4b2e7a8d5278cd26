// The large view: one coin with all its details; arrow keys show the next one.

import { el, setText } from "../../shell/js/elements.js";
import { isBlurred } from "../../shell/session/safe_mode.js";
import { breakdown } from "./bars.js";
import { twinsOf } from "./comparison.js";
import { ageOf, button, closesItself, icon, showPicture } from "./dom.js";
import { undoButton } from "./tools.js";

/** @import { Twin } from "./comparison.js" */
/** @import { Action } from "./decisions.js" */
/** @import { Grid } from "./main.js" */
/** @import { Card } from "./model.js" */

/** @typedef {{text: string, source: "person" | "program" | "unread", read: string, note: string}} Text in a picture */
/** @typedef {{label: string, href: string}} Link */
/**
 * What is shown of a coin besides its card (`_detail` of components/grid/cards.py).
 *
 * @typedef {{
 *   description: string,
 *   tags: string[],
 *   caption: Record<string, string>,
 *   text: Text | null,
 *   unfit: string,
 *   saysUnfit: boolean,
 *   fields: [label: string, value: string][],
 *   explorer: Link | null,
 *   mentions: Link,
 *   history: {what: string, when: string}[],
 *   twins?: Twin[],
 * }} Detail
 */

const FACETS = [
  ["entity", "Entity"],
  ["context", "Context"],
  ["visual", "Visual"],
  ["emotions", "Emotions"],
];

const SCALES = [1, 1.5, 2, 3, 4, 6, 8];
const SWIPE = 60; // px a finger moves across to turn to the next coin

export class Viewer {
  scale = 1;
  panned = false;
  made = ""; // what is drawn, as one text
  shown = ""; // the coin, …
  pictured = ""; // … its picture …
  offered = ""; // … and its buttons

  /** @param {Grid} grid */
  constructor(grid) {
    this.grid = grid;
    this.picture = el("img", { alt: "", draggable: "false" });
    this.facts = el("div", { class: "facts" });
    this.verbs = el("div", { class: "verbs" });
    this.place = el("span", { class: "place" });
    this.pictureText = new PictureText(this);
    this.frame = el("div", { class: "frame" }, this.picture);
    const before = button("turn before", icon("back"), () => this.step(-1), { "aria-label": "Previous coin" });
    const after = button("turn after", icon("forward"), () => this.step(1), { "aria-label": "Next coin" });
    const close = button("tool close", "Close", () => this.close(), { key: "esc" });
    this.node = el(
      "dialog",
      { class: "viewer", tabindex: "-1", "aria-label": "Large view" },
      el("div", { class: "stage" }, before, this.frame, after),
      el("div", { class: "side" }, el("div", { class: "top" }, this.place, close), this.facts, this.verbs),
    );
    closesItself(this.node, () => this.close());
    this.picture.addEventListener(
      "click",
      (event) => this.panned || this.zoom(this.scale === 1 ? 2 : -SCALES.length, event),
    );
    this.picture.addEventListener("pointerdown", () => (this.panned = false));
    this.listenToSwipes();
    // Over the picture, the wheel zooms; elsewhere, it scrolls the details.
    this.frame.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoom(event.deltaY < 0 ? 1 : -1, event);
      },
      { passive: false },
    );
    this.frame.addEventListener("pointermove", (event) => {
      if (event.buttons !== 1 || this.scale === 1) return;
      this.panned ||= Math.abs(event.movementX) + Math.abs(event.movementY) > 1; // a drag is not a click
      this.frame.scrollBy(-event.movementX, -event.movementY);
    });
    this.setScale(1);
  }

  /** A finger that moves across the picture turns to the next coin or the one before; it decides nothing. */
  listenToSwipes() {
    /** @type {PointerEvent | null} */
    let from = null;
    this.frame.addEventListener(
      "pointerdown",
      (event) => (from = event.pointerType === "touch" && event.isPrimary && this.scale === 1 ? event : null),
    );
    this.frame.addEventListener("pointercancel", () => (from = null));
    this.frame.addEventListener("pointerup", (event) => {
      if (!from || event.pointerId !== from.pointerId) return;
      const [x, y] = [event.clientX - from.clientX, event.clientY - from.clientY];
      from = null;
      if (Math.abs(x) < SWIPE || Math.abs(x) < 2 * Math.abs(y)) return;
      this.panned = true; // the click that follows does not zoom
      this.step(x < 0 ? 1 : -1);
    });
  }

  /**
   * Zooms in or out around the mouse position, or the middle.
   *
   * @param {number} steps
   * @param {MouseEvent} [event]
   */
  zoom(steps, event) {
    const at = Math.min(SCALES.length - 1, Math.max(0, SCALES.indexOf(this.scale) + steps));
    const { frame, picture } = this;
    const box = frame.getBoundingClientRect();
    const [x, y] = event ? [event.clientX - box.left, event.clientY - box.top] : [box.width / 2, box.height / 2];
    const was = picture.getBoundingClientRect();
    const point = [(x + box.left - was.left) / was.width, (y + box.top - was.top) / was.height];
    this.setScale(SCALES[at]);
    const now = picture.getBoundingClientRect();
    frame.scrollBy(now.left + point[0] * now.width - box.left - x, now.top + point[1] * now.height - box.top - y);
  }

  /** @param {number} scale */
  setScale(scale) {
    this.scale = scale;
    this.node.classList.toggle("zoomed", scale > 1);
    this.node.style.setProperty("--zoom", String(scale));
  }

  get isOpen() {
    return this.node.open;
  }

  /** @param {string | null} address */
  show(address) {
    if (!address || this.grid.model.card(address)?.blank) return;
    this.grid.model.moveTo(address);
    if (!this.node.open) {
      this.node.showModal();
      this.node.focus();
    }
    this.grid.refresh();
    this.grid.ask(address);
  }

  close() {
    this.grid.focus.close(this.node);
    this.setScale(1);
    this.grid.ask("");
    this.grid.refresh({ focus: true });
  }

  /** @param {number} by */
  step(by) {
    const { model } = this.grid;
    const at = model.visible.indexOf(model.cursor ?? "") + by;
    if (model.visible[at]) this.show(model.visible[at]);
  }

  /** Shows the card under the cursor; details are added when the server sends them. */
  refresh() {
    const { model, data, actions } = this.grid;
    const card = model.card(model.cursor);
    if (!this.node.open) return;
    if (!card || !model.visible.length) return this.close();
    const detail = data.details?.[card.address];
    // Only a decision here may rebuild the view; a confirmation for another coin must not reset its scroll position.
    const made = JSON.stringify([
      card,
      detail,
      model.refused.get(card.address),
      model.isChosen(card.address),
      this.grid.ranking?.weights,
      this.grid.flags.get(card.address),
    ]);
    setText(this.place, `${model.visible.indexOf(card.address) + 1} of ${model.visible.length}`);
    if (this.made === made || (this.shown === card.address && this.pictureText.isEditing(card.address) && this.made))
      return;
    this.made = made;
    if (this.shown !== card.address) this.setScale(1);
    // A blurred one that was clicked stays.
    if (this.pictured !== card.large) showPicture(this.picture, (this.pictured = card.large));
    this.picture.alt = `Picture of ${card.name}`;
    const scroll = this.shown === card.address ? this.facts.scrollTop : 0;
    this.shown = card.address;
    this.facts.replaceChildren(...facts(this.grid, card, detail, this.pictureText));
    this.facts.scrollTop = scroll;
    this.offer(actions);
  }

  /** Whether safe mode blurs the picture. */
  get isBlurred() {
    const { safe } = this.grid.data;
    return safe !== null && isBlurred(this.picture.getAttribute("src"), safe);
  }

  /** Shows the picture that safe mode blurs, as a click on it does. */
  unblur() {
    this.picture.src += `&${this.grid.data.safe?.shown}=1`;
    this.rebuild();
    this.node.focus();
  }

  /** Draws the open coin again, whether or not its data changed. */
  rebuild() {
    this.made = "";
    this.refresh();
  }

  /**
   * Creates the buttons, once for each set of actions and keys: one that is pressed must not be exchanged.
   *
   * @param {Action[]} actions
   */
  offer(actions) {
    const offered = JSON.stringify(actions.map((action) => [action, this.grid.keyMap.label(action.key)]));
    if (this.offered === offered) return;
    this.offered = offered;
    const { grid } = this;
    this.verbs.replaceChildren(
      ...(grid.data.undoable ? [undoButton(grid, "undo")] : []),
      ...actions.map((action) =>
        button(
          `verb ${action.tone}`,
          el("span", {}, action.label),
          (event) => grid.decisions.press(event, () => grid.decisions.make(action)),
          { key: grid.keyMap.label(action.key) },
        ),
      ),
    );
  }
}

/** @param {Grid} grid @param {Card} card @param {Detail | undefined} detail @param {PictureText} pictureText */
function facts(grid, card, detail, pictureText) {
  const description = detail?.description ?? card.description;
  const tags = detail?.tags ?? card.tags;
  const reason = grid.model.refused.get(card.address);
  const hit = card.facets && grid.cards.nodes.get(card.address)?.hit;
  return [
    el("h2", {}, el("span", { dir: "auto" }, card.name), el("span", { class: "ticker" }, card.ticker)),
    reason ? el("p", { class: "reason" }, reason) : null,
    el(
      "p",
      { class: "meta" },
      card.mark ? el("span", { class: `pill ${card.mark.tone}` }, card.mark.label) : null,
      born(card),
    ),
    description
      ? el("p", { class: "description", dir: "auto" }, description)
      : el("p", { class: "description none" }, "No description."),
    tags.length ? el("p", { class: "pills" }, ...tags.map((tag) => el("span", { class: "pill" }, tag))) : null,
    detail?.twins?.length ? section("Possible duplicates", twinsOf(grid, card.address, detail.twins)) : null,
    hit && grid.ranking ? section("Why it is here", breakdown(hit, grid.ranking)) : null,
    detail ? captions(detail.caption) : null,
    detail?.text ? section("Text in the picture", pictureText.body(card.address, detail.text)) : null,
    detail ? screenFlag(grid, card, detail) : null,
    ...(detail?.fields ?? []).map(([label, value]) => section(label, el("p", { dir: "auto" }, value))),
    section(
      "Address",
      el("p", { class: "address" }, ...address(grid, card.address), detail?.explorer ? link(detail.explorer) : null),
    ),
    detail ? section("Mentions", el("p", {}, link(detail.mentions))) : null,
    detail?.history?.length
      ? section(
          "History",
          el(
            "ol",
            { class: "history" },
            ...detail.history.map((line) => el("li", {}, el("span", {}, line.what), el("time", {}, line.when))),
          ),
        )
      : null,
  ].filter((each) => each !== null);
}

/**
 * Why safe mode blurs this coin, and the buttons to say otherwise.
 *
 * @param {Grid} grid
 * @param {Card} card
 * @param {Detail} detail
 */
function screenFlag(grid, card, { unfit, saysUnfit }) {
  const flag = grid.flags.get(card.address);
  const why = flag ? (flag === "unfit" ? "flagged by a person" : "") : unfit;
  const say = (/** @type {string} */ label, /** @type {"unfit" | "fit" | "automatic"} */ reason) =>
    button("tool", label, () => grid.decisions.flag(card.address, reason));
  const buttons = [];
  if (grid.viewer.isBlurred) buttons.push(button("tool", "Show the picture", () => grid.viewer.unblur()));
  if (grid.data.undoable) buttons.push(why ? say("It is fit", "fit") : say("Flag as unfit", "unfit"));
  if (grid.data.undoable && (saysUnfit || flag)) buttons.push(say("As recognised", "automatic"));
  return section(
    "Safe mode",
    el(
      "p",
      { class: "meta" },
      el("span", { class: "none" }, why ? `Unfit for the screen: ${why}` : "Fit for the screen"),
      ...buttons,
    ),
  );
}

/** @param {Grid} grid @param {string} text */
function address(grid, text) {
  const code = el("code", {}, text);
  const marks = () => getSelection()?.selectAllChildren(code);
  const copy = async () => grid.tools.say(await copied(text, { marks }));
  return [code, button("tool", "Copy", copy, { "aria-label": "Copy the address" })];
}

/** @param {Card} card */
function born(card) {
  return el(
    "span",
    { title: card.created },
    card.no_age ? ageOf(card) : `${ageOf(card)} old`.replace("now old", "new"),
    ` · ${card.created}`,
  );
}

/** @param {Record<string, string>} caption */
function captions(caption) {
  const written = FACETS.filter(([facet]) => caption[facet]);
  if (!written.length) return section("Caption", el("p", { class: "none" }, "Not written yet."));
  return el(
    "div",
    {},
    ...written.map(([facet, label]) => section(label, el("p", { dir: "auto" }, caption[facet]), facet)),
  );
}

/** @param {string} title @param {Element} body @param {string | null} facet */
function section(title, body, facet = null) {
  return el("section", { class: facet ? `facet ${facet}` : null }, el("h3", {}, title), body);
}

/** @param {Link} link */
function link({ label, href }) {
  return el("a", { href, target: "_blank", rel: "noopener noreferrer" }, label, icon("out"));
}

/** The text in a coin's picture: who says so, and a field to correct it. */
class PictureText {
  /** @type {Map<string, string>} address → what is being typed and not saved yet */
  typed = new Map();
  /** @type {Map<string, Pick<Text, "text" | "note">>} address → as saved here, until the server says so too */
  saved = new Map();

  /** @param {Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
  }

  /**
   * Whether the user types into the field of this coin, which must then stay as it is.
   *
   * @param {string} address
   */
  isEditing(address) {
    return this.typed.has(address);
  }

  /**
   * The section's content for one coin; `known` is what the server knows of its text.
   *
   * @param {string} address
   * @param {Text} known
   */
  body(address, known) {
    const { grid } = this.viewer;
    const saved = this.saved.get(address);
    if (saved?.text === known.text) this.saved.delete(address);
    else if (saved && grid.model.refused.has(address)) {
      // A refused text is typed again, with the reason above it.
      this.saved.delete(address);
      this.typed.set(address, saved.text);
    }
    if (this.isEditing(address)) return this.field(address, known);
    const { text, note } = this.saved.get(address) ?? known;
    const edit = grid.data.undoable ? button("tool", text ? "Correct" : "Write", () => this.edit(address, text)) : null;
    return el(
      "div",
      { class: "picture-text" },
      text ? el("p", { dir: "auto" }, text) : null,
      el("p", { class: "meta" }, el("span", { class: "none" }, note), edit),
    );
  }

  /** @param {string} address @param {Text} known */
  field(address, known) {
    const area = el("textarea", {
      rows: "4",
      dir: "auto",
      "aria-label": "Text in the picture",
      oninput: () => this.typed.set(address, area.value),
      onkeydown: (event) => {
        if (event.isComposing) return;
        if (event.key === "Escape") this.cancel(address);
        else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
        else return;
        event.preventDefault();
        event.stopPropagation();
      },
    });
    area.value = this.typed.get(address) ?? "";
    const save = () => this.save(address, area.value);
    const buttons = [
      button("verb main", "Save", save, { key: "ctrl enter" }),
      button("tool", "Cancel", () => this.cancel(address), { key: "esc" }),
    ];
    if (known.source === "person") {
      const title = known.read || "Nothing was read";
      buttons.push(button("tool", "As read by the program", () => this.save(address, null, known.read), { title }));
    }
    return el("div", { class: "picture-text" }, area, el("p", { class: "meta" }, ...buttons));
  }

  /** @param {string} address @param {string} text */
  edit(address, text) {
    this.typed.set(address, text);
    this.viewer.rebuild();
    this.viewer.facts.querySelector("textarea")?.focus();
  }

  /** @param {string} address */
  cancel(address) {
    this.typed.delete(address);
    this.viewer.rebuild();
    this.viewer.node.focus();
  }

  /**
   * Saves a person's text, or with null lets the program's reading count again.
   *
   * @param {string} address
   * @param {string | null} text
   */
  save(address, text, shown = (text ?? "").trim()) {
    const { grid } = this.viewer;
    this.typed.delete(address);
    this.saved.set(address, { text: shown, note: text === null ? "Read by a program" : "Written by a person" });
    grid.decisions.correctText(address, text === null ? null : shown);
    this.viewer.rebuild();
    this.viewer.node.focus();
  }
}

/**
 * Copies a text, and says so. Over plain HTTP a browser offers no clipboard: then the text is marked, to be copied by
 * hand.
 *
 * @param {string} text
 * @param {{marks: () => void, clipboard?: Clipboard}} seams
 */
export async function copied(text, { marks, clipboard = globalThis.navigator?.clipboard }) {
  try {
    await clipboard.writeText(text);
    return "Copied";
  } catch {
    marks();
    return "This browser allows no copying here: the text is marked for Ctrl-C";
  }
}

// The panel of one coin, beside the cards: its picture and all its details, of the coin under the cursor. Enlarged, and
// where there is no room beside the cards, it covers them, and arrow keys show the next coin.

import { activeIn, el, setText } from "../../shell/js/elements.js";
import { follow } from "../../shell/js/streamlit_page.js";
import { isBlurred } from "../../shell/session/safe_mode.js";
import { coinAddress } from "./coin_address.js";
import { facts } from "./coin_facts.js";
import { button, closesItself, icon, showPicture } from "./dom.js";
import { Comments, PictureText } from "./coin_texts.js";
import { menuOf, undoButton } from "./tools.js";

/** @import { Grid } from "./main.js" */
/** @import { Card } from "./model.js" */

const SCALES = [1, 1.5, 2, 3, 4, 6, 8];
const SWIPE = 60; // px a finger moves across to turn to the next coin
const VERBS = 3; // buttons; the others are in a menu
const WIDE = "(min-width: 1000px)"; // room beside the cards (panel.css, components/shell/page/streamlit_style.py)

/** @type {Set<Panel>} of the grids on the page, in their order */
const panels = new Set();

/** Shows the coin in the page's address: of the grid that has its card, else beside the first. */
function showNamed(coin = coinAddress().named) {
  const all = [...panels].filter(({ grid }) => grid.root.isConnected);
  const owner = all.find(({ grid }) => grid.model.visible.includes(coin)) ?? all[0];
  for (const panel of all) if (panel !== owner || !coin) panel.hide();
  if (coin) owner?.show(coin);
}

export class Panel {
  scale = 1;
  panned = false;
  made = ""; // what is drawn, as one text
  shown = ""; // the coin, …
  pictured = ""; // … its picture …
  offered = ""; // … and its buttons
  guest = ""; // the address of a coin that is none of the cards, until the cursor moves …
  /** @type {string | null} */
  cursor = null; // … from here

  /** @param {Grid} grid */
  constructor(grid) {
    this.grid = grid;
    this.picture = el("img", { alt: "", draggable: "false" });
    this.facts = el("div", { class: "facts" });
    this.verbs = el("div", { class: "verbs" });
    this.place = el("span", { class: "place" });
    this.pictureText = new PictureText(this);
    this.comments = new Comments(this);
    this.frame = el("div", { class: "frame" }, this.picture);
    const before = button("turn before", icon("back"), () => this.step(-1), { "aria-label": "Previous coin" });
    const after = button("turn after", icon("forward"), () => this.step(1), { "aria-label": "Next coin" });
    const enlarge = button("tool square enlarge", icon("expand"), () => this.appear({ isLarge: true }), {
      "aria-label": "Enlarge",
      title: "Enlarge (enter)",
    });
    const close = button("tool close", "Close", () => this.close(), { key: "esc" });
    this.node = el(
      "dialog",
      { class: "panel", tabindex: "-1", "aria-label": "Coin", popover: "manual" },
      el("div", { class: "stage" }, before, this.frame, after),
      el("div", { class: "top" }, this.place, enlarge, close),
      this.facts,
      this.verbs,
    );
    closesItself(this.node, () => this.close());
    this.picture.addEventListener("click", (event) => this.pressPicture(event));
    this.picture.addEventListener("pointerdown", () => (this.panned = false));
    this.listenToSwipes();
    // Over the enlarged picture, the wheel zooms; elsewhere, it scrolls the details.
    this.frame.addEventListener(
      "wheel",
      (event) => {
        if (!this.isLarge) return;
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
    panels.add(this);
    coinAddress().heard.add(showNamed);
  }

  /** @param {MouseEvent} event */
  pressPicture(event) {
    if (this.panned) return;
    if (this.isLarge) this.zoom(this.scale === 1 ? 2 : -SCALES.length, event);
    else this.appear({ isLarge: true });
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
    return this.isLarge || this.node.matches(":popover-open");
  }

  /** Whether it covers the cards. */
  get isLarge() {
    return this.node.open;
  }

  /** The coin that it shows, if that is known. @returns {Card | undefined} */
  get card() {
    const { model } = this.grid;
    return this.guest ? this.told?.card : model.card(model.cursor);
  }

  /**
   * Opens it with this coin; with the coin that it shows already, enlarged.
   *
   * @param {string | null} address
   */
  show(address) {
    const { model } = this.grid;
    const card = model.card(address);
    if (!address || card?.blank) return;
    const isAgain = this.isOpen && this.shown === address;
    this.guest = card ? "" : address;
    if (card) model.moveTo(address);
    this.cursor = model.cursor;
    this.appear({ isLarge: isAgain });
    this.grid.refresh();
  }

  /** @param {{isLarge: boolean}} how */
  appear({ isLarge }) {
    for (const other of panels) if (other !== this) other.hide();
    if (isLarge || !matchMedia(WIDE).matches) {
      if (this.node.matches(":popover-open")) this.node.hidePopover();
      if (!this.node.open) this.node.showModal();
      this.node.focus();
    } else if (!this.isOpen) {
      const focused = activeIn(this.node);
      this.node.showPopover(); // which would take the focus from the cards
      if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
      else this.node.focus();
    }
    document.documentElement.toggleAttribute("data-coin", !this.isLarge); // the cards make room
  }

  /** From large to beside the cards, where there is room; else it goes. */
  close() {
    if (!this.isLarge || !matchMedia(WIDE).matches) return this.leave();
    this.hide();
    this.appear({ isLarge: false });
    this.grid.refresh({ focus: true });
  }

  /** Goes, and the coin leaves the page's address. */
  leave() {
    this.hide();
    this.guest = "";
    coinAddress().name("");
    this.grid.refresh({ focus: true });
  }

  /** Goes; the page's address stays. */
  hide() {
    if (!this.isOpen) return;
    if (this.isLarge) this.grid.focus.close(this.node);
    else this.node.hidePopover();
    this.setScale(1);
    document.documentElement.removeAttribute("data-coin");
  }

  /** @param {number} by */
  step(by) {
    const { model } = this.grid;
    const next = model.visible[model.visible.indexOf(model.cursor ?? "") + by];
    if (!next) return;
    model.moveTo(next);
    this.grid.refresh();
  }

  /** Shows the coin in the page's address, if there is one. */
  showNamed() {
    if (coinAddress().named) showNamed();
  }

  /** What the server says of the guest; nothing without one. */
  get told() {
    return this.guest ? this.grid.coins.get(this.guest) : undefined;
  }

  /** Shows the coin under the cursor, or the guest; details are added when the server sends them. */
  refresh() {
    if (!this.isOpen) return;
    const { model } = this.grid;
    if (this.guest && (model.cursor !== this.cursor || model.visible.includes(this.guest))) {
      if (model.visible.includes(this.guest)) model.moveTo(this.guest);
      this.guest = "";
    }
    const { card } = this;
    if (this.told === null) this.grid.tools.say("There is no coin at this address.", "red");
    if (this.told === null || (!this.guest && (!card || !model.visible.length))) return this.leave();
    this.grid.coins.ask(this.guest || card?.address || "");
    if (!card) return;
    coinAddress().name(card.address);
    this.draw(card);
  }

  /** @param {Card} card */
  draw(card) {
    const { model } = this.grid;
    const { address } = card;
    const known = this.grid.coins.get(address);
    // Only a decision here may rebuild it; a confirmation for another coin must not reset its scroll position.
    const made = JSON.stringify([
      card,
      known,
      model.refused.get(address),
      model.isChosen(address),
      this.grid.ranking?.weights,
      this.grid.flags.get(address),
    ]);
    setText(this.place, this.guest ? "" : `${model.visible.indexOf(address) + 1} of ${model.visible.length}`);
    if (this.made === made || (this.shown === address && this.isTyping(address) && this.made)) return;
    this.made = made;
    if (this.shown !== address) this.setScale(1);
    // A blurred one that was clicked stays.
    if (this.pictured !== card.large) showPicture(this.picture, (this.pictured = card.large));
    this.picture.alt = `Picture of ${card.name}`;
    const scroll = this.shown === address ? this.facts.scrollTop : 0;
    this.shown = address;
    this.facts.replaceChildren(...facts(this.grid, card, known));
    this.facts.scrollTop = scroll;
    this.offer(card);
  }

  /**
   * Whether the user types into a field of this coin, which must then stay as it is.
   *
   * @param {string} address
   */
  isTyping(address) {
    return this.pictureText.isEditing(address) || this.comments.isEditing(address);
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
   * Creates the buttons that the coin's state allows, once for each set of them: one that is pressed must not be
   * exchanged. A guest is decided where it is.
   *
   * @param {Card} card
   */
  offer({ tier = "" }) {
    const { grid } = this;
    const place = this.told?.place;
    const actions = place ? [] : grid.actions.filter(({ tiers }) => !tiers?.length || !tier || tiers.includes(tier));
    const offered = JSON.stringify([place, actions.map((action) => [action, grid.keyMap.label(action.key)])]);
    if (this.offered === offered) return;
    this.offered = offered;
    const buttons = actions.map((action) =>
      button(
        `verb ${action.tone}`,
        el("span", {}, action.label),
        (event) => grid.decisions.press(event, () => grid.decisions.make(action, { isOne: true })),
        { key: grid.keyMap.label(action.key) },
      ),
    );
    const more = button("tool square", el("b", {}, "⋮"), () => {}, { "aria-label": "More", title: "More" });
    const others = buttons.slice(VERBS);
    const menu = menuOf(more, { class: "menu", onclick: () => menu.hidePopover() }, ...others);
    this.verbs.replaceChildren(
      ...(place ? [button("verb main", place.label, () => follow(place.href))] : []),
      ...(grid.data.undoable && !place ? [undoButton(grid, "undo")] : []),
      ...buttons.slice(0, VERBS),
      ...(others.length ? [more, menu] : []),
    );
  }

  stop() {
    panels.delete(this);
    this.hide();
  }
}

// "Go to, find, do": one dialog for places, coins and the page's verbs, by Ctrl+K; and `g` with a letter for places.

import { el, fill, part, shortcut } from "../js/elements.js";
import { post } from "../js/post.js";
import { KEYS, read } from "../js/storage.js";
import { COVERS, follow, ICON } from "../js/streamlit_page.js";
import { turn } from "../session/safe_mode.js";

/** @import { Server } from "../js/post.js" */
/** @import { Mount } from "../js/streamlit_page.js" */
/** @import { Switch } from "../session/safe_mode.js" */

/** @typedef {{name: string, about: string, letter: string, link: string}} Place letter: that goes there after `g` */
/** @typedef {{name: string, ticker: string, tier: string, picture: string, link: string}} Coin */
/** @typedef {{server: Server, places: Place[], switches: Switch[]}} PaletteData */
/** @typedef {{id: string, kind: string, name: string, about: string, picture?: string, do: () => void}} Row */

const PAUSE = 60; // ms after the last keystroke, before coins are asked for
const PREFIX = "g";
const SOON = 1500; // ms in which a letter follows the prefix
const MOST = 8; // rows of one kind

export class Palette {
  /** @type {Row[]} */
  rows = [];
  /** @type {Coin[]} */
  coins = [];
  at = 0;
  timer = 0;
  found = ""; // the words whose coins are among the rows

  /** @param {HTMLElement} root @param {PaletteData} data */
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.field = el("input", {
      type: "text",
      role: "combobox",
      "aria-label": "Go to, find, do",
      "aria-expanded": "true",
      "aria-controls": "memedex-palette-rows",
      "aria-autocomplete": "list",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "A place, a coin, or what to do",
      oninput: () => this.typed(),
    });
    this.list = el("ul", { role: "listbox", id: "memedex-palette-rows", "aria-label": "Found" });
    this.none = el("p", { role: "status" });
    this.dialog = el("dialog", { "aria-label": "Go to, find, do" }, this.field, this.list, this.none);
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.close());
    this.dialog.addEventListener("keydown", (event) => this.press(event));
    const opens = el(
      "button",
      { type: "button", class: "opens", "aria-keyshortcuts": "Control+K Meta+K", onclick: () => this.open() },
      el("span", {}, "Go to, find, do"),
      el("kbd", {}, "Ctrl K"),
    );
    root.replaceChildren(opens, this.dialog);
  }

  toggle() {
    if (this.dialog.open) this.close();
    else this.open();
  }

  /** The browser would leave the focus in the hidden field until it draws again: keys would be taken for text. */
  close() {
    this.dialog.close();
    this.field.blur();
  }

  /** @param {string} letter */
  goByLetter(letter) {
    const place = this.data.places.find((each) => each.letter === letter);
    if (place) follow(place.link);
  }

  open() {
    if (this.dialog.open) return;
    this.offers = offered(this.root);
    this.field.value = "";
    this.coins = [];
    this.found = "";
    this.dialog.showModal();
    this.show();
  }

  /** @param {KeyboardEvent} event in the dialog */
  press(event) {
    const key = event.isComposing ? "" : event.key; // else it belongs to the input method
    const step = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (step) this.at = (this.at + step + this.rows.length) % Math.max(1, this.rows.length);
    else if (key === "Enter") void this.enter();
    else if (key === "Escape") this.close();
    else {
      event.stopPropagation();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    this.mark();
  }

  /** Chooses among all that the words find: coins come later than the rest, and may come before it. */
  async enter() {
    clearTimeout(this.timer);
    if (this.found !== this.field.value.trim()) await this.find();
    this.choose(this.rows[this.at]);
  }

  /** @param {Row | undefined} row */
  choose(row) {
    if (!row || !this.dialog.open) return;
    this.close();
    row.do();
  }

  typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.find(), PAUSE);
    this.show();
  }

  async find() {
    const words = this.field.value.trim();
    const { answer } = words ? await post(this.data.server, "find-coins", { words }, { keepalive: false }) : {};
    if (words !== this.field.value.trim()) return;
    this.coins = answer?.coins ?? [];
    this.found = words;
    this.show({ marked: this.at ? this.rows[this.at]?.id : "" });
  }

  /** @param {{marked?: string}} kept the row to which somebody moved, which stays marked when coins arrive */
  show({ marked = "" } = {}) {
    const words = this.field.value.trim().toLowerCase();
    const named = this.data.places.filter(({ name }) => matches(words, name));
    const described = this.data.places.filter((each) => !named.includes(each) && matches(words, each.about));
    const places = [...named, ...(words.length > 2 ? described : [])].map(({ name, about, letter, link }) =>
      row("Go to", name, letter ? `${PREFIX} ${letter}` : about, () => follow(link)),
    );
    const coins = this.coins.map(({ name, ticker, tier, picture, link }) => ({
      ...row("Coin", name, [ticker, tier].filter(Boolean).join(" · "), () => follow(link)),
      picture,
    }));
    const switches = this.data.switches.map((each) => ({
      name: `${each.label}: ${each.isOn ? "off" : "on"}`,
      about: each.title,
      act: () => turn(each),
    }));
    const offers = (this.offers ?? [])
      .filter(({ button }) => button.isConnected) // the page before may have stood when the palette was opened
      .map(({ name, button }) => ({ name, about: "", act: () => button.click() }));
    const verbs = (words ? [...offers, ...switches] : [])
      .filter(({ name }) => matches(words, name))
      .map(({ name, about, act }) => row("Do", name, about, act));
    const isName = coins.length && !places.some(({ name }) => name.toLowerCase().startsWith(words));
    const kinds = isName ? [coins, verbs, places] : [places, verbs, coins];
    this.rows = kinds.flatMap((kind) => kind.slice(0, words ? MOST : Infinity));
    this.at = Math.max(0, marked ? this.rows.findIndex(({ id }) => id === marked) : 0);
    this.none.textContent = this.rows.length ? "" : "Nothing found.";
    fill(this.list, this.rows, (each) => this.item(each));
    this.mark();
  }

  /** @param {Row} each */
  item(each) {
    return el(
      "li",
      { role: "option", onclick: () => this.choose(each), "data-name": each.name },
      each.picture ? el("img", { src: each.picture, alt: "", width: "28", height: "28" }) : null,
      el("span", { class: "name", dir: "auto" }, each.name),
      el("span", { class: "about" }, each.about),
      el("span", { class: "kind" }, each.kind),
    );
  }

  mark() {
    [...this.list.children].forEach((item, at) => {
      item.id = `memedex-palette-${at}`;
      item.setAttribute("aria-selected", String(at === this.at));
      if (at === this.at) item.scrollIntoView({ block: "nearest" });
    });
    if (this.rows.length) this.field.setAttribute("aria-activedescendant", `memedex-palette-${this.at}`);
    else this.field.removeAttribute("aria-activedescendant");
  }
}

/**
 * @param {string} kind
 * @param {string} name
 * @param {string} about
 * @param {() => void} act
 * @returns {Row}
 */
function row(kind, name, about, act) {
  return { id: `${kind} ${name}`, kind, name, about, do: act };
}

/** @param {string} words @param {string} text @returns whether some word of the text begins with each of these */
function matches(words, text) {
  const own = text.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  return words.split(/\s+/).every((word) => own.some((each) => each.startsWith(word)));
}

/** The keys of this tab. A page that is being loaded has no palette yet: what is pressed meanwhile waits for it. */
class Keys {
  /** @type {Palette | null} */
  palette = null;
  /** @type {((palette: Palette) => void) | null} */
  waiting = null;
  prefixed = -Infinity; // when `g` was pressed

  constructor() {
    window.addEventListener("keydown", (event) => this.press(event), true);
    window.addEventListener("keydown", (event) => this.pressLate(event));
  }

  /** @param {Palette} palette of the page that is shown */
  take(palette) {
    this.palette = palette;
    if (!palette.root.isConnected) return;
    this.waiting?.(palette);
    this.waiting = null;
  }

  /** @param {(palette: Palette) => void} act */
  with(act) {
    if (this.palette?.root.isConnected) act(this.palette);
    else this.waiting = act;
  }

  /** Ctrl+K anywhere, and the letter after `g`, before anything else on the page. @param {KeyboardEvent} event */
  press(event) {
    const { key, ctrlKey, metaKey, altKey, shiftKey, timeStamp } = event;
    if (!this.palette || event.isComposing) return;
    if ((ctrlKey || metaKey) && !altKey && !shiftKey && key.toLowerCase() === "k") {
      if (!this.palette.dialog.open && isCovered()) return;
      this.with((palette) => palette.toggle());
    } else if (timeStamp - this.prefixed < SOON && this.isFree(event)) {
      this.prefixed = -Infinity;
      this.with((palette) => palette.goByLetter(key.toLowerCase()));
    } else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  /**
   * `g`, `/` which opens the palette, and the keys that buttons name; where no grid takes the key first.
   *
   * @param {KeyboardEvent} event
   */
  pressLate(event) {
    if (!this.palette || event.defaultPrevented || !this.isFree(event)) return;
    const button = event.repeat ? undefined : buttonOf(event.key);
    if (event.key === PREFIX && !event.repeat) this.prefixed = event.timeStamp;
    else if (event.key === "/") this.with((palette) => palette.open());
    else if (button) button.click();
    else return;
    event.preventDefault();
  }

  /** Whether a single character means neither text nor something that covers the page. @param {KeyboardEvent} event */
  isFree(event) {
    const { key, ctrlKey, metaKey, altKey } = event;
    return key.length === 1 && !ctrlKey && !metaKey && !altKey && !isTyping(event) && !isCovered() && areOn();
  }
}

/** @type {typeof globalThis & {memedexPaletteKeys?: Keys}} */
const tab = globalThis;

/** Whether single characters act (components/grid/js/keys.js). */
function areOn() {
  return read(KEYS, /** @type {{isOff?: boolean}} */ ({}), "localStorage").isOff !== true;
}

function isCovered() {
  return document.querySelector(COVERS) !== null;
}

/** @param {KeyboardEvent} event */
function isTyping(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.matches("input:not([type=checkbox], [type=radio], [type=range]), textarea, select") ||
    target.isContentEditable
  );
}

/**
 * The page's buttons that can be pressed, by what they say; the first of those that say the same.
 *
 * @param {HTMLElement} own whose buttons are left out
 */
function offered(own) {
  /** @type {Map<string, HTMLButtonElement>} */
  const found = new Map();
  for (const button of buttonsIn(document.body)) {
    const name = (button.getAttribute("aria-label") ?? withoutKeys(button)).trim();
    if (name.length < 2 || button.disabled || own.contains(button) || !button.checkVisibility()) continue;
    if (button.closest("[role=gridcell]")) continue; // of one card among many
    if (!found.has(name)) found.set(name, button);
  }
  return [...found].map(([name, button]) => ({ name, button }));
}

/** @param {string} key @returns the button of the page that names this key as its own */
function buttonOf(key) {
  const own = shortcut(key);
  return [...buttonsIn(document.body)].find(
    (button) => button.getAttribute("aria-keyshortcuts") === own && !button.disabled && button.checkVisibility(),
  );
}

/** @param {HTMLElement} button @returns its text without the keys that it names and the names of icons */
function withoutKeys(button) {
  const copy = /** @type {HTMLElement} */ (button.cloneNode(true));
  copy.querySelectorAll(`kbd, ${ICON}, svg`).forEach((key) => key.remove());
  return copy.textContent ?? "";
}

/** @param {ParentNode} parent @returns {Generator<HTMLButtonElement>} also of open shadow roots */
function* buttonsIn(parent) {
  for (const node of parent.querySelectorAll("*")) {
    if (node instanceof HTMLButtonElement) yield node;
    if (node.shadowRoot) yield* buttonsIn(node.shadowRoot);
  }
}

/** @type {WeakMap<HTMLElement, Palette>} */
const palettes = new WeakMap();

/** @param {Mount<PaletteData>} mount */
export default function ({ data, parentElement }) {
  const root = part(parentElement, ".memedex-palette", HTMLElement);
  const palette = palettes.get(root) ?? new Palette(root, data);
  palettes.set(root, palette);
  palette.data = data;
  (tab.memedexPaletteKeys ??= new Keys()).take(palette);
}

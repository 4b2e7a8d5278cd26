// What the person at the page is doing, so that nothing is changed in front of them.

import { COVERS, FIELD, isAtWork, sentAt, watchSending } from "./streamlit_page.js";

const NOT_TYPED = new Set(["button", "checkbox", "color", "file", "image", "radio", "range", "reset", "submit"]);
const FIELD_EVENTS = ["focusout", "keydown"];
const TOUCHES = ["keydown", "pointerdown", "pointermove", "wheel", "touchmove", "input"];

/** Those that hold decisions which the server has not confirmed. */
export const undecided = /** @type {Set<object>} */ (new Set());

const PATIENCE = 30_000; // ms for a link's page
const LOOK = 50; // ms between two looks at whether the server has what was typed
const BEGINNING = 1000; // ms until the server works for it at the latest …
const TAKING = 10_000; // … and until a link is followed all the same

let touchedAt = 0;
let leftFieldAt = -Infinity; // when a field of Streamlit's lost the focus, or Enter was pressed in it …
let wasAtRest = true; // … and whether no run was under way or asked for then
let drawnAt = -Infinity; // when a run drew last
/** @type {{at: number, title: string, isToItself: boolean} | null} */
let left = null; // when a link was clicked, and on which page: a run names its page as it begins, before it draws
/** @type {{link: HTMLAnchorElement, since: number} | null} */
let held = null; // a link that waits until the server has what was typed

/** Begins to notice keys and pointer; returns how to stop. */
export function watchHand() {
  const touched = () => (touchedAt = performance.now());
  const stopWatchingSending = watchSending();
  touched();
  TOUCHES.forEach((name) => document.addEventListener(name, touched, { capture: true, passive: true }));
  FIELD_EVENTS.forEach((name) => document.addEventListener(name, leaveField, { capture: true }));
  window.addEventListener("click", followed, { capture: true }); // before the address is another (back_button.js)
  return () => {
    stopWatchingSending();
    TOUCHES.forEach((name) => document.removeEventListener(name, touched, { capture: true }));
    FIELD_EVENTS.forEach((name) => document.removeEventListener(name, leaveField, { capture: true }));
    window.removeEventListener("click", followed, { capture: true });
  };
}

/** @param {Event & {key?: string}} event */
function leaveField({ key, target }) {
  if (!(target instanceof Element && target.matches(FIELD)) || (key ?? "Enter") !== "Enter") return;
  leftFieldAt = performance.now();
  wasAtRest = !isAtWork() && sentAt() < drawnAt;
}

/** @param {MouseEvent} event */
function followed(event) {
  const opensOther = event.ctrlKey || event.metaKey || event.shiftKey;
  const path = /** @type {HTMLAnchorElement[]} */ (event.composedPath());
  const link = path.find((node) => node.localName === "a");
  if (!link || opensOther || link.target === "_blank" || link.hasAttribute("download")) return;
  if (leftFieldAt > drawnAt && !event.defaultPrevented) return hold(event, link);
  const { pathname } = location;
  const isToOverview = link.getAttribute("href") === ""; // as Streamlit writes it on every page
  const isToItself = isToOverview ? pathname.endsWith("/") : link.pathname === pathname;
  left = { at: performance.now(), title: document.title, isToItself };
}

/**
 * Lets a link wait until a run has what was typed. A field sends it when a press takes its focus, but after a quick
 * click: that run would call the page of the field back, and the run of the link's page would not have the text.
 *
 * @param {MouseEvent} event
 * @param {HTMLAnchorElement} link
 */
function hold(event, link) {
  event.preventDefault();
  event.stopImmediatePropagation();
  if (!held) setTimeout(follow, 0); // behind Streamlit's own timer, which sends
  held = { link, since: performance.now() };
}

function follow() {
  if (!held) return;
  const { link, since } = held;
  const isTaken = drawnAt > since && (wasAtRest || !isAtWork()); // the first that draws may be the run before
  const waited = performance.now() - since;
  if (sentAt() > leftFieldAt && !isTaken && waited < (isAtWork() ? TAKING : BEGINNING)) {
    setTimeout(follow, LOOK);
    return;
  }
  held = null;
  leftFieldAt = -Infinity;
  // A run may have drawn it again.
  const links = link.isConnected ? [link] : [...document.querySelectorAll("a")];
  links.find(({ href, textContent }) => href === link.href && textContent === link.textContent)?.click();
}

/** A run has drawn: of the link's page, or of the page that is left, which was under way. */
export function arrive() {
  drawnAt = performance.now();
  if (left?.isToItself || document.title !== left?.title) left = null;
}

/**
 * Whether a link has been clicked whose page is not drawn yet. A run that a component asks for now would carry
 * this page's name, and call this page back.
 */
export function isLeaving() {
  return left !== null && performance.now() - left.at < PATIENCE;
}

/** Whether the server works for this page, or another is about to be drawn. */
export function isBusy() {
  return isAtWork() || isLeaving();
}

/** What `mayRun` wants to know. */
export function hand() {
  return {
    isVisible: document.visibilityState === "visible",
    isWorking: isBusy(),
    inField: isField(focused()),
    isCovered: roots().some((root) => [...root.querySelectorAll(COVERS)].some((node) => node.checkVisibility())),
    isDeciding: undecided.size > 0,
    touchedAt,
  };
}

/** What has the focus, also inside of components. */
function focused() {
  let node = document.activeElement;
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  return node;
}

/** @param {Element | null} node */
function isField(node) {
  if (node instanceof HTMLInputElement) return !NOT_TYPED.has(node.type);
  return node instanceof HTMLElement && (node.isContentEditable || node.matches("textarea, select"));
}

/** The document and the insides of its components. */
function roots() {
  return [document, ...[...document.querySelectorAll("*")].flatMap((node) => node.shadowRoot ?? [])];
}

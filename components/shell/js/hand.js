// What the person at the page is doing, so that nothing is changed in front of them.

import { COVERS, isAtWork } from "./streamlit_page.js";

const NOT_TYPED = new Set(["button", "checkbox", "color", "file", "image", "radio", "range", "reset", "submit"]);
const TOUCHES = ["keydown", "pointerdown", "pointermove", "wheel", "touchmove", "input"];

/** Those that hold decisions which the server has not confirmed. */
export const undecided = new Set();

const PATIENCE = 30_000; // ms for a link's page

let touchedAt = 0;
let left = null; // {at, from, isToItself}: when a link was clicked, and on which path

/** Begins to notice keys and pointer; returns how to stop. */
export function watchHand() {
  const touched = () => (touchedAt = performance.now());
  touched();
  TOUCHES.forEach((name) => document.addEventListener(name, touched, { capture: true, passive: true }));
  document.addEventListener("click", followed, { capture: true });
  return () => {
    TOUCHES.forEach((name) => document.removeEventListener(name, touched, { capture: true }));
    document.removeEventListener("click", followed, { capture: true });
  };
}

function followed(event) {
  const opensOther = event.ctrlKey || event.metaKey || event.shiftKey;
  const link = event.composedPath().find((node) => node.localName === "a");
  if (!link || opensOther || link.target === "_blank" || link.hasAttribute("download")) return;
  const from = location.pathname;
  const isToOverview = link.getAttribute("href") === ""; // as Streamlit writes it on every page
  left = { at: performance.now(), from, isToItself: isToOverview ? from.endsWith("/") : link.pathname === from };
}

/** A run has drawn: of the link's page, or of the page that is left, which was under way. */
export function arrive() {
  if (left?.isToItself || location.pathname !== left?.from) left = null;
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

function isField(node) {
  if (!node) return false;
  return node.isContentEditable || node.matches("textarea, select") || (node.matches("input") && !NOT_TYPED.has(node.type));
}

/** The document and the insides of its components. */
function roots() {
  return [document, ...[...document.querySelectorAll("*")].map((node) => node.shadowRoot).filter(Boolean)];
}

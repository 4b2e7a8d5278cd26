// How coins look on every page: icons, ages, numbers, pictures.

import { el } from "../../shell/js/elements.js";

/** @import { Attributes, Child } from "../../shell/js/elements.js" */

const RESTS = 4; // pixels that a pointer which presses may move
const SVG = "http://www.w3.org/2000/svg";

const LENGTHS = { y: 31557600, mo: 2629800, d: 86400, h: 3600, min: 60 }; // in seconds

const PATHS = {
  check: "M4.5 10.5l3.6 3.6 7.4-8",
  cross: "M5.5 5.5l9 9M14.5 5.5l-9 9",
  expand: "M8 3.5H3.5V8M12 3.5h4.5V8M8 16.5H3.5V12M12 16.5h4.5V12",
  back: "M12.5 4.5L7 10l5.5 5.5",
  forward: "M7.5 4.5L13 10l-5.5 5.5",
  undo: "M4 8h8a4 4 0 010 8H8M4 8l3.5-3.5M4 8l3.5 3.5",
  redo: "M16 8H8a4 4 0 000 8h4M16 8l-3.5-3.5M16 8l-3.5 3.5",
  out: "M8 4.5H4.5v11h11V12M11.5 4.5h4v4M15.5 4.5L9 11",
  alert: "M10 3.5l7.5 13h-15zM10 8.5v4M10 14.6v.1",
};

/**
 * A line icon that takes the colour of its text.
 *
 * @param {keyof PATHS} name
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "icon");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/**
 * A button; `key` is the key that does the same.
 *
 * @param {string} look its class
 * @param {Child} label
 * @param {(event: PointerEvent) => void} onclick
 * @param {Attributes & {key?: string}} attributes
 */
export function button(look, label, onclick, { key, ...attributes } = {}) {
  const shown = key === undefined ? null : el("kbd", {}, key);
  return el("button", { type: "button", class: look, onclick, ...attributes }, label, shown);
}

/**
 * Lets the key of the browser, and a click outside of it, close a dialog in our way.
 *
 * @param {HTMLDialogElement} dialog
 * @param {() => void} close
 */
export function closesItself(dialog, close) {
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    close();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && close());
}

/**
 * How long ago, in the shortest clear form.
 *
 * @param {number} seconds since 1970
 */
export function age(seconds, now = Date.now() / 1000) {
  const past = Math.max(0, now - seconds);
  for (const [unit, length] of Object.entries(LENGTHS))
    if (past >= length) return `${Math.floor(past / length)} ${unit}`;
  return "now";
}

/**
 * The age of a coin on every view of it; its exact time is in `created`.
 *
 * @param {{created_at: number, no_age?: boolean}} card
 */
export function ageOf({ created_at, no_age }) {
  const old = age(created_at);
  return no_age ? `imported ${old === "now" ? old : `${old} ago`}` : old;
}

/**
 * "1 coin", "12 coins", "1,342 coins".
 *
 * @param {number} number
 * @param {string} one
 */
export function count(number, one) {
  return `${number.toLocaleString("en")} ${one}${number === 1 ? "" : "s"}`;
}

/**
 * Lets a press of this button count although what arrives moves it away, as long as the pointer rests.
 *
 * @param {HTMLElement} button
 */
export function keepPress(button) {
  /** @type {PointerEvent | null} */
  let from = null;
  button.addEventListener("pointerdown", (event) => {
    from = event;
    button.setPointerCapture(event.pointerId); // the click is the button's, although it has moved
  });
  button.addEventListener("pointermove", (event) => {
    if (from && Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) > RESTS)
      button.releasePointerCapture(event.pointerId);
  });
  button.addEventListener("lostpointercapture", () => (from = null));
}

/**
 * Shows another coin's picture, and until it has arrived none: an image keeps drawing its last one, with the next
 * coin's name.
 *
 * @param {HTMLImageElement} image
 * @param {string} source
 */
export function showPicture(image, source) {
  image.src = source;
  const shows = image.complete && image.naturalWidth > 0;
  image.style.visibility = shows ? "" : "hidden";
  image.onload = image.onerror = () => (image.style.visibility = "");
}

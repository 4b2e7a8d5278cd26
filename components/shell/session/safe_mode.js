// The switches for safe mode and for presenting, and the click that shows a blurred picture. The server blurs; a
// clicked picture is asked for once more with another address.

import { el, part } from "../js/elements.js";

/** @import { Mount } from "../js/streamlit_page.js" */

/** @typedef {{mark: string, shown: string}} Parameters of the address of a picture that is unfit, and of one clicked */
/** @typedef {{label: string, title: string, parameter: string, isOn: boolean}} Switch */

let isListening = false;

/** @param {Mount<Parameters & {isOn: boolean, switches: Switch[]}>} mount */
export default function ({ data, parentElement }) {
  part(parentElement, ".memedex-safe", HTMLElement).replaceChildren(...switchesOf(data.switches));
  if (data.isOn && !isListening) listen(data);
}

/**
 * A button for each switch.
 *
 * @param {Switch[]} switches
 * @param {string | null} look its class
 */
export function switchesOf(switches, look = null) {
  return switches.map((each) => {
    const { label, title, isOn } = each;
    const state = { role: "switch", "aria-checked": String(isOn) };
    return el("button", { type: "button", class: look, ...state, title, onclick: () => turn(each) }, label);
  });
}

/** Turns a switch of this browser, which loads the page again. @param {Switch} which */
export function turn({ parameter, isOn }) {
  const address = new URL(location.href);
  address.searchParams.set(parameter, isOn ? "0" : "1");
  location.assign(address);
}

/**
 * Whether the picture at this address is blurred in safe mode.
 *
 * @param {string | null} source
 * @param {Parameters} parameters
 */
export function isBlurred(source, { mark, shown }) {
  const [, query = ""] = (source ?? "").split("?");
  const names = new URLSearchParams(query);
  return names.has(mark) && !names.has(shown);
}

/** @param {Parameters} parameters */
function listen(parameters) {
  isListening = true;
  document.addEventListener(
    "click",
    (event) => {
      const picture = pictureAt(event, (source) => isBlurred(source, parameters));
      if (!picture) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      picture.src = `${picture.getAttribute("src")}&${parameters.shown}=1`;
    },
    true,
  );
}

/**
 * The picture under the pointer, also below a card's captions; undefined without one that `counts`.
 *
 * @param {MouseEvent} event
 * @param {(source: string | null) => boolean} counts
 */
function pictureAt(event, counts) {
  const { clientX: x, clientY: y } = event;
  const target = event.composedPath()[0];
  if (!(target instanceof Element) || target.closest("button, a, [role=button], [role=checkbox]")) return undefined;
  const root = target.getRootNode();
  if (!(root instanceof Document || root instanceof ShadowRoot)) return undefined;
  return [...root.querySelectorAll("img")].find((picture) => {
    const { left, right, top, bottom } = picture.getBoundingClientRect();
    const isHit = left <= x && x <= right && top <= y && y <= bottom;
    return isHit && counts(picture.getAttribute("src")) && picture.closest("dialog") === target.closest("dialog");
  });
}

// The tour's panel: buttons, arrow keys while nothing else has the focus, and a ring around what a stop talks about.

import { el, part } from "./elements.js";
import { COVERS, headerHeight, mainLeft } from "./streamlit_page.js";

/** @import { Mount } from "./streamlit_page.js" */

/** @typedef {{number: number, count: number, title: string, text: string, next: string, mark: string | null}} Stop */
const OFTEN = 250; // ms between two looks for what is marked: pages are drawn piece by piece
const WIDTH = 3; // px of the ring, as far from what it marks
const ROOM = 1000; // px of a window whose page makes room for the panel: PANEL in streamlit_style.py

// What has a use of its own for the keys of the tour: texts always, the rest once a person has gone there.
const TYPED = "input, textarea, select, [contenteditable], dialog, [role=dialog]";
const KEYED = `${TYPED}, canvas, [role=slider], [role=grid], [role=tab], [role=radio], [role=menu], [role=listbox]`;

/** @type {(() => void) | undefined} */
let drop; // what takes the panel that is shown away
/** @type {string | undefined} */
let arrived; // the stop at which the page was last scrolled to what is marked
/** @type {Map<string, "next" | "back" | "end">} */
const KEYS = new Map([
  ["ArrowRight", "next"],
  ["ArrowLeft", "back"],
  ["Escape", "end"],
]);

let isElsewhere = false; // whether a person clicked or tabbed away from the panel at this stop

/**
 * The first such element that is visible, also inside a component.
 *
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
function find(selector) {
  const inner = [...document.querySelectorAll("div")].flatMap((each) => each.shadowRoot ?? []);
  for (const root of [document, ...inner]) {
    for (const found of root.querySelectorAll(selector))
      if (found instanceof HTMLElement && found.getClientRects().length) return found;
  }
  return null;
}

/** @param {HTMLElement} root @param {HTMLElement} ring @param {string | null} selector */
function place(root, ring, selector) {
  const marked = selector ? find(selector) : null;
  ring.hidden = !marked;
  if (!marked) return;
  if (arrived !== root.dataset.stop) {
    arrived = root.dataset.stop;
    const [above, below] = [headerHeight() + 4 * WIDTH, (innerWidth < ROOM ? root.offsetHeight : 0) + 8 * WIDTH];
    Object.assign(marked.style, { scrollMarginTop: `${above}px`, scrollMarginBottom: `${below}px` });
    const fits = marked.offsetHeight <= innerHeight - above - below;
    marked.scrollIntoView({ block: fits ? "nearest" : "start" });
  }
  const box = marked.getBoundingClientRect();
  Object.assign(ring.style, {
    left: `${box.left - 2 * WIDTH}px`,
    top: `${box.top - 2 * WIDTH}px`,
    width: `${box.width + 2 * WIDTH}px`,
    height: `${box.height + 2 * WIDTH}px`,
  });
  root.classList.toggle("left", "coin" in document.documentElement.dataset); // the coin's panel is on the right
  root.style.setProperty("--start", `${mainLeft()}px`);
}

/** What has the focus, also inside a component. */
function focused() {
  let at = document.activeElement ?? document.body;
  while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at;
}

/** @param {Mount<Stop>} mount */
export default function ({ data, parentElement, setTriggerValue }) {
  const root = part(parentElement, ".tour", HTMLElement);
  const { number, count, next, mark } = data;
  drop?.();
  const go = (/** @type {"next" | "back" | "end"} */ wish) => setTriggerValue("go", wish);
  root.replaceChildren(
    el("p", { class: "count" }, `Tour · ${number} of ${count}`),
    el("h2", {}, data.title),
    el("p", { class: "text", "aria-live": "polite" }, data.text),
    el(
      "div",
      { class: "buttons" },
      el("button", { class: "end", type: "button", onclick: () => go("end") }, "End"),
      el("button", { class: "back", type: "button", disabled: number === 1, onclick: () => go("back") }, "Back"),
      el("button", { class: "next", type: "button", hidden: !next, onclick: () => go("next") }, next),
    ),
  );
  root.hidden = false;
  document.documentElement.dataset.tour = String(number); // the page makes room
  const ring = el("div", { class: "memedex-tour-ring", hidden: true });
  const colour = getComputedStyle(root).getPropertyValue("--st-primary-color");
  ring.style.cssText =
    "position:fixed;z-index:999980;pointer-events:none;box-sizing:content-box;border-radius:8px;" +
    `border:${WIDTH}px solid ${colour}`;
  document.body.append(ring);
  const isNew = root.dataset.stop !== String(number);
  root.dataset.stop = String(number);
  if (isNew) isElsewhere = false;
  if (isNew) root.focus({ preventScroll: true });
  place(root, ring, mark);
  const ticking = setInterval(() => place(root, ring, mark), OFTEN);
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || focused().closest(isElsewhere ? KEYED : TYPED)) return;
    if (event.key === "Tab") isElsewhere = true;
    const wish = KEYS.get(event.key);
    if (!wish || (wish === "next" && !next) || (wish === "back" && number === 1)) return;
    if (find(COVERS)) return; // the key is meant for what is open over the page
    event.preventDefault();
    event.stopImmediatePropagation();
    go(wish);
  };
  const onPress = (/** @type {PointerEvent} */ event) => {
    isElsewhere = !event.composedPath().includes(root);
  };
  window.addEventListener("keydown", onKey, true); // before the keys of the page that it stands on
  document.addEventListener("pointerdown", onPress, true);
  const own = () => {
    clearInterval(ticking);
    ring.remove();
    delete document.documentElement.dataset.tour;
    window.removeEventListener("keydown", onKey, true);
    document.removeEventListener("pointerdown", onPress, true);
    drop = undefined;
  };
  drop = own;
  return () => {
    if (!root.isConnected && drop === own) drop(); // a panel that was mounted since has its own
  };
}

// The tour's panel: buttons, arrow keys while nothing else has the focus, and a ring around what a stop talks about.

import { el, setText } from "./elements.js";
import { COVERS, headerHeight, mainLeft } from "./streamlit_page.js";

const OFTEN = 250; // ms between two looks for what is marked: pages are drawn piece by piece
const SLIDER = 64; // px at the foot of the map
const WIDTH = 3; // px of the ring, as far from what it marks

// What has a use of its own for the keys of the tour: texts always, the rest once a person has gone there.
const TYPED = "input, textarea, select, [contenteditable], [role=dialog]";
const KEYED = `${TYPED}, canvas, [role=slider], [role=grid], [role=tab], [role=radio], [role=menu], [role=listbox]`;

let ring, ticking, keys, hand, arrived;
let isElsewhere = false; // whether a person clicked or tabbed away from the panel at this stop

/** The first such element that is visible, also inside a component. */
function find(selector) {
  const roots = [document, ...[...document.querySelectorAll("div")].map((each) => each.shadowRoot).filter(Boolean)];
  for (const root of roots) {
    for (const found of root.querySelectorAll(selector)) if (found.getClientRects().length) return found;
  }
  return null;
}

function place(root, selector) {
  const marked = selector && find(selector);
  ring.hidden = !marked;
  if (!marked) return;
  if (arrived !== root.dataset.stop) {
    arrived = root.dataset.stop;
    const where = placeInWindow(marked.getBoundingClientRect(), { header: headerHeight(), panel: root.offsetHeight });
    marked.style.scrollMarginTop = `${headerHeight() + 4 * WIDTH}px`;
    marked.scrollIntoView({ block: where });
  }
  const box = marked.getBoundingClientRect();
  Object.assign(ring.style, {
    left: `${box.left - 2 * WIDTH}px`,
    top: `${box.top - 2 * WIDTH}px`,
    width: `${box.width + 2 * WIDTH}px`,
    height: `${box.height + 2 * WIDTH}px`,
  });
  const start = mainLeft();
  const corner = cornerBeside(
    box,
    { width: root.offsetWidth, height: root.offsetHeight },
    { start, isMap: selector === "canvas" },
  );
  root.classList.toggle("left", corner.isLeft);
  root.style.setProperty("--start", `${start}px`);
  root.style.setProperty("--raised", `${corner.raised}px`);
}

/**
 * Where to scroll what is marked: to its beginning if it is higher than the window, and a low thing that is hidden,
 * also by the panel, to the middle.
 */
export function placeInWindow({ top, bottom, height }, { header, panel }) {
  if (height > innerHeight - header) return "start";
  const isHidden = top < header || bottom > innerHeight - panel;
  return isHidden && height < innerHeight / 3 ? "center" : "nearest";
}

/**
 * Where the panel covers nothing of what it marks: the left corner, if the right one does; on the map above its time
 * slider.
 */
export function cornerBeside(box, panel, { start, isMap }) {
  const [width, height] = [panel.width + 40, panel.height + 40];
  const isCovered = box.right > innerWidth - width && box.bottom > innerHeight - height;
  return {
    isLeft: isCovered && box.left > start + width,
    raised: isCovered && isMap ? Math.max(0, innerHeight - box.bottom) + SLIDER : 0,
  };
}

/** What has the focus, also inside a component. */
function focused() {
  let at = document.activeElement ?? document.body;
  while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at;
}

function drop() {
  clearInterval(ticking);
  ring?.remove();
  if (keys) window.removeEventListener("keydown", keys, true);
  if (hand) document.removeEventListener("pointerdown", hand, true);
  ring = keys = hand = undefined;
}

function build(root, send) {
  const button = (name, label, what) => {
    const made = el("button", name, label);
    made.type = "button";
    made.onclick = () => send(what);
    return made;
  };
  const text = el("p", "text");
  text.setAttribute("aria-live", "polite");
  const buttons = el(
    "div",
    "buttons",
    button("end", "End", "end"),
    button("back", "Back", "back"),
    button("next", "", "next"),
  );
  root.replaceChildren(el("p", "count"), el("h2", ""), text, buttons);
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".tour");
  drop();
  build(root, (what) => setTriggerValue("go", what));
  const part = (name) => root.querySelector(name);
  setText(part(".count"), `Tour · ${data.number} of ${data.count}`);
  setText(part("h2"), data.title);
  setText(part(".text"), data.text);
  setText(part(".next"), data.next);
  part(".next").hidden = !data.next;
  part(".back").disabled = data.number === 1;
  root.hidden = false;
  ring = el("div", "memedex-tour-ring");
  ring.hidden = true;
  const colour = getComputedStyle(root).getPropertyValue("--st-primary-color");
  ring.style.cssText =
    "position:fixed;z-index:999980;pointer-events:none;box-sizing:content-box;border-radius:8px;" +
    `border:${WIDTH}px solid ${colour}`;
  document.body.append(ring);
  const isNew = root.dataset.stop !== String(data.number);
  root.dataset.stop = data.number;
  if (isNew) isElsewhere = false;
  if (isNew) root.focus({ preventScroll: true });
  place(root, data.mark);
  ticking = setInterval(() => place(root, data.mark), OFTEN);
  keys = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || focused().closest(isElsewhere ? KEYED : TYPED)) return;
    if (event.key === "Tab") isElsewhere = true;
    const what = { ArrowRight: "next", ArrowLeft: "back", Escape: "end" }[event.key];
    if (!what || (what === "next" && !data.next) || (what === "back" && data.number === 1)) return;
    if (find(COVERS)) return; // the key is meant for what is open over the page
    event.preventDefault();
    event.stopImmediatePropagation();
    setTriggerValue("go", what);
  };
  hand = (event) => {
    isElsewhere = !event.composedPath().includes(root);
  };
  window.addEventListener("keydown", keys, true); // before the keys of the page that it stands on
  document.addEventListener("pointerdown", hand, true);
  const own = keys; // a panel that was mounted meanwhile has its own
  return () => {
    if (!root.isConnected && keys === own) drop();
  };
}

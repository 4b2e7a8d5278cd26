// The mouse. A plain click only moves the cursor, so a stray click cannot destroy a selection. Selecting takes the
// corner, ctrl/⌘, shift or a drawn box, and all of these but the corner's and ctrl's second click only ever add.

import { el } from "../../shell/js/elements.js";

const SLIP = 6; // px the mouse may move before a click becomes a box

/** @import { Grid } from "./main.js" */

/** @param {Grid} grid */
export function listenToPointer(grid) {
  const field = grid.field;
  /** @type {{x: number, y: number, scroll: number, before: Set<string>} | null} */
  let start = null;
  /** @type {HTMLElement | null} */
  let box = null;
  /** @type {{address: string, x: number, y: number, width: number, height: number}[]} */
  let rects = [];
  let ignoresUntil = 0; // the click that follows a drawn box

  field.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    start = {
      x: event.clientX,
      y: event.clientY,
      scroll: field.getBoundingClientRect().top,
      before: new Set(grid.model.selection.keys()),
    };
  });

  const move = (/** @type {PointerEvent} */ event) => {
    if (!start) return;
    const { before } = start;
    const far = Math.hypot(event.clientX - start.x, event.clientY - start.y) > SLIP;
    if (!box && !far) return;
    const origin = field.getBoundingClientRect();
    if (!box) {
      box = el("div", { class: "box" });
      field.append(box);
      rects = [...grid.cards.nodes].map(([address, node]) => {
        const { offsetLeft: x, offsetTop: y, offsetWidth: width, offsetHeight: height } = node;
        return { address, x, y, width, height };
      });
    }
    const x1 = Math.min(start.x, event.clientX) - origin.left;
    const x2 = Math.max(start.x, event.clientX) - origin.left;
    const startY = start.y - start.scroll;
    const y1 = Math.min(startY, event.clientY - origin.top);
    const y2 = Math.max(startY, event.clientY - origin.top);
    Object.assign(box.style, { left: `${x1}px`, top: `${y1}px`, width: `${x2 - x1}px`, height: `${y2 - y1}px` });
    const inside = rects
      .filter(({ x, y, width, height }) => x < x2 && x + width > x1 && y < y2 && y + height > y1)
      .map(({ address }) => address);
    grid.model.select(
      [...grid.model.selection.keys()].filter((address) => !before.has(address)),
      false,
    );
    grid.model.select(inside, true);
    grid.refresh();
    event.preventDefault();
  };

  const end = () => {
    if (box) {
      box.remove();
      ignoresUntil = performance.now() + 50;
    }
    start = box = null;
  };

  field.addEventListener("click", (event) => {
    const { target } = event;
    const address = grid.cards.at(target)?.dataset.address;
    if (!address || !(target instanceof Element) || performance.now() < ignoresUntil) return;
    if (target.closest("[data-expand]")) return grid.panel.show(address);
    if (target.closest("[data-twin]")) return grid.compare(address);
    const { model } = grid;
    if (event.shiftKey) model.select(model.range(model.anchor ?? model.cursor ?? address, address), true);
    else if (event.ctrlKey || event.metaKey || target.closest("[data-pick]"))
      model.select([address], !model.isChosen(address));
    if (!event.shiftKey) model.anchor = address;
    model.moveTo(address);
    grid.refresh({ focus: true });
  });

  // While the mouse is pressed, the click decides.
  field.addEventListener("focusin", (event) => start || grid.focus.take(grid.cards.at(event.target)));

  field.addEventListener("dblclick", ({ target, ctrlKey, shiftKey }) => {
    const isPart = target instanceof Element && target.closest("[data-pick], [data-expand], [data-twin]");
    const address = grid.cards.at(target)?.dataset.address;
    if (address && !isPart && !ctrlKey && !shiftKey) grid.panel.show(address);
  });

  window.addEventListener("pointermove", move);
  window.addEventListener("pointerup", end);
  window.addEventListener("pointercancel", end);
  return () => {
    window.removeEventListener("pointermove", move);
    window.removeEventListener("pointerup", end);
    window.removeEventListener("pointercancel", end);
  };
}

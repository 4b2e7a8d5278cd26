// The mouse. A plain click only moves the cursor, so a stray click cannot destroy a selection. Selecting takes the
// corner, ctrl/⌘, shift or a drawn box, and all of these but the corner's and ctrl's second click only ever add.

import { el } from "../../shell/js/elements.js";

const SLIP = 6; // px the mouse may move before a click becomes a box

export function listenToPointer(grid) {
  const field = grid.parts.field;
  let start = null;
  let box = null;
  let rects = [];

  field.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    start = {
      x: event.clientX,
      y: event.clientY,
      scroll: field.getBoundingClientRect().top,
      before: new Set(grid.model.selection.keys()),
    };
  });

  const move = (event) => {
    if (!start) return;
    const far = Math.hypot(event.clientX - start.x, event.clientY - start.y) > SLIP;
    if (!box && !far) return;
    const origin = field.getBoundingClientRect();
    if (!box) {
      box = el("div", { class: "box" });
      field.append(box);
      rects = [...grid.cards.nodes].map(([address, node]) => [
        address,
        node.offsetLeft,
        node.offsetTop,
        node.offsetWidth,
        node.offsetHeight,
      ]);
    }
    const x1 = Math.min(start.x, event.clientX) - origin.left;
    const x2 = Math.max(start.x, event.clientX) - origin.left;
    const startY = start.y - start.scroll;
    const y1 = Math.min(startY, event.clientY - origin.top);
    const y2 = Math.max(startY, event.clientY - origin.top);
    Object.assign(box.style, { left: `${x1}px`, top: `${y1}px`, width: `${x2 - x1}px`, height: `${y2 - y1}px` });
    const inside = rects
      .filter(([, x, y, w, h]) => x < x2 && x + w > x1 && y < y2 && y + h > y1)
      .map(([address]) => address);
    grid.model.select(
      [...grid.model.selection.keys()].filter((address) => !start.before.has(address)),
      false,
    );
    grid.model.select(inside, true);
    grid.refresh();
    event.preventDefault();
  };

  const end = () => {
    if (box) {
      box.remove();
      // Ignore the click event that follows a drawn box.
      grid.ignoreClick = performance.now() + 50;
    }
    start = box = null;
  };

  field.addEventListener("click", (event) => {
    const node = event.target.closest?.(".card");
    if (!node || performance.now() < (grid.ignoreClick ?? 0)) return;
    const address = node.dataset.address;
    if (event.target.closest("[data-expand]")) return grid.open(address);
    if (event.target.closest("[data-twin]")) return grid.compare(address);
    const { model } = grid;
    if (event.shiftKey) model.select(model.range(model.anchor ?? model.cursor ?? address, address), true);
    else if (event.ctrlKey || event.metaKey || event.target.closest("[data-pick]"))
      model.select([address], !model.isChosen(address));
    if (!event.shiftKey) model.anchor = address;
    model.moveTo(address);
    grid.refresh({ focus: true });
  });

  // While the mouse is pressed, the click decides.
  field.addEventListener("focusin", (event) => start || grid.focus.take(event.target.closest?.(".card")));

  field.addEventListener("dblclick", (event) => {
    const node = event.target.closest?.(".card");
    if (node && !event.target.closest("[data-pick], [data-expand], [data-twin]") && !event.ctrlKey && !event.shiftKey)
      grid.open(node.dataset.address);
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

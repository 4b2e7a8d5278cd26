// Pointer and keys: a drag moves the map or draws the lasso, the wheel and the keys zoom.

import { within } from "./lasso.js";

const LEAST = 3; // corners; a lasso of fewer was a click
const STEP = 60; // px that an arrow key moves the map
const CLOSER = 1.4;
const ARROWS = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] };

export function listenToGestures(atlas) {
  const { canvas, view } = atlas;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    const [x, y] = at(event);
    atlas.drag = { x, y, path: atlas.lasso || event.shiftKey ? [[x, y]] : null };
    atlas.near.hidden = true;
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    const { drag } = atlas;
    if (!drag) return atlas.hover(x, y);
    if (drag.path) drag.path.push([x, y]);
    else {
      view.move(drag.x - x, drag.y - y);
      Object.assign(drag, { x, y });
    }
    atlas.soon();
  });
  canvas.addEventListener("pointerup", () => {
    const path = atlas.drag?.path;
    atlas.drag = null;
    if (path && path.length > LEAST) atlas.choose(within(path.map((place) => view.onMap(place)), atlas.x, atlas.y));
    atlas.soon();
  });
  canvas.addEventListener("pointerleave", () => {
    atlas.pointer = null;
    atlas.near.hidden = true;
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    view.zoom(Math.exp(-event.deltaY * 0.0016), ...at(event));
    atlas.soon();
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const { key } = event;
    if (ARROWS[key]) view.move(...ARROWS[key]);
    else if (key === "Escape") atlas.choose(null);
    else if (key === "+" || key === "=" || key === "-") view.zoom(key === "-" ? 1 / CLOSER : CLOSER);
    else return;
    if (!"+=-".includes(key)) event.preventDefault(); // with ctrl these are the browser's own zoom
    atlas.soon();
  });
}

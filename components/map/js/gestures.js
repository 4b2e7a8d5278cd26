// Pointers and keys: a drag moves the map or draws the lasso, wheel, pinch and keys zoom, a click selects a coin.

/** @import { Atlas } from "./main.js" */
/** @import { Position } from "./view.js" */

/**
 * A drag: from where, up to where the map has followed it, and the lasso that it draws. A pinch has none.
 *
 * @typedef {{isPinch: boolean, from: Position, at: Position, path: Position[] | null}} Drag
 */

const LEAST = 3; // corners; a lasso of fewer was a click
const STILL = 5; // px that a click may move
const STEP = 60; // px that an arrow key moves the map
const CLOSER = 1.4;
/** @type {Record<string, Position>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** @param {Atlas} atlas */
export function listenToGestures(atlas) {
  const { canvas } = atlas;
  /** @type {Map<number, Position>} */
  const fingers = new Map(); // pointers that are down
  /** @returns {Position} */
  const at = (/** @type {MouseEvent} */ event) => {
    const { root } = atlas; // not the canvas, which a drag may have moved
    const box = root.getBoundingClientRect();
    return [event.clientX - box.left - root.clientLeft, event.clientY - box.top - root.clientTop];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    const from = at(event);
    fingers.set(event.pointerId, from);
    const isPinch = fingers.size > 1;
    const draws = !isPinch && (atlas.selection.isDrawing || event.shiftKey);
    atlas.drag = { isPinch, from, at: from, path: draws ? [from] : null };
    atlas.cursor.look(-1);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (fingers.size > 1) pinch(atlas, fingers, event.pointerId, [x, y]);
    else if (atlas.drag) follow(atlas, atlas.drag, [x, y]);
    else return atlas.cursor.hover(x, y);
    atlas.soon();
  });
  const lift = (/** @type {PointerEvent} */ event) => {
    fingers.delete(event.pointerId);
    const { drag } = atlas;
    const place = at(event);
    // The finger that stays does not drag.
    atlas.drag = fingers.size ? { isPinch: true, from: place, at: place, path: null } : null;
    if (drag?.path && drag.path.length > LEAST) atlas.selection.chooseInside(drag.path);
    else if (drag && !drag.isPinch && event.type === "pointerup" && isClick(drag, place)) atlas.cursor.click(...place);
    atlas.soon();
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => atlas.cursor.leave());
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      atlas.view.zoom(Math.exp(-event.deltaY * 0.0016), ...at(event));
      atlas.cursor.hover(...at(event));
      atlas.soon();
    },
    { passive: false },
  );
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !press(atlas, event.key)) return;
    event.preventDefault();
    atlas.soon();
  });
  canvas.addEventListener("blur", () => atlas.cursor.walk(false));
}

/** @param {Drag} drag @param {Position} place */
function isClick({ from }, [x, y]) {
  return Math.hypot(x - from[0], y - from[1]) < STILL;
}

/** @param {Atlas} atlas @param {Drag} drag @param {Position} place */
function follow({ view }, drag, place) {
  if (drag.isPinch) return;
  if (drag.path) drag.path.push(place);
  else {
    view.move(drag.at[0] - place[0], drag.at[1] - place[1]);
    drag.at = place;
  }
}

/**
 * Zooms by the distance of two fingers around their middle, and moves with it.
 *
 * @param {Atlas} atlas
 * @param {Map<number, Position>} fingers
 * @param {number} id of the one that moves
 * @param {Position} place
 */
function pinch({ view }, fingers, id, place) {
  const measure = () => {
    const [[ax, ay], [bx, by]] = [...fingers.values()];
    return { x: (ax + bx) / 2, y: (ay + by) / 2, apart: Math.max(1, Math.hypot(ax - bx, ay - by)) };
  };
  const before = measure();
  fingers.set(id, place);
  const now = measure();
  view.move(before.x - now.x, before.y - now.y);
  view.zoom(now.apart / before.apart, now.x, now.y);
}

/**
 * Does what a key means; returns whether it means anything.
 *
 * @param {Atlas} atlas
 * @param {string} key
 */
function press(atlas, key) {
  const arrow = ARROWS[key];
  if (arrow && atlas.cursor.isWalking) atlas.cursor.step(arrow);
  else if (arrow) atlas.view.move(arrow[0] * STEP, arrow[1] * STEP);
  else if (key === "Enter" || key === " ") atlas.cursor.walk(true);
  else if (key === "Escape") {
    if (atlas.cursor.isWalking) atlas.cursor.walk(false);
    else atlas.selection.choose(null);
  } else if (key === "+" || key === "=") atlas.view.zoom(CLOSER);
  else if (key === "-") atlas.view.zoom(1 / CLOSER);
  else if (key === "0") atlas.whole();
  else return false;
  return true;
}

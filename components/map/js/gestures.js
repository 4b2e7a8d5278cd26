// Pointers and keys: a drag moves the map or draws the lasso, wheel, pinch and keys zoom, a click selects a coin.

const LEAST = 3; // corners; a lasso of fewer was a click
const STILL = 5; // px that a click may move
const STEP = 60; // px that an arrow key moves the map
const CLOSER = 1.4;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function listenToGestures(atlas) {
  const { canvas } = atlas;
  const fingers = new Map(); // pointers that are down, with their positions
  const at = (event) => {
    const { root } = atlas; // not the canvas, which a drag may have moved
    const box = root.getBoundingClientRect();
    return [event.clientX - box.left - root.clientLeft, event.clientY - box.top - root.clientTop];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    const [x, y] = at(event);
    fingers.set(event.pointerId, [x, y]);
    atlas.drag =
      fingers.size > 1
        ? { isPinch: true }
        : { x, y, from: [x, y], path: atlas.selection.isDrawing || event.shiftKey ? [[x, y]] : null };
    atlas.cursor.look(-1);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (fingers.size > 1) pinch(atlas, fingers, event.pointerId, [x, y]);
    else if (atlas.drag) drag(atlas, x, y);
    else return atlas.cursor.hover(x, y);
    atlas.soon();
  });
  const lift = (event) => {
    fingers.delete(event.pointerId);
    const { drag: ended } = atlas;
    atlas.drag = fingers.size ? { isPinch: true } : null; // the finger that stays does not drag
    if (ended?.path?.length > LEAST) atlas.selection.chooseInside(ended.path);
    else if (ended && !ended.isPinch && event.type === "pointerup" && isClick(ended, at(event)))
      atlas.cursor.click(...at(event));
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

function isClick({ from }, [x, y]) {
  return Boolean(from) && Math.hypot(x - from[0], y - from[1]) < STILL;
}

function drag({ drag: held, view }, x, y) {
  if (held.isPinch) return;
  if (held.path) held.path.push([x, y]);
  else {
    view.move(held.x - x, held.y - y);
    Object.assign(held, { x, y });
  }
}

/** Zooms by the distance of two fingers around their middle, and moves with it. */
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

/** Does what a key means; returns whether it means anything. */
function press(atlas, key) {
  const arrow = ARROWS[key];
  if (arrow && atlas.cursor.isWalking) atlas.cursor.step(...arrow);
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

// The names of places: drawn without overlap, the widest first, more as one zooms in.

const SIZES = [17, 14, 12.5]; // px by level
const NEARER = [0, 1.25, 2.2]; // how much closer than the whole map a level begins
const PAD = 6; // px around a name

/** Draws the names that have room; returns their boxes, in px, with their places. */
export function drawNames(pen, places, { view, ratio, text, ground, taken }) {
  const nearness = view.scale / view.wholeScale;
  const drawn = [];
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (const place of places) {
    if (nearness < NEARER[place.level]) continue;
    const size = Math.max(11, SIZES[place.level] * (view.width < 600 ? 0.8 : 1));
    const [x, y] = view.onScreen(place.x, place.y);
    pen.font = `${place.level ? 500 : 650} ${size * ratio}px ${getFont(pen)}`;
    place.width ??= {};
    const width = (place.width[size * ratio] ??= pen.measureText(place.name).width) / ratio;
    const box = {
      left: x - width / 2 - PAD,
      right: x + width / 2 + PAD,
      top: y - size * 0.75,
      bottom: y + size * 0.75,
      place,
    };
    if (box.left < 0 || box.right > view.width || box.top < 0 || box.bottom > view.height) continue;
    if ([...taken, ...drawn].some((other) => overlap(box, other))) continue;
    drawn.push(box);
    pen.globalAlpha = 0.84;
    pen.fillStyle = ground;
    pen.beginPath();
    pen.roundRect(
      box.left * ratio,
      box.top * ratio,
      (box.right - box.left) * ratio,
      (box.bottom - box.top) * ratio,
      size * 0.5 * ratio,
    );
    pen.fill();
    pen.globalAlpha = 1;
    pen.fillStyle = text;
    pen.fillText(place.name, x * ratio, y * ratio);
  }
  return drawn;
}

function getFont(pen) {
  return (pen.family ??= getComputedStyle(pen.canvas).fontFamily);
}

function overlap(one, other) {
  return (
    one.left < other.right + PAD &&
    other.left < one.right + PAD &&
    one.top < other.bottom + PAD &&
    other.top < one.bottom + PAD
  );
}

// The pictures on the map: which points have one, how large, and from where.

export const LARGE = 66; // px of a picture from which the small one is not sharp enough
const SMALL = { many: 34, few: 50 }; // px of a picture among many coins, and among few
const FEW = 1000; // coins; of so few, pictures may overlap: each is worth more than the order
const APART = { few: 0.62, many: 0.98 }; // of their side, how far pictures are from each other at least
const LARGEST = 116; // px of a picture
const SPRITE = 64; // px of a small picture
const PHONE = 0.8; // of the size, on a narrow screen

/** The points of a map in view that are shown as pictures, and the side of these in px. */
export function pictured({ detail, view, x, y, shown, count: coins }) {
  const [usual, apart] = coins < FEW ? [SMALL.few, APART.few] : [SMALL.many, APART.many];
  const least = view.width < 600 ? usual * PHONE : usual;
  const side = Math.max(least, Math.min(LARGEST, (detail.full * view.scale) / apart));
  const count = detail.fitting((side * apart) / view.scale);
  const [wide, high] = [(view.width + side) / 2 / view.scale, (view.height + side) / 2 / view.scale];
  const rows = [];
  for (let at = 0; at < count; at += 1) {
    const row = detail.order[at];
    if (shown[row] && Math.abs(x[row] - view.x) < wide && Math.abs(y[row] - view.y) < high) rows.push(row);
  }
  return { rows, side };
}

/** What is drawn of a point: its large picture if it is wide enough for that, else the small one; nothing yet. */
export function pictureOf({ side, images, cards, sprites }, row) {
  const image = side > LARGE && images.get(cards[row]?.picture);
  if (image && image.complete && image.naturalWidth) return { source: image };
  const place = sprites.at(row);
  return place && { source: place.sheet.bitmap, x: place.x, y: place.y, size: SPRITE, isRound: true };
}

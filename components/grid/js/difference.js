// The difference of two aligned pictures: a copy may be cropped, framed or mirrored.

const SMALL = 48; // px per side for the alignment
const SIDE = 360; // … and for drawing
const LEAST = 0.6; // of the picture must overlap with the other
const STRONG = 90; // of 255: a difference this large is drawn in full colour

/** @typedef {{scale: number, x: number, y: number, mirrored: boolean}} Place shifted by x and y sides */

/**
 * Draws where two loaded images differ; returns the matching share, 0 to 1, and the alignment.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {HTMLImageElement} own
 * @param {HTMLImageElement} other
 */
export function drawDifference(canvas, own, other) {
  const place = aligned(luma(own), luma(other));
  canvas.width = canvas.height = SIDE;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
  const mine = pixels(context, own, { scale: 1, x: 0, y: 0, mirrored: false });
  const theirs = pixels(context, other, place);
  const drawn = context.createImageData(SIDE, SIDE);
  let agreeing = 0;
  let covered = 0;
  for (let at = 0; at < mine.data.length; at += 4) {
    const grey = (0.3 * mine.data[at] + 0.59 * mine.data[at + 1] + 0.11 * mine.data[at + 2]) * 0.35 + 60;
    const seen = theirs.data[at + 3] > 200;
    const apart = seen
      ? (Math.abs(mine.data[at] - theirs.data[at]) +
          Math.abs(mine.data[at + 1] - theirs.data[at + 1]) +
          Math.abs(mine.data[at + 2] - theirs.data[at + 2])) /
        3
      : 0;
    if (seen) covered += 1;
    if (seen && apart < STRONG / 3) agreeing += 1;
    const share = seen ? Math.min(1, apart / STRONG) : 0.25;
    drawn.data[at] = grey + (255 - grey) * share;
    drawn.data[at + 1] = grey + (70 - grey) * share;
    drawn.data[at + 2] = grey + (90 - grey) * share;
    drawn.data[at + 3] = 255;
  }
  context.putImageData(drawn, 0, 0);
  return { agrees: covered ? agreeing / covered : 0, place };
}

/** @param {CanvasRenderingContext2D} context @param {HTMLImageElement} image @param {Place} place */
function pixels(context, image, { scale, x, y, mirrored }) {
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, SIDE, SIDE);
  context.translate(SIDE / 2 + x * SIDE, SIDE / 2 + y * SIDE);
  context.scale(mirrored ? -scale : scale, scale);
  context.drawImage(image, -SIDE / 2, -SIDE / 2, SIDE, SIDE);
  context.setTransform(1, 0, 0, 1, 0, 0);
  return context.getImageData(0, 0, SIDE, SIDE);
}

/** @param {HTMLImageElement} image */
function luma(image) {
  const canvas = new OffscreenCanvas(SMALL, SMALL);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.drawImage(image, 0, 0, SMALL, SMALL);
  const { data } = context.getImageData(0, 0, SMALL, SMALL);
  return Float32Array.from(
    { length: SMALL * SMALL },
    (_, at) => 0.3 * data[4 * at] + 0.59 * data[4 * at + 1] + 0.11 * data[4 * at + 2],
  );
}

/**
 * How the second is aligned with the first: in coarse steps, then fine ones.
 *
 * @param {Float32Array} own
 * @param {Float32Array} other
 * @returns {Place & {cost: number}}
 */
export function aligned(own, other) {
  let best = { scale: 1, x: 0, y: 0, mirrored: false };
  let least = cost(own, other, best);
  const attempt = (/** @type {Place} */ place) => {
    const paid = cost(own, other, place) + 0.5; // unchanged, unless another alignment is clearly better
    if (paid < least) [best, least] = [place, paid];
  };
  for (const mirrored of [false, true]) {
    for (let scale = 0.76; scale < 1.3; scale += 0.04) {
      for (let x = -0.08; x < 0.09; x += 0.04)
        for (let y = -0.08; y < 0.09; y += 0.04) attempt({ scale, x, y, mirrored });
    }
  }
  for (const step of [0.02, 0.01]) {
    const { scale, x, y, mirrored } = best;
    for (const s of [-step, 0, step])
      for (const dx of [-step, 0, step])
        for (const dy of [-step, 0, step]) attempt({ scale: scale + s, x: x + dx, y: y + dy, mirrored });
  }
  return { ...best, cost: least };
}

/**
 * The mean difference of the overlap; infinite if the overlap is too small.
 *
 * @param {Float32Array} own
 * @param {Float32Array} other
 * @param {Place} place
 */
function cost(own, other, { scale, x, y, mirrored }) {
  const middle = (SMALL - 1) / 2;
  let sum = 0;
  let seen = 0;
  for (let row = 0; row < SMALL; row++) {
    const v = Math.round((row - middle - y * SMALL) / scale + middle);
    if (v < 0 || v >= SMALL) continue;
    for (let column = 0; column < SMALL; column++) {
      const across = (column - middle - x * SMALL) / scale;
      const u = Math.round((mirrored ? -across : across) + middle);
      if (u < 0 || u >= SMALL) continue;
      sum += Math.abs(own[row * SMALL + column] - other[v * SMALL + u]);
      seen++;
    }
  }
  return seen < LEAST * SMALL * SMALL ? Infinity : sum / seen;
}

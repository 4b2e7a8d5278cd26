// Points are written directly into the canvas memory, so that a hundred thousand take a few milliseconds;
// pictures, lines of density and names are drawn above them.

import { css, faded, thinned } from "./colours.js";

/** @import { Picture } from "./detail.js" */
/** @import { Atlas } from "./main.js" */
/** @import { Position, Size, View } from "./view.js" */

/** @typedef {{name: string, x: number, y: number, level: number}} Place with a name; the widest places have level 0 */
/** @typedef {{left: number, right: number, top: number, bottom: number}} Box in px */
/** @typedef {Box & {place: Place}} Name that is drawn */
/** @typedef {{text: string, ground: string, taken: Box[]}} Style and where no name may be */

const SOLID = 100; // of 100 that a pixel can be covered
const SPRITE = 64; // px of a small picture
const ROUND = 0.16; // corner of a picture, of its side
const EDGE = 2; // px of colour around a picture
const FADED = 0.25; // what is not selected
const BARE = 0.125; // of the width or height that may be empty while the map is dragged

const SIZES = [17, 14, 12.5]; // px by level
const NEARER = [0, 1.25, 2.2]; // how much closer than the whole map a level begins
const PAD = 6; // px around a name

export class Painting {
  ratio = 1; // of the canvas' px to those of the page
  /** @type {ImageData | null} of the canvas, once it has a size … */
  memory = null;
  pixels = new Uint32Array(0); // … and the same as numbers
  /** @type {Pick<View, "x" | "y" | "scale"> | null} the view that is painted */
  painted = null;
  family = ""; // of the font
  /** @type {Map<string, number>} font and name → width in px of the canvas */
  widths = new Map();

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  }

  /** @param {Size} size */
  resize({ width, height }) {
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.memory = this.pen.createImageData(this.canvas.width, this.canvas.height);
    this.pixels = new Uint32Array(this.memory.data.buffer);
    this.painted = null;
  }

  /**
   * The map's own coordinates on the canvas.
   *
   * @param {View} view
   * @returns {[scale: number, left: number, top: number]}
   */
  place(view) {
    const scale = view.scale * this.ratio;
    return [scale, this.canvas.width / 2 - view.x * scale, this.canvas.height / 2 - view.y * scale];
  }

  /**
   * Moves what is painted to where this view shows it; false if that would leave too much of the edge empty.
   *
   * @param {View} view
   */
  slide(view) {
    const { painted, canvas } = this;
    if (!painted || painted.scale !== view.scale) return false;
    const [dx, dy] = [(painted.x - view.x) * view.scale, (painted.y - view.y) * view.scale];
    if (Math.abs(dx) > view.width * BARE || Math.abs(dy) > view.height * BARE) return false;
    canvas.style.transform = `translate(${dx}px, ${dy}px)`;
    return true;
  }

  /** @param {View} view that is painted from now on, in its place */
  begin({ x, y, scale }) {
    this.painted = { x, y, scale };
    this.canvas.style.transform = "";
  }

  /** @param {Atlas} atlas whose shown points are drawn as dots @returns how many are in view */
  dots({ view, x, y, shown, colours, palette, selection: { chosen } }) {
    const {
      pixels,
      canvas: { width: wide, height: high },
    } = this;
    const [scale, left, top] = this.place(view);
    let inView = 0;
    for (let row = 0; row < x.length; row += 1) {
      const [px, py] = [left + x[row] * scale, top + y[row] * scale];
      if (shown[row] && px >= 0 && py >= 0 && px < wide && py < high) inView += 1;
    }
    const dot = disc(radius(inView) * this.ratio);
    pixels.fill(0);
    // Unselected points first, so that selected ones are on top.
    for (const wanted of chosen ? [0, 1] : [undefined]) {
      for (let row = 0; row < x.length; row += 1) {
        if (!shown[row] || chosen?.[row] !== wanted) continue;
        const px = (left + x[row] * scale) | 0;
        const py = (top + y[row] * scale) | 0;
        if (px < 0 || py < 0 || px >= wide || py >= high) continue;
        let colour = palette[colours ? colours[row] : 0];
        if (wanted === 0) colour = faded(colour);
        for (let place = 0; place < dot.length; place += 3) {
          const dx = px + dot[place];
          const dy = py + dot[place + 1];
          if (dx < 0 || dy < 0 || dx >= wide || dy >= high) continue;
          const pixel = dy * wide + dx;
          if (dot[place + 2] === SOLID) pixels[pixel] = colour;
          else if (!pixels[pixel]) pixels[pixel] = thinned(colour, dot[place + 2] / SOLID);
        }
      }
    }
    if (this.memory) this.pen.putImageData(this.memory, 0, 0);
    return inView;
  }

  /**
   * Draws the lines of equal density, which are in map units.
   *
   * @param {Path2D[]} paths
   * @param {View} view
   * @param {string} colour
   */
  lines(paths, view, colour) {
    const { pen } = this;
    const [scale, left, top] = this.place(view);
    pen.save();
    pen.setTransform(scale, 0, 0, scale, left, top);
    pen.strokeStyle = colour;
    pen.lineWidth = (1.2 * this.ratio) / scale;
    pen.lineCap = "round";
    paths.forEach((path, at) => {
      pen.globalAlpha = 0.1 + 0.05 * at;
      pen.stroke(path);
    });
    pen.restore();
  }

  /**
   * Draws these points as pictures of `side` px, as far as there are any.
   *
   * @param {number[]} rows
   * @param {number} side
   * @param {Atlas} atlas
   * @param {(row: number) => Picture | null} pictureOf
   */
  pictures(rows, side, { view, x, y, colours, palette, selection: { chosen } }, pictureOf) {
    const { pen, ratio } = this;
    const [scale, left, top] = this.place(view);
    const wide = side * ratio;
    pen.lineWidth = EDGE * ratio;
    pen.imageSmoothingQuality = side > SPRITE ? "high" : "medium";
    for (const row of rows) {
      const picture = pictureOf(row);
      if (!picture) continue;
      const [px, py] = [Math.round(left + x[row] * scale - wide / 2), Math.round(top + y[row] * scale - wide / 2)];
      const isFaded = chosen !== null && !chosen[row];
      pen.globalAlpha = isFaded ? FADED : 1;
      this.picture(picture, px, py, wide);
      if (isFaded) continue;
      pen.strokeStyle = css(palette[colours ? colours[row] : 0]);
      pen.beginPath();
      pen.roundRect(px, py, wide, wide, wide * ROUND);
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  /**
   * Draws one picture: the only place where a coin's picture comes onto the map.
   *
   * @param {Picture} picture
   * @param {number} px
   * @param {number} py
   * @param {number} side
   */
  picture({ source, x, y, wide, high, isRound }, px, py, side) {
    const { pen } = this;
    if (isRound) return pen.drawImage(source, x, y, wide, high, px, py, side, side);
    pen.save();
    pen.beginPath();
    pen.roundRect(px, py, side, side, side * ROUND);
    pen.clip();
    pen.fillStyle = "#fff";
    pen.fill();
    const part = Math.min(1, side / Math.max(wide, high));
    const [w, h] = [wide * part, high * part];
    pen.drawImage(source, px + (side - w) / 2, py + (side - h) / 2, w, h);
    pen.restore();
  }

  /**
   * Draws a ring around the point that the keys are on.
   *
   * @param {number} row
   * @param {number} side
   * @param {Atlas} atlas
   * @param {string} colour
   */
  ring(row, side, { view, x, y }, colour) {
    const { pen, ratio } = this;
    const [px, py] = view.onScreen(x[row], y[row]).map((at) => at * ratio);
    const wide = (side || 14) * ratio + 8 * ratio;
    pen.beginPath();
    pen.roundRect(px - wide / 2, py - wide / 2, wide, wide, wide * ROUND);
    pen.strokeStyle = colour;
    pen.lineWidth = 3 * ratio;
    pen.stroke();
  }

  /**
   * Draws the names that have room, the widest places first, more as one zooms in; returns where they are.
   *
   * @param {Place[]} places
   * @param {View} view
   * @param {Style} style
   */
  names(places, view, { text, ground, taken }) {
    const { pen, ratio } = this;
    const nearness = view.scale / view.wholeScale;
    this.family ||= getComputedStyle(this.canvas).fontFamily;
    /** @type {Name[]} */
    const drawn = [];
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const place of places) {
      if (nearness < NEARER[place.level]) continue;
      const size = Math.max(11, SIZES[place.level] * (view.width < 600 ? 0.8 : 1));
      const [x, y] = view.onScreen(place.x, place.y);
      pen.font = `${place.level ? 500 : 650} ${size * ratio}px ${this.family}`;
      const key = `${pen.font} ${place.name}`;
      const measured = this.widths.get(key) ?? pen.measureText(place.name).width;
      this.widths.set(key, measured);
      const [width, height] = [measured / ratio + 2 * PAD, size * 1.5];
      const [left, top] = [x - width / 2, y - height / 2];
      const box = { left, right: left + width, top, bottom: top + height, place };
      if (left < 0 || box.right > view.width || top < 0 || box.bottom > view.height) continue;
      if ([...taken, ...drawn].some((other) => overlap(box, other))) continue;
      drawn.push(box);
      pen.globalAlpha = 0.84;
      pen.fillStyle = ground;
      pen.beginPath();
      pen.roundRect(left * ratio, top * ratio, width * ratio, height * ratio, size * 0.5 * ratio);
      pen.fill();
      pen.globalAlpha = 1;
      pen.fillStyle = text;
      pen.fillText(place.name, x * ratio, y * ratio);
    }
    return drawn;
  }

  /** @param {Position[]} path of the current lasso @param {string} colour */
  outline(path, colour) {
    const { pen, ratio } = this;
    pen.beginPath();
    path.forEach(([x, y]) => pen.lineTo(x * ratio, y * ratio));
    pen.closePath();
    pen.strokeStyle = colour;
    pen.lineWidth = 2 * ratio;
    pen.stroke();
  }
}

/** @param {number} radius of a dot @returns its pixels around the middle: x, y and how much is covered, x, y … */
function disc(radius) {
  const reach = Math.ceil(radius);
  const found = [];
  for (let x = -reach; x <= reach; x += 1) {
    for (let y = -reach; y <= reach; y += 1) {
      const covered = Math.round(SOLID * Math.min(1, radius + 0.5 - Math.hypot(x, y)));
      if (covered > 0) found.push(x, y, covered);
    }
  }
  return Int8Array.from(found);
}

/** @param {number} inView points @returns the size of each in px: the fewer are visible, the larger */
function radius(inView) {
  return inView > 20000 ? 0.8 : inView > 5000 ? 1.5 : inView > 500 ? 2.5 : 4;
}

/** @param {Box} one @param {Box} other */
function overlap(one, other) {
  return (
    one.left < other.right + PAD &&
    other.left < one.right + PAD &&
    one.top < other.bottom + PAD &&
    other.top < one.bottom + PAD
  );
}

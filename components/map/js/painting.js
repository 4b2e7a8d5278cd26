// Points are written directly into the canvas memory, so that a hundred thousand take a few milliseconds;
// pictures, lines of density and names are drawn above them.

import { css, faded, thinned } from "./colours.js";
import { drawNames } from "./names.js";

const SOLID = 100; // of 100 that a pixel can be covered
const SPRITE = 64; // px of a small picture
const ROUND = 0.16; // corner of a picture, of its side
const EDGE = 2; // px of colour around a picture
const FADED = 0.25; // what is not selected
const BARE = 0.125; // of the width or height that may be empty while the map is dragged

export class Painting {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = null; // until it has a size
  }

  resize({ width, height }) {
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.pen = this.canvas.getContext("2d");
    this.memory = this.pen.createImageData(this.canvas.width, this.canvas.height);
    this.pixels = new Uint32Array(this.memory.data.buffer);
    this.painted = null;
  }

  /** The map's own coordinates on the canvas: scale, left and top. */
  place(view) {
    const scale = view.scale * this.ratio;
    return [scale, this.canvas.width / 2 - view.x * scale, this.canvas.height / 2 - view.y * scale];
  }

  /** Moves what is painted to where this view shows it; false if that would leave too much of the edge empty. */
  slide(view) {
    const { painted, canvas } = this;
    if (!painted || painted.scale !== view.scale) return false;
    const [dx, dy] = [(painted.x - view.x) * view.scale, (painted.y - view.y) * view.scale];
    if (Math.abs(dx) > view.width * BARE || Math.abs(dy) > view.height * BARE) return false;
    canvas.style.transform = `translate(${dx}px, ${dy}px)`;
    return true;
  }

  /** Begins to paint this view in its place. */
  begin({ x, y, scale }) {
    this.painted = { x, y, scale };
    this.canvas.style.transform = "";
  }

  /** Draws each shown point as a dot; returns how many are in view. */
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
    this.pen.putImageData(this.memory, 0, 0);
    return inView;
  }

  /** Draws the lines of equal density, which are in map units. */
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

  /** Draws these points as pictures of `side` px; `pictureOf(row)` has {source, x, y, size} or nothing. */
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
      const isFaded = chosen && !chosen[row];
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

  /** Draws one picture: the only place where a coin's picture comes onto the map. */
  picture({ source, x, y, size, isRound }, px, py, wide) {
    const { pen } = this;
    if (isRound) return pen.drawImage(source, x, y, size, size, px, py, wide, wide);
    pen.save();
    pen.beginPath();
    pen.roundRect(px, py, wide, wide, wide * ROUND);
    pen.clip();
    pen.fillStyle = "#fff";
    pen.fill();
    const part = Math.min(1, wide / Math.max(source.naturalWidth, source.naturalHeight));
    const [w, h] = [source.naturalWidth * part, source.naturalHeight * part];
    pen.drawImage(source, px + (wide - w) / 2, py + (wide - h) / 2, w, h);
    pen.restore();
  }

  /** Draws a ring around the point that the keys are on. */
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

  /** Draws the names that have room; returns their boxes. */
  names(places, view, { text, ground, taken }) {
    return drawNames(this.pen, places, { view, ratio: this.ratio, text, ground, taken });
  }

  /** Draws the current lasso. */
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

/** The pixels of a dot around its middle, as x, y and how much of the pixel it covers, x, y … */
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

/** The size of a point in px: the fewer are visible, the larger. */
function radius(inView) {
  return inView > 20000 ? 0.8 : inView > 5000 ? 1.5 : inView > 500 ? 2.5 : 4;
}

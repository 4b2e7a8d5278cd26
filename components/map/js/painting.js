// Points are written directly into the canvas memory, so that a hundred thousand take a few milliseconds.

import { css, faded, thinned } from "./colours.js";

const SOLID = 100; // of 100 that a pixel can be covered
export const CLOSE = 90; // points in view at which they become pictures

export class Painting {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = null; // until it has a size
    this.reach = 0; // px from a point to the edge of its picture
  }

  resize({ width, height }) {
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.pen = this.canvas.getContext("2d");
    this.memory = this.pen.createImageData(this.canvas.width, this.canvas.height);
    this.pixels = new Uint32Array(this.memory.data.buffer);
  }

  /** The map's own coordinates on the canvas: scale, left and top. */
  place(view) {
    const scale = view.scale * this.ratio;
    return [scale, this.canvas.width / 2 - view.x * scale, this.canvas.height / 2 - view.y * scale];
  }

  /** Draws each point as a dot; returns how many are in view, and which if there are few enough for pictures. */
  dots({ view, x, y, colours, palette, chosen }) {
    const { pixels, canvas: { width: wide, height: high } } = this;
    const [scale, left, top] = this.place(view);
    const seen = [];
    let inView = 0;
    for (let row = 0; row < x.length; row += 1) {
      const [px, py] = [left + x[row] * scale, top + y[row] * scale];
      if (px >= 0 && py >= 0 && px < wide && py < high) inView += 1;
    }
    const dot = disc(radius(inView) * this.ratio);
    pixels.fill(0);
    // Unselected points first, so that selected ones are on top.
    for (const wanted of chosen ? [0, 1] : [undefined]) {
      for (let row = 0; row < x.length; row += 1) {
        if (Number.isNaN(x[row]) || chosen?.[row] !== wanted) continue; // NaN: gone
        const px = (left + x[row] * scale) | 0;
        const py = (top + y[row] * scale) | 0;
        if (px < 0 || py < 0 || px >= wide || py >= high) continue;
        if (seen.length <= CLOSE) seen.push(row);
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
    return { inView, seen };
  }

  /** Draws each of these points as its picture, if `pictureOf` has it. */
  pictures(rows, { view, x, y, colours, palette, chosen }, pictureOf) {
    const { pen, ratio } = this;
    const [scale, left, top] = this.place(view);
    const side = Math.max(22, Math.min(76, 900 / Math.sqrt(rows.length + 1) / 3)) * ratio;
    this.reach = side / 2 / ratio;
    for (const row of rows) {
      const image = pictureOf(row);
      if (!image?.complete || !image.naturalWidth) continue;
      const [px, py] = [left + x[row] * scale - side / 2, top + y[row] * scale - side / 2];
      pen.imageSmoothingQuality = "high";
      pen.globalAlpha = chosen && !chosen[row] ? 0.35 : 1;
      pen.drawImage(image, px, py, side, side);
      pen.strokeStyle = css(palette[colours ? colours[row] : 0]);
      pen.lineWidth = 2 * ratio;
      pen.strokeRect(px, py, side, side);
    }
    pen.globalAlpha = 1;
  }

  /** Draws the current lasso. */
  outline(path) {
    const { pen, ratio } = this;
    pen.beginPath();
    path.forEach(([x, y]) => pen.lineTo(x * ratio, y * ratio));
    pen.closePath();
    pen.strokeStyle = getComputedStyle(this.canvas).getPropertyValue("--st-primary-color") || "#4c8dff";
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

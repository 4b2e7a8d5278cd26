// The map: points are written into the picture's memory, so that a hundred thousand cost a few milliseconds.

const REST = 140; // ms of rest before the server is asked for pictures
const CLOSE = 90; // points in view at which they become pictures
const NEAR = 14; // px around the pointer
const MARGIN = 1.12;

function el(tag, name, ...children) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  node.append(...children);
  return node;
}

function rgb(colour) {
  const value = parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** Along a range, from blue over violet to yellow, readable on dark and light. */
function ramp(part) {
  const stops = [[43, 96, 190], [141, 70, 190], [224, 88, 120], [250, 200, 70]];
  const at = Math.min(0.9999, Math.max(0, part)) * 3;
  const [a, b] = [stops[Math.floor(at)], stops[Math.floor(at) + 1]];
  return a.map((from, place) => Math.round(from + (b[place] - from) * (at % 1)));
}

/** The pixels of a dot around its middle, as x, y, x, y … */
function disc(radius) {
  const reach = Math.ceil(radius);
  const found = [];
  for (let x = -reach; x <= reach; x += 1) for (let y = -reach; y <= reach; y += 1) if (x * x + y * y <= radius * radius) found.push(x, y);
  return Int8Array.from(found);
}

/** How large a point is, in px: the fewer are seen, the larger. */
function radius(inView) {
  return inView > 20000 ? 0.8 : inView > 5000 ? 1.5 : inView > 500 ? 2.5 : 4;
}

class Atlas {
  constructor(root, tell) {
    this.root = root;
    this.tell = tell;
    this.cards = {};
    this.images = new Map();
    this.count = 0;
    this.lasso = false;
    this.canvas = el("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("aria-label", "Map of coins: drag moves, wheel zooms, with lasso or shift held a drag chooses");
    this.legend = el("div", "legend");
    this.told = el("div", "told");
    this.near = el("div", "near", el("img"), el("b"), el("span"));
    this.near.hidden = true;
    this.draws = this.button("Lasso", () => this.choosing(!this.lasso));
    this.draws.setAttribute("aria-pressed", "false");
    this.clear = this.button("Clear", () => this.choose(null));
    this.clear.hidden = true;
    root.replaceChildren(this.canvas, el("div", "tools", this.draws, this.button("Whole map", () => this.whole()), this.clear), this.legend, this.told, this.near);
    this.view = { x: 0, y: 0, scale: 1 };
    const at = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      const [x, y] = at(event);
      this.drag = { x, y, path: this.lasso || event.shiftKey ? [[x, y]] : null };
      this.near.hidden = true;
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const [x, y] = at(event);
      if (!this.drag) return this.hover(x, y);
      if (this.drag.path) this.drag.path.push([x, y]);
      else {
        this.view.x -= (x - this.drag.x) / this.view.scale;
        this.view.y -= (y - this.drag.y) / this.view.scale;
        Object.assign(this.drag, { x, y });
      }
      this.soon();
    });
    this.canvas.addEventListener("pointerup", () => {
      const path = this.drag?.path;
      this.drag = null;
      if (path && path.length > 3) this.choose(this.within(path));
      this.soon();
    });
    this.canvas.addEventListener("pointerleave", () => {
      this.pointer = null;
      this.near.hidden = true;
    });
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * 0.0016), ...at(event));
    }, { passive: false });
    this.canvas.addEventListener("keydown", (event) => {
      const step = 60 / this.view.scale;
      const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
      if (moves[event.key]) { this.view.x += moves[event.key][0]; this.view.y += moves[event.key][1]; }
      else if (event.key === "+" || event.key === "=") return this.zoom(1.4, this.width / 2, this.height / 2);
      else if (event.key === "-") return this.zoom(1 / 1.4, this.width / 2, this.height / 2);
      else if (event.key === "Escape") this.choose(null);
      else return;
      event.preventDefault();
      this.soon();
    });
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(root);
  }

  button(label, act) {
    const made = el("button", "", label);
    made.type = "button";
    made.addEventListener("click", act);
    return made;
  }

  update(data) {
    if (data.map !== this.map) {
      this.map = data.map;
      this.count = data.count;
      this.cards = {};
      this.chosen = null;
      this.clear.hidden = true;
      this.x = this.y = null;
    }
    if (data.points) {
      this.x = Float32Array.from(data.points.getChild("x").toArray());
      this.y = Float32Array.from(data.points.getChild("y").toArray());
      this.whole();
      this.tell("knows", data.map);
    } else if (!this.x) this.tell("knows", ""); // a page that came back without its points asks once
    if (data.colours) {
      this.colours = Uint8Array.from(atob(data.colours), (sign) => sign.charCodeAt(0));
      this.tell("coloured", data.colouring);
    } else if (!this.colours) this.tell("coloured", "");
    this.palette = new Uint32Array(256);
    data.legend.forEach(({ colour }, place) => (this.palette[place] = this.packed(rgb(colour))));
    for (let step = 0; step <= 55; step += 1) this.palette[200 + step] = this.packed(ramp(step / 55));
    Object.assign(this.cards, data.cards);
    for (const [row, card] of Object.entries(data.cards)) if (!this.images.has(card.picture)) this.fetch(card.picture, row);
    this.explain(data);
    if (this.pointer && !this.drag) this.hover(...this.pointer); // what it lies on may have come just now
    this.soon();
  }

  packed([red, green, blue]) {
    return (255 << 24) | (blue << 16) | (green << 8) | red;
  }

  fetch(address) {
    const image = new Image();
    image.onload = () => this.soon();
    image.src = address;
    this.images.set(address, image);
  }

  explain({ legend, range }) {
    const rows = legend.map(({ label, colour }) => {
      const dot = el("i");
      dot.style.background = colour;
      return el("div", "", dot, label);
    });
    if (range) {
      const strip = el("i", "ramp");
      strip.style.background = `linear-gradient(90deg, ${[0, 0.33, 0.66, 1].map((part) => `rgb(${ramp(part)})`).join(",")})`;
      rows.push(el("div", "", range[0], strip, range[1]));
    }
    this.legend.replaceChildren(...rows);
  }

  resize() {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const [width, height] = [this.root.clientWidth, this.root.clientHeight];
    if (!width || !height) return;
    const first = !this.width;
    Object.assign(this, { ratio, width, height });
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.pen = this.canvas.getContext("2d");
    this.memory = this.pen.createImageData(this.canvas.width, this.canvas.height);
    this.pixels = new Uint32Array(this.memory.data.buffer);
    if (first) this.whole();
    this.soon();
  }

  whole() {
    if (!this.x || !this.width) return;
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let row = 0; row < this.x.length; row += 1) {
      left = Math.min(left, this.x[row]); right = Math.max(right, this.x[row]);
      top = Math.min(top, this.y[row]); bottom = Math.max(bottom, this.y[row]);
    }
    this.view = { x: (left + right) / 2, y: (top + bottom) / 2, scale: Math.min(this.width / (right - left || 1), this.height / (bottom - top || 1)) / MARGIN };
    this.soon();
  }

  zoom(factor, x, y) {
    const { view } = this;
    const [mapX, mapY] = [view.x + (x - this.width / 2) / view.scale, view.y + (y - this.height / 2) / view.scale];
    view.scale = Math.min(1e6, Math.max(20, view.scale * factor));
    view.x = mapX - (x - this.width / 2) / view.scale;
    view.y = mapY - (y - this.height / 2) / view.scale;
    this.soon();
  }

  soon() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.paint();
    });
  }

  paint() {
    if (!this.x || !this.pen) return;
    const began = performance.now();
    const { pixels, ratio, view, x, y, colours, palette, chosen } = this;
    const [wide, high] = [this.canvas.width, this.canvas.height];
    pixels.fill(0);
    const scale = view.scale * ratio;
    const [left, top] = [wide / 2 - view.x * scale, high / 2 - view.y * scale];
    const seen = [];
    let inView = 0;
    for (let row = 0; row < x.length; row += 1) {
      const [px, py] = [left + x[row] * scale, top + y[row] * scale];
      if (px >= 0 && py >= 0 && px < wide && py < high) inView += 1;
    }
    const dot = disc(radius(inView) * ratio);
    for (let row = 0; row < x.length; row += 1) {
      const px = (left + x[row] * scale) | 0;
      const py = (top + y[row] * scale) | 0;
      if (px < 0 || py < 0 || px >= wide || py >= high) continue;
      if (seen.length <= CLOSE) seen.push(row);
      let colour = palette[colours ? colours[row] : 0];
      if (chosen && !chosen[row]) colour = (colour & 0x00ffffff) | 0x30000000;
      for (let place = 0; place < dot.length; place += 2) {
        const dx = px + dot[place];
        const dy = py + dot[place + 1];
        if (dx >= 0 && dy >= 0 && dx < wide && dy < high) pixels[dy * wide + dx] = colour;
      }
    }
    this.pen.putImageData(this.memory, 0, 0);
    if (inView <= CLOSE) this.pictures(seen, scale, left, top);
    if (this.drag?.path) this.outline(this.drag.path);
    const said = chosen ? `${this.held.toLocaleString("en")} chosen · ` : "";
    this.told.textContent = `${said}${inView.toLocaleString("en")} of ${this.count.toLocaleString("en")} in view`;
    this.root.dataset.milliseconds = (performance.now() - began).toFixed(1);
  }

  /** Few enough: each point is its picture; those that nobody sent yet are asked for. */
  pictures(rows, scale, left, top) {
    const side = Math.max(22, Math.min(76, 900 / Math.sqrt(rows.length + 1) / 3)) * this.ratio;
    for (const row of rows) {
      const image = this.images.get(this.cards[row]?.picture);
      if (!image?.complete || !image.naturalWidth) continue;
      const [px, py] = [left + this.x[row] * scale - side / 2, top + this.y[row] * scale - side / 2];
      this.pen.globalAlpha = this.chosen && !this.chosen[row] ? 0.35 : 1;
      this.pen.drawImage(image, px, py, side, side);
      const value = this.palette[this.colours ? this.colours[row] : 0];
      this.pen.strokeStyle = `rgb(${value & 255},${(value >> 8) & 255},${(value >> 16) & 255})`;
      this.pen.lineWidth = 2 * this.ratio;
      this.pen.strokeRect(px, py, side, side);
    }
    this.pen.globalAlpha = 1;
    this.ask(rows);
  }

  ask(rows) {
    const missing = rows.filter((row) => !this.cards[row]);
    clearTimeout(this.timer);
    if (missing.length) this.timer = setTimeout(() => this.tell("wanted", { map: this.map, rows: missing }), REST);
  }

  outline(path) {
    const { pen, ratio } = this;
    pen.beginPath();
    path.forEach(([x, y]) => pen.lineTo(x * ratio, y * ratio));
    pen.closePath();
    pen.strokeStyle = getComputedStyle(this.root).getPropertyValue("--st-primary-color") || "#4c8dff";
    pen.lineWidth = 2 * ratio;
    pen.stroke();
  }

  hover(x, y) {
    let best = -1;
    let least = NEAR * NEAR;
    const { view } = this;
    if (!this.x) return;
    for (let row = 0; row < this.x.length; row += 1) {
      const dx = (this.x[row] - view.x) * view.scale + this.width / 2 - x;
      const dy = (this.y[row] - view.y) * view.scale + this.height / 2 - y;
      if (dx * dx + dy * dy < least) { least = dx * dx + dy * dy; best = row; }
    }
    this.pointer = [x, y];
    const card = this.cards[best];
    if (best >= 0 && !card) this.ask([best]);
    this.near.hidden = !card;
    if (!card) return;
    const [image, name, ticker] = this.near.children;
    image.src = card.picture;
    image.alt = "";
    name.textContent = card.name;
    ticker.textContent = card.ticker;
    this.near.style.left = `${Math.min(x + 14, this.width - 160)}px`;
    this.near.style.top = `${Math.min(y + 14, this.height - 200)}px`;
  }

  choosing(on) {
    this.lasso = on;
    this.draws.setAttribute("aria-pressed", String(on));
    this.root.classList.toggle("lasso", on);
  }

  within(path) {
    const inside = new Uint8Array(this.x.length);
    const { view } = this;
    const corners = path.map(([x, y]) => [view.x + (x - this.width / 2) / view.scale, view.y + (y - this.height / 2) / view.scale]);
    const xs = corners.map(([x]) => x);
    const [low, high] = [Math.min(...xs), Math.max(...xs)];
    for (let row = 0; row < inside.length; row += 1) {
      const [x, y] = [this.x[row], this.y[row]];
      if (x < low || x > high) continue;
      for (let a = 0, b = corners.length - 1; a < corners.length; b = a, a += 1) {
        const [[ax, ay], [bx, by]] = [corners[a], corners[b]];
        if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside[row] ^= 1;
      }
    }
    return inside;
  }

  choose(inside) {
    this.held = inside ? inside.reduce((sum, one) => sum + one, 0) : 0;
    this.chosen = this.held ? inside : null;
    this.clear.hidden = !this.chosen;
    this.choosing(false);
    const bits = new Uint8Array(Math.ceil(this.count / 8));
    if (this.chosen) this.chosen.forEach((one, row) => { if (one) bits[row >> 3] |= 128 >> (row & 7); });
    let signs = "";
    for (let start = 0; start < bits.length; start += 8192) signs += String.fromCharCode(...bits.subarray(start, start + 8192));
    this.tell("chosen", this.chosen ? { map: this.map, bits: btoa(signs) } : null);
    this.soon();
  }

  stop() {
    this.watcher.disconnect();
    clearTimeout(this.timer);
    cancelAnimationFrame(this.waiting);
  }
}

const open = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".memedex-atlas");
  let atlas = open.get(root);
  if (!atlas) {
    atlas = new Atlas(root, (name, value) => atlas.setStateValue(name, value));
    open.set(root, atlas);
  }
  atlas.setStateValue = setStateValue;
  if (data) atlas.update(data);
  return () => {
    // Streamlit also calls this, on a page that stays, for a run of this function that a newer one overtook.
    if (root.isConnected) return;
    atlas.stop();
    open.delete(root);
  };
}

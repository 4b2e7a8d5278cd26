// The card of the coin under the pointer or the keys: its picture large, with what is written about it.

import { el } from "../../shell/js/elements.js";

const WIDTH = 272; // px, as in canvas.css
const GAP = 18; // px from the point
const TAGS = 6;

export class Card {
  constructor() {
    this.root = el("div", { class: "near", hidden: true, "aria-live": "polite" });
  }

  /** Shows a coin next to a position; `others` are at the same place. */
  show({ name, ticker, captions, tags, picture }, [x, y], { width, height }, others) {
    const key = `${picture} ${name} ${others}`;
    if (this.key !== key) {
      this.key = key;
      const image = el("img", { alt: "" });
      image.src = picture;
      this.root.replaceChildren(
        image,
        el("b", {}, name, " ", el("span", {}, ticker)),
        ...captions.slice(0, 2).map((text) => el("p", {}, text)),
        el("div", { class: "tags" }, ...tags.slice(0, TAGS).map((tag) => el("i", {}, tag))),
        ...(others ? [el("small", {}, `and ${others.toLocaleString("en")} more at this place`)] : []),
      );
    }
    this.root.hidden = false;
    const high = this.root.offsetHeight;
    const left = x + GAP + WIDTH < width ? x + GAP : Math.max(4, x - GAP - WIDTH);
    this.root.style.left = `${left}px`;
    this.root.style.top = `${Math.max(4, Math.min(y - high / 3, height - high - 4))}px`;
  }

  hide() {
    this.root.hidden = true;
  }
}

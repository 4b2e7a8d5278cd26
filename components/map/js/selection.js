// The selected coins: by a lasso, by all that is in view, or one by keyboard and click.

import { el } from "../../shell/js/elements.js";
import { asBits, fromBits, longer, within } from "./lasso.js";

export class Selection {
  /** `tell` carries the value "chosen" to the server. */
  constructor(atlas, tell) {
    this.atlas = atlas;
    this.tell = tell;
    this.isDrawing = false;
    this.restored = ""; // bits of the server, used when the points have arrived
    this.draws = el(
      "button",
      { type: "button", "aria-pressed": "false", onclick: () => this.draw(!this.isDrawing) },
      "Lasso",
    );
    this.whatIsVisible = el("button", { type: "button", onclick: () => this.chooseInView() }, "Select visible");
    this.clear = el("button", { type: "button", hidden: true, onclick: () => this.choose(null) }, "Clear");
    this.hold(null);
  }

  /** Begins another map with what the server knows. */
  reset(bits) {
    this.hold(null);
    this.restored = bits;
  }

  /** Makes room for more points, and selects what was restored. */
  grow(length) {
    if (this.kept) this.kept = longer(this.kept, new Uint8Array(length));
    if (this.restored) [this.kept, this.restored] = [fromBits(this.restored, length), ""];
  }

  draw(on) {
    this.isDrawing = on;
    this.draws.setAttribute("aria-pressed", String(on));
    this.atlas.root.classList.toggle("lasso", on);
  }

  /** Selects the visible ones of these points (1 or 0 for each row); null: none. */
  choose(inside) {
    const { atlas } = this;
    this.hold(inside?.map((one, row) => one & atlas.shown[row]) ?? null);
    this.draw(false);
    if (!this.chosen) this.kept = null;
    this.tell("chosen", { sheet: atlas.sheet, bits: this.chosen ? asBits(this.chosen) : "" });
    atlas.soon();
  }

  chooseOne(row) {
    this.choose(Uint8Array.from(this.atlas.x, (_, other) => Number(other === row)));
  }

  /** Selects like a lasso around the whole canvas, for use without a pointer. */
  chooseInView() {
    const { width, height } = this.atlas.view;
    this.chooseInside([
      [0, 0],
      [width, 0],
      [width, height],
      [0, height],
    ]);
  }

  /** Selects the points inside a path on the canvas. */
  chooseInside(path) {
    const { view, x, y } = this.atlas;
    this.choose(
      within(
        path.map((place) => view.onMap(place)),
        x,
        y,
      ),
    );
  }

  /** Removed points are not selected, but are selected again when they return. */
  hold(inside = this.kept) {
    const { x } = this.atlas;
    this.kept = inside;
    this.count = inside ? inside.reduce((sum, one, row) => sum + (one && !Number.isNaN(x[row])), 0) : 0;
    this.chosen = this.count ? inside : null;
    this.clear.hidden = !this.chosen;
  }
}

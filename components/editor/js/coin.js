// The current coin: its picture and its names.

import { el, setText } from "../../shell/js/elements.js";
import { showPicture } from "../../grid/js/dom.js";

export class Coin {
  constructor(...helpers) {
    this.picture = el("img", { class: "picture", alt: "" });
    this.name = el("h2", { dir: "auto" });
    this.ticker = el("code", { class: "ticker" });
    this.tier = el("span", { class: "tier" });
    this.description = el("p", { class: "description", dir: "auto" });
    this.key = el("code", { class: "address" });
    this.node = el(
      "div",
      { class: "coin" },
      this.picture,
      el("div", { class: "line" }, this.name, this.ticker, this.tier),
      this.description,
      this.key,
      ...helpers,
    );
  }

  show(content) {
    if (this.picture.getAttribute("src") !== content.picture) showPicture(this.picture, content.picture);
    this.picture.alt = `Picture of ${content.name}`;
    setText(this.name, content.name);
    setText(this.ticker, content.ticker);
    setText(this.tier, content.tier);
    this.tier.dataset.tier = content.tier;
    setText(this.description, content.description);
    setText(this.key, content.address);
  }
}

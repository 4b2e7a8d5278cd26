// Two slider settings side by side: common results, results of one only, and changed ranks.

import { el } from "../../shell/js/elements.js";
import { icon } from "./dom.js";
import { FACET_NAMES, scoreText } from "./bars.js";
import { RAW, rank } from "./rank.js";

export class Versus {
  constructor(ranking) {
    this.ranking = ranking;
    this.sentence = el("p", { class: "versus-sentence" });
    this.left = el("ol", {});
    this.right = el("ol", {});
    this.before = el("h2", {});
    this.now = el("h2", {});
    const pin = el(
      "button",
      {
        type: "button",
        class: "tool",
        title: "Use the current weights as A",
        onclick: () => (this.pin(), this.show()),
      },
      "Save as A",
    );
    this.node = el(
      "div",
      { class: "versus", hidden: true },
      el("header", {}, this.sentence, pin),
      el("div", { class: "sides" }, el("section", {}, this.before, this.left), el("section", {}, this.now, this.right)),
    );
    // Highlights the same result on both sides.
    this.node.addEventListener("pointerover", (event) => this.light(event.target.closest?.("li")?.dataset.row));
    this.node.addEventListener("pointerleave", () => this.light(null));
  }

  /** Keeps the current setting as the one to compare with. */
  pin() {
    this.hold({ ...this.ranking.weights, calibrated: Boolean(this.ranking.calibrated) });
    this.ranking.grid.tell("held", { ...this.held.weights, calibrated: this.held.calibrated });
  }

  /** The setting from the link, or the first one. */
  hold({ calibrated, ...weights }) {
    this.held = { weights, calibrated };
  }

  show() {
    if (this.node.hidden || !this.ranking.similarities) return;
    if (!this.held) this.hold({ ...this.ranking.weights, calibrated: Boolean(this.ranking.calibrated) });
    const { ranking } = this;
    const top = ranking.grid.data.ranking.top;
    const before = rank(
      ranking.similarities,
      this.held.weights,
      top,
      (this.held.calibrated && ranking.grid.data.ranking.calibrated) || RAW,
    ).list;
    const now = rank(ranking.similarities, ranking.weights, top, ranking.scale).list;
    const [was, is] = [before, now].map((list) => new Map(list.map((hit, at) => [hit.row, at])));
    const both = [...was.keys()].filter((row) => is.has(row));
    const moved = both.filter((row) => was.get(row) !== is.get(row));
    this.before.textContent = `A: saved weights · ${setting(this.held)}`;
    const current = setting(ranking);
    this.now.textContent = `B: current weights · ${current === setting(this.held) ? "same as A" : current}`;
    const overlap = before.length ? Math.round((100 * both.length) / Math.max(before.length, now.length)) : 0;
    const tau = kendall(both.map((row) => is.get(row)));
    this.sentence.textContent = [
      `Overlap ${overlap} %`,
      `rank correlation ${tau === null ? "–" : tau.toFixed(2)}`,
      `${now.length - both.length} new`,
      `${before.length - both.length} dropped`,
      `${moved.length} changed rank`,
    ].join(" · ");
    this.sentence.title = "Rank correlation: Kendall's τ over the results that both have";
    this.left.replaceChildren(...before.map((hit, at) => this.item(hit, at, is.get(hit.row), "out")));
    this.right.replaceChildren(...now.map((hit, at) => this.item(hit, at, was.get(hit.row), "in")));
  }

  item(hit, at, elsewhere, only) {
    const card = this.ranking.cardOf(hit);
    const away =
      elsewhere === undefined
        ? only
        : elsewhere === at
          ? ""
          : only === "in"
            ? elsewhere > at
              ? `▲${elsewhere - at}`
              : `▼${at - elsewhere}`
            : `→ ${elsewhere + 1}`;
    const tone =
      elsewhere === undefined
        ? only
        : only === "in" && elsewhere > at
          ? "up"
          : only === "in" && elsewhere < at
            ? "down"
            : "";
    return el(
      "li",
      { "data-row": String(hit.row), ondblclick: () => this.ranking.grid.open(card.address) },
      el("span", { class: "place" }, String(at + 1)),
      card.picture ? el("img", { src: card.picture, alt: "", loading: "lazy" }) : icon("alert"),
      el("span", { class: "name", dir: "auto" }, card.name),
      el("span", { class: `away ${tone}` }, away),
      el("span", { class: "number" }, scoreText(hit)),
    );
  }

  light(row) {
    for (const item of this.node.querySelectorAll("li"))
      item.classList.toggle("lit", row !== null && item.dataset.row === row);
  }
}

function setting({ weights, calibrated }) {
  const given = FACET_NAMES.filter((name) => weights[name]).map((name) => `${name} ${weights[name]}`);
  return (given.join(" · ") || "no weight") + (calibrated ? " · calibrated" : "");
}

/** Kendall's τ between the given order and these ranks. */
function kendall(places) {
  const n = places.length;
  if (n < 2) return null;
  let agree = 0;
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) agree += places[i] < places[j] ? 1 : -1;
  return agree / ((n * (n - 1)) / 2);
}

// A coin next to a similar one: both pictures, the differences, and the verdict on the pair.

import { el, fill, setAttribute, setHidden, setText } from "../../shell/js/elements.js";
import { button, closesItself, count } from "./dom.js";
import { drawDifference } from "./difference.js";

/** @import { Action } from "./decisions.js" */
/** @import { Grid } from "./main.js" */
/** @import { Card } from "./model.js" */

/** @typedef {[text: string, differs: boolean, note: string]} Piece of a name */
/**
 * A similar coin (`comparison` of components/grid/coin.py): both names in pieces, and the fields that differ.
 *
 * @typedef {{
 *   address: string,
 *   name: string,
 *   tier: string,
 *   place: string,
 *   picture: string,
 *   large: string,
 *   findings: string[],
 *   figure: number | null,
 *   letters: boolean,
 *   since: string,
 *   verdict: string | null,
 *   judged_by: string,
 *   names: [Piece[], Piece[]],
 *   tickers: [Piece[], Piece[]],
 *   fields: [label: string, mine: string, its: string][],
 * }} Other
 */
/** @typedef {{others: Other[], count: number}} Compared */
/** @typedef {typeof VERDICTS[number]} Verdict */

const COPYCAT = "copycat";

export const VERDICTS = [
  {
    key: "u",
    verdict: "different",
    label: "Different",
    tone: "good",
    message: "different from",
    title: "They have nothing to do with each other; the pair is not shown again",
  },
  {
    key: "c",
    verdict: "copy of",
    label: "Copy of the other",
    tone: "bad",
    message: "a copy of",
    title: "This coin is a copy of the other one",
  },
  {
    key: "q",
    verdict: "better than",
    label: "Same coin, better record",
    tone: "quiet",
    message: "the better record of",
    title: "Both are the same coin, and this record is the better one",
  },
];

export class Comparison {
  at = 0;
  address = "";
  /** @type {string | null} the other coin to begin with */
  wanted = null;
  /** @type {string | null} what is drawn, as one text */
  made = null;
  /** @type {Map<string, string>} other → unconfirmed verdict given here */
  unconfirmed = new Map();
  /** @type {Compared | undefined} the server's data when there was none of these */
  confirmed;

  /** @param {Grid} grid */
  constructor(grid) {
    this.grid = grid;
    this.title = el("h2", {});
    this.strip = el("div", { class: "strip", role: "tablist", "aria-label": "Possible duplicates" });
    this.body = el("div", { class: "pair", role: "region", tabindex: "0", "aria-label": "Both coins" });
    this.question = el("span", { class: "question" });
    // Created once: a button that is pressed must not be exchanged when the server answers.
    const { decisions } = grid;
    const verb = (
      /** @type {string} */ look,
      /** @type {string} */ label,
      /** @type {() => void} */ decide,
      /** @type {string | null} */ title = null,
    ) => button(look, el("span", {}, label), (event) => decisions.press(event, decide), { key: "", title });
    this.buttons = VERDICTS.map((each) => verb(`verb ${each.tone}`, each.label, () => this.judge(each), each.title));
    this.reject = verb(
      "verb bad",
      "Reject as a copycat",
      () => this.rejection && decisions.make(this.rejection, { reason: COPYCAT }),
    );
    this.forAll = verb("tool", "", () => this.judge(VERDICTS[0], { all: true }));
    this.verbs = el("div", { class: "verbs" }, this.question, ...this.buttons, this.reject, this.forAll);
    this.node = el(
      "dialog",
      { class: "comparison", tabindex: "-1", "aria-label": "Comparison" },
      el(
        "header",
        { class: "top" },
        this.title,
        button("tool close", "Close", () => this.close(), { key: "esc" }),
      ),
      this.strip,
      this.body,
      this.verbs,
    );
    closesItself(this.node, () => this.close());
  }

  get isOpen() {
    return this.node.open;
  }

  /**
   * Opens with this coin, next to the other one if given.
   *
   * @param {string} address
   * @param {string | null} other
   */
  show(address, other = null) {
    const card = this.grid.model.card(address);
    if (!card || card.blank) return;
    this.address = address;
    this.at = 0;
    this.wanted = other;
    this.made = null;
    if (!this.node.open) this.node.showModal();
    this.node.focus();
    this.refresh();
  }

  close() {
    this.grid.focus.close(this.node);
    this.grid.refresh({ focus: true });
  }

  /** @param {number} by */
  step(by) {
    this.at = Math.min(this.others.length - 1, Math.max(0, this.at + by));
    this.refresh();
  }

  get found() {
    return this.grid.coins.get(this.address)?.comparison;
  }

  get others() {
    return this.found?.others ?? [];
  }

  /** @param {Other} other */
  verdictOf(other) {
    return this.unconfirmed.get(other.address) ?? other.verdict;
  }

  /**
   * Stores a verdict on this coin and the other one, or all without a verdict, and shows the next.
   *
   * @param {Verdict} verdict
   * @param {{all?: boolean}} which
   */
  judge({ verdict, message }, { all = false } = {}) {
    if (!this.grid.data.undoable || !this.others.length) return;
    const unjudged = this.others.filter((other) => !this.verdictOf(other));
    const judged = all ? unjudged : [this.others[this.at]];
    if (!judged.length) return;
    for (const other of judged) this.unconfirmed.set(other.address, verdict);
    const others = judged.map((other) => other.address);
    const name = this.grid.model.card(this.address)?.name;
    const whom = judged.length > 1 ? count(judged.length, "coin") : judged[0].name;
    this.grid.decisions.judge(this.address, verdict, others, `${name}: ${message} ${whom}`);
    const next = this.others.findIndex((other) => !this.verdictOf(other));
    if (next >= 0) this.at = next;
    this.refresh();
  }

  refresh() {
    if (!this.node.open) return;
    const { data, model } = this.grid;
    const card = model.card(this.address);
    // Decided in the meantime, here or elsewhere.
    if (!card || !model.visible.includes(this.address)) return this.close();
    this.grid.coins.ask(this.address);
    const { found } = this;
    const known = found !== undefined;
    if (this.confirmed !== found) {
      this.unconfirmed.clear();
      this.confirmed = found;
    }
    if (known && this.wanted) {
      this.at = Math.max(
        0,
        this.others.findIndex((other) => other.address === this.wanted),
      );
      this.wanted = null;
    }
    const { others } = this;
    this.at = Math.min(this.at, Math.max(0, others.length - 1));
    const other = others[this.at];
    const made = JSON.stringify([this.address, this.at, known, others, [...this.unconfirmed]]);
    if (this.made === made) return;
    this.made = made;
    const number = found?.count ?? 0;
    setText(
      this.title,
      !known
        ? `${card.name} …`
        : number
          ? `${card.name} and ${count(number, "possible duplicate")}`
          : `No possible duplicate of ${card.name}`,
    );
    this.strip.hidden = others.length < 2;
    const tabs = others.map(({ address, name, picture }) => ({ address, name, picture })); // not what `label` writes
    fill(this.strip, tabs, (each) => this.tab(each)).forEach((node, at) => this.label(node, at));
    this.strip.children[this.at]?.scrollIntoView({ block: "nearest", inline: "nearest" });
    const none = known ? "No other coin has its picture, its name or its ticker." : "Looking for possible duplicates …";
    this.body.replaceChildren(...(other ? this.pair(card, other) : [el("p", { class: "none" }, none)]));
    this.verbs.hidden = !other || !data.undoable;
    if (other) this.offer(card, other);
  }

  /** @param {Pick<Other, "address" | "name" | "picture">} other */
  tab({ address, name, picture }) {
    const open = () => {
      this.at = this.others.findIndex((other) => other.address === address);
      this.refresh();
    };
    return el(
      "button",
      { type: "button", role: "tab", title: name, onclick: open },
      el("img", { src: picture, alt: "", loading: "lazy" }),
      el("span", {}),
    );
  }

  /** @param {HTMLElement} node @param {number} at */
  label(node, at) {
    const verdict = this.verdictOf(this.others[at]);
    setAttribute(node, "class", `twin ${verdict ? "judged" : ""}`);
    setAttribute(node, "aria-selected", String(at === this.at));
    setText(node.lastChild, verdict ?? strongest(this.others[at]));
  }

  /** @param {Card} card @param {Other} other */
  pair(card, other) {
    const own = picture(card.large, `Picture of ${card.name}`);
    const its = picture(other.large, `Picture of ${other.name}`);
    const canvas = el("canvas", { role: "img", "aria-label": "Where the two pictures differ" });
    const agrees = el("span", {}, "…");
    Promise.all([own.decode(), its.decode()]).then(
      () => {
        const { agrees: share, place } = drawDifference(canvas, own, its);
        setText(agrees, `${agreement(share)}${place.mirrored ? ", mirrored" : ""}`);
      },
      () => setText(agrees, "a picture is missing"),
    );
    const findings = other.findings.map((kind, at) =>
      el(
        "span",
        { class: "pill warn" },
        at || other.figure === null ? kind : `${kind} · ${Math.round(other.figure * 100)} %`,
      ),
    );
    if (other.letters) findings.push(el("span", { class: "pill" }, "same picture, other letters"));
    return [
      side("This one", own, named(other, 0)),
      side("Where they differ", canvas, el("p", { class: "agrees" }, agrees), el("p", { class: "pills" }, ...findings)),
      side(
        "The other one",
        its,
        named(other, 1),
        el(
          "p",
          { class: "meta" },
          el("span", { class: "pill", "data-tone": other.tier }, `in ${other.place}`),
          el("span", {}, other.since),
        ),
      ),
      fields(other),
    ];
  }

  /**
   * What follows from the verdict that it is a copy; undefined where coins cannot be rejected.
   *
   * @returns {Action | undefined}
   */
  get rejection() {
    return this.grid.actions.find(({ verb, reasons }) => verb === "reject" && reasons?.includes(COPYCAT));
  }

  /**
   * What the buttons say about this pair.
   *
   * @param {Card} card
   * @param {Other} other
   */
  offer(card, other) {
    const verdict = this.verdictOf(other);
    const unjudged = this.others.filter((each) => !this.verdictOf(each)).length;
    const name = verdict === "different" ? `from ${other.name}` : other.name;
    const by = other.judged_by && verdict === other.verdict ? ` (${other.judged_by})` : "";
    setText(this.question, verdict ? `${card.name}: ${verdict} ${name}${by}` : "Is it a copy?");
    VERDICTS.forEach((each, at) => setAttribute(this.buttons[at], "aria-pressed", String(verdict === each.verdict)));
    setHidden(this.forAll, unjudged < 2);
    setText(this.forAll.firstChild, `Different from all ${unjudged}`);
    const { rejection } = this;
    setHidden(this.reject, !rejection || !this.others.some((each) => this.verdictOf(each) === "copy of"));
    const keys = [
      ...VERDICTS.map(({ key }) => key),
      rejection ? String(rejection.reasons.indexOf(COPYCAT) + 1) : "",
      "shift u",
    ];
    [...this.buttons, this.reject, this.forAll].forEach((each, at) =>
      setText(each.lastChild, this.grid.keyMap.label(keys[at])),
    );
  }
}

/**
 * What two coins share first of all, as the card's badge says it; how likely that is a copy is in the comparison
 * alone.
 *
 * @param {Other} twin
 */
function strongest({ findings: [kind] }) {
  return kind;
}

/**
 * How far two aligned pictures agree, in words: a share of pixels would pass for the likelihood of a copy.
 *
 * @param {number} share
 */
function agreement(share) {
  return share > 0.98
    ? "No visible difference"
    : share > 0.8
      ? "Small differences"
      : share > 0.5
        ? "Large differences"
        : "Different pictures";
}

/** @param {Other} other @param {0 | 1} which this coin or the other one */
function named({ names, tickers }, which) {
  const ticker = el("span", { class: "ticker" }, ...pieces(tickers[which]));
  return el("p", { class: "named", dir: "auto" }, ...pieces(names[which]), " ", ticker);
}

/** @param {string} title @param {Element} image @param {Element[]} below */
function side(title, image, ...below) {
  return el("figure", { class: "side-by-side" }, el("figcaption", {}, title), image, ...below);
}

/** @param {string} src @param {string} alt */
function picture(src, alt) {
  return el("img", { src, alt, draggable: "false" });
}

/**
 * A name in pieces: differences are marked, look-alike characters have an explanation.
 *
 * @param {Piece[]} parts
 */
function pieces(parts) {
  return parts.map(([text, differs, note]) =>
    differs ? el("mark", { class: note ? "disguise" : "", title: note || null }, text) : el("span", {}, text),
  );
}

/** @param {Other} other */
function fields({ fields: rows }) {
  if (!rows.length) return el("p", { class: "none differing" }, "Every field is the same.");
  return el(
    "table",
    { class: "differing" },
    el(
      "tbody",
      {},
      ...rows.map(([label, mine, its]) =>
        el(
          "tr",
          {},
          el("td", { dir: "auto" }, mine || "–"),
          el("th", { scope: "row" }, label),
          el("td", { dir: "auto" }, its || "–"),
        ),
      ),
    ),
  );
}

// A coin next to a similar one: both pictures, the differences, and the verdict on the pair.

import { el, fill, setAttribute, setHidden, setText } from "../../shell/js/elements.js";
import { count } from "./dom.js";
import { drawDifference } from "./difference.js";

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
    key: "b",
    verdict: "better than",
    label: "Same coin, better record",
    tone: "quiet",
    message: "the better record of",
    title: "Both are the same coin, and this record is the better one",
  },
];

export class Comparison {
  constructor(grid) {
    this.grid = grid;
    this.at = 0;
    this.unconfirmed = new Map(); // other → unconfirmed verdict given here
    this.title = el("h2", {});
    this.strip = el("div", { class: "strip", role: "tablist", "aria-label": "Possible duplicates" });
    this.body = el("div", { class: "pair", role: "region", tabindex: "0", "aria-label": "Both coins" });
    this.question = el("span", { class: "question" });
    // Created once: a button that is pressed must not be exchanged when the server answers.
    const { decisions } = grid;
    const button = (look, label, decide, title = null) =>
      el(
        "button",
        { type: "button", class: look, title, onclick: (event) => decisions.press(event, decide) },
        el("span", {}, label),
        el("kbd"),
      );
    this.buttons = VERDICTS.map((each) => button(`verb ${each.tone}`, each.label, () => this.judge(each), each.title));
    this.reject = button("verb bad", "Reject as a copycat", () => decisions.make(this.rejection, { reason: COPYCAT }));
    this.forAll = button("tool", "", () => this.judge(VERDICTS[0], { all: true }));
    this.verbs = el("div", { class: "verbs" }, this.question, ...this.buttons, this.reject, this.forAll);
    this.node = el(
      "dialog",
      { class: "comparison", tabindex: "-1", "aria-label": "Comparison" },
      el(
        "header",
        { class: "top" },
        this.title,
        el(
          "button",
          { type: "button", class: "tool close", onclick: () => this.close() },
          "Close",
          el("kbd", {}, "esc"),
        ),
      ),
      this.strip,
      this.body,
      this.verbs,
    );
    this.node.addEventListener("cancel", (event) => (event.preventDefault(), this.close()));
    this.node.addEventListener("click", (event) => event.target === this.node && this.close());
  }

  get isOpen() {
    return this.node.open;
  }

  /** Opens with this coin, next to the other one if given. */
  show(address, other = null) {
    const card = this.grid.model.card(address);
    if (!card || card.blank) return;
    this.address = address;
    this.at = 0;
    this.wanted = other;
    this.made = null;
    if (!this.node.open) this.node.showModal();
    this.node.focus();
    this.grid.tell("compare", address);
    this.refresh();
  }

  close() {
    this.grid.focus.close(this.node);
    this.grid.tell("compare", "");
    this.grid.refresh({ focus: true });
  }

  step(by) {
    this.at = Math.min(this.others.length - 1, Math.max(0, this.at + by));
    this.refresh();
  }

  get others() {
    const found = this.grid.data.comparison;
    return found?.address === this.address ? found.others : [];
  }

  verdictOf(other) {
    return this.unconfirmed.has(other.address) ? this.unconfirmed.get(other.address) : other.verdict;
  }

  /** Stores a verdict on this coin and the other one, or all without a verdict, and shows the next. */
  judge({ verdict, message }, { all = false } = {}) {
    if (!this.grid.data.undoable || !this.others.length) return;
    const unjudged = this.others.filter((other) => !this.verdictOf(other));
    const judged = all ? unjudged : [this.others[this.at]];
    if (!judged.length) return;
    for (const other of judged) this.unconfirmed.set(other.address, verdict);
    const { name } = this.grid.model.card(this.address);
    this.grid.decisions.judge(
      this.address,
      verdict,
      judged.map((other) => other.address),
      `${name}: ${message} ${judged.length > 1 ? count(judged.length, "coin") : judged[0].name}`,
    );
    const next = this.others.findIndex((other) => !this.verdictOf(other));
    if (next >= 0) this.at = next;
    this.refresh();
  }

  refresh() {
    if (!this.node.open) return;
    const { data, model } = this.grid;
    const card = model.card(this.address);
    if (!model.visible.includes(this.address)) return this.close(); // decided in the meantime, here or elsewhere
    const known = data.comparison?.address === this.address;
    if (this.confirmed !== data.comparison) {
      this.unconfirmed.clear();
      this.confirmed = data.comparison;
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
    const number = data.comparison?.count ?? 0;
    setText(
      this.title,
      !known
        ? `${card.name} …`
        : number
          ? `${card.name} and ${count(number, "possible duplicate")}`
          : `No possible duplicate of ${card.name}`,
    );
    this.strip.hidden = others.length < 2;
    fill(
      this.strip,
      others,
      (each) => [each.address, each.name, each.picture],
      (each) => this.tab(each),
    ).forEach((node, at) => this.label(node, at));
    this.strip.children[this.at]?.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.body.replaceChildren(
      ...(other
        ? this.pair(card, other)
        : [
            el(
              "p",
              { class: "none" },
              known ? "No other coin has its picture, its name or its ticker." : "Looking for possible duplicates …",
            ),
          ]),
    );
    this.verbs.hidden = !other || !data.undoable;
    if (other) this.offer(card, other);
  }

  tab({ address, name, picture }) {
    const open = () => ((this.at = this.others.findIndex((other) => other.address === address)), this.refresh());
    return el(
      "button",
      { type: "button", role: "tab", title: name, onclick: open },
      el("img", { src: picture, alt: "", loading: "lazy" }),
      el("span", {}),
    );
  }

  label(node, at) {
    const verdict = this.verdictOf(this.others[at]);
    setAttribute(node, "class", `twin ${verdict ? "judged" : ""}`);
    setAttribute(node, "aria-selected", String(at === this.at));
    setText(node.lastChild, verdict ?? strongest(this.others[at]));
  }

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
      side(
        "This one",
        own,
        el(
          "p",
          { class: "named", dir: "auto" },
          ...pieces(other.names[0]),
          " ",
          el("span", { class: "ticker" }, ...pieces(other.tickers[0])),
        ),
        null,
      ),
      side("Where they differ", canvas, el("p", { class: "agrees" }, agrees), el("p", { class: "pills" }, ...findings)),
      side(
        "The other one",
        its,
        el(
          "p",
          { class: "named", dir: "auto" },
          ...pieces(other.names[1]),
          " ",
          el("span", { class: "ticker" }, ...pieces(other.tickers[1])),
        ),
        el(
          "p",
          { class: "meta" },
          el("span", { class: `pill ${other.tier === "trash" ? "bad" : "good"}` }, `in ${other.place}`),
          el("span", {}, other.since),
        ),
      ),
      fields(other),
    ];
  }

  /** What follows from the verdict that it is a copy; undefined where coins cannot be rejected. */
  get rejection() {
    return this.grid.actions.find(({ verb, reasons }) => verb === "reject" && reasons?.includes(COPYCAT));
  }

  /** What the buttons say about this pair. */
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
    [...this.buttons, this.reject, this.forAll].forEach((button, at) =>
      setText(button.lastChild, this.grid.keyMap.label(keys[at])),
    );
  }
}

/**
 * What two coins share first of all, as the card's badge says it; how likely that is a copy is in the comparison
 * alone.
 */
function strongest({ findings: [kind] }) {
  return kind;
}

/** How far two aligned pictures agree, in words: a share of pixels would pass for the likelihood of a copy. */
function agreement(share) {
  return share > 0.98
    ? "No visible difference"
    : share > 0.8
      ? "Small differences"
      : share > 0.5
        ? "Large differences"
        : "Different pictures";
}

/** A short list of similar coins in the large view; each opens the comparison. */
export function twinsOf(grid, address, twins) {
  return el(
    "div",
    { class: "strip" },
    ...twins.map((other) =>
      el(
        "button",
        {
          type: "button",
          class: `twin ${other.verdict ? "judged" : ""}`,
          title:
            `${other.name}, in ${other.place}: ${other.findings.join(", ")}` + (other.letters ? ", other letters" : ""),
          onclick: () => grid.comparison.show(address, other.address),
        },
        el("img", { src: other.picture, alt: "", loading: "lazy" }),
        el("span", {}, other.verdict ?? strongest(other)),
      ),
    ),
  );
}

function side(title, image, ...below) {
  return el("figure", { class: "side-by-side" }, el("figcaption", {}, title), image, ...below);
}

function picture(src, alt) {
  return el("img", { src, alt, draggable: "false" });
}

/** A name in pieces: differences are marked, look-alike characters have an explanation. */
function pieces(parts) {
  return parts.map(([text, differs, note]) =>
    differs ? el("mark", { class: note ? "disguise" : "", title: note || null }, text) : el("span", {}, text),
  );
}

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

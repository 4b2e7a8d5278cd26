// The details of a coin: what its panel shows beside the picture.

import { el } from "../../shell/js/elements.js";
import { breakdown } from "./bars.js";
import { ageOf, button, icon } from "./dom.js";

/** @import { Coin } from "./coins.js" */
/** @import { Other } from "./comparison.js" */
/** @import { Grid } from "./main.js" */
/** @import { Card } from "./model.js" */

/** @typedef {{text: string, source: "person" | "program" | "unread", read: string, note: string}} Text in a picture */
/** @typedef {{text: string, by: string}} Comment */
/** @typedef {{label: string, href: string}} Link */
/** @typedef {Link & {name: string, picture: string}} Decided coin */
/** @typedef {{said: string, tone: string, signals: string[], nearest: Decided[]}} Advice */
const TWINS = 3; // similar coins that are named; the comparison has all
const FACETS = [
  ["entity", "Entity"],
  ["context", "Context"],
  ["visual", "Visual"],
  ["emotions", "Emotions"],
];

/**
 * What is shown of a coin besides its card (`detail` of components/grid/coin.py).
 *
 * @typedef {{
 *   description: string,
 *   tags: string[],
 *   caption: Record<string, string>,
 *   text: Text | null,
 *   unfit: string,
 *   saysUnfit: boolean,
 *   fields: [label: string, value: string][],
 *   explorer: Link | null,
 *   mentions: Link,
 *   comments: Comment[],
 *   family: (Link & {copy: string, edge: string, gain: string}) | null,
 *   copilot: Advice | null,
 *   history: {what: string, when: string}[],
 * }} Detail
 */

/**
 * What is shown of a coin beside its picture, evidence first.
 *
 * @param {Grid} grid
 * @param {Card} card
 * @param {Coin | null | undefined} known as far as the server has answered
 */
export function facts(grid, card, known) {
  const detail = known?.detail;
  const description = detail?.description ?? card.description;
  const tags = detail?.tags ?? card.tags;
  const reason = grid.model.refused.get(card.address);
  const hit = card.facets && grid.cards.nodes.get(card.address)?.hit;
  return [
    el("h2", {}, el("span", { dir: "auto" }, card.name), el("span", { class: "ticker" }, card.ticker)),
    reason ? el("p", { class: "reason" }, reason) : null,
    el(
      "p",
      { class: "meta" },
      card.mark ? el("span", { class: `pill ${card.mark.tone}` }, card.mark.label) : null,
      detail?.family?.copy ? el("span", { class: "pill warn", title: detail.family.edge }, detail.family.copy) : null,
      born(card),
    ),
    ...(known?.comparison.others ?? []).slice(0, TWINS).map((twin) => evidence(grid, card.address, twin)),
    detail?.copilot ? section("Co-pilot", advice(detail.copilot)) : null,
    detail?.family ? family(detail.family) : null,
    description ? el("p", { class: "description", dir: "auto" }, description) : null,
    tags.length ? el("p", { class: "pills" }, ...tags.map((tag) => el("span", { class: "pill" }, tag))) : null,
    hit && grid.ranking ? section("Why it is here", breakdown(hit, grid.ranking)) : null,
    detail ? captions(detail.caption) : null,
    detail?.text ? section("Text in the picture", grid.panel.pictureText.body(card.address, detail.text)) : null,
    detail ? section("Comments", grid.panel.comments.body(card.address, detail.comments)) : null,
    detail ? screenFlag(grid, card, detail) : null,
    ...(detail?.fields ?? []).map(([label, value]) => section(label, el("p", { dir: "auto" }, linked(value)))),
    section(
      "Address",
      el("p", { class: "address" }, ...address(grid, card.address), detail?.explorer ? link(detail.explorer) : null),
    ),
    detail ? section("Mentions", el("p", {}, link(detail.mentions))) : null,
    detail?.history?.length
      ? section(
          "History",
          el(
            "ol",
            { class: "history" },
            ...detail.history.map((line) => el("li", {}, el("span", {}, line.what), el("time", {}, line.when))),
          ),
        )
      : null,
  ].filter((each) => each !== null);
}

/**
 * A value that came with a coin; an address of a page by https as a link, which learns nothing of this one.
 *
 * @param {string} value
 * @param {string} label of the link
 */
export function linked(value, label = value) {
  if (!/^https:\/\/[^\s/@]+(\/\S*)?$/.test(value)) return value;
  return el(
    "a",
    { href: value, target: "_blank", rel: "noopener noreferrer nofollow", referrerpolicy: "no-referrer" },
    label,
  );
}

/**
 * Why safe mode blurs this coin, and the buttons to say otherwise.
 *
 * @param {Grid} grid
 * @param {Card} card
 * @param {Detail} detail
 */
function screenFlag(grid, card, { unfit, saysUnfit }) {
  const flag = grid.flags.get(card.address);
  const why = flag ? (flag === "unfit" ? "flagged by a person" : "") : unfit;
  const say = (/** @type {string} */ label, /** @type {"unfit" | "fit" | "automatic"} */ reason) =>
    button("tool", label, () => grid.decisions.flag(card.address, reason));
  const buttons = [];
  if (grid.panel.isBlurred) buttons.push(button("tool", "Show the picture", () => grid.panel.unblur()));
  if (grid.data.undoable) buttons.push(why ? say("It is fit", "fit") : say("Flag as unfit", "unfit"));
  if (grid.data.undoable && (saysUnfit || flag)) buttons.push(say("As recognised", "automatic"));
  return section(
    "Safe mode",
    el(
      "p",
      { class: "meta" },
      el("span", { class: "none" }, why ? `Unfit for the screen: ${why}` : "Fit for the screen"),
      ...buttons,
    ),
  );
}

/**
 * A similar coin: what both share, how sure that is, and what became of it; it opens the comparison.
 *
 * @param {Grid} grid
 * @param {string} address
 * @param {Other} twin
 */
function evidence(grid, address, { address: other, picture, name, findings, letters, verdict, since, figure }) {
  const sure = figure === null ? [] : [`${Math.round(100 * figure)} %`];
  const also = [...sure, ...findings.slice(1), ...(letters ? ["other letters"] : []), since].filter(Boolean);
  const key = grid.keyMap.label("d");
  return button(
    `evidence ${verdict ? "judged" : ""}`,
    el(
      "span",
      {},
      el("img", { src: picture, alt: "", loading: "lazy" }),
      el("b", { dir: "auto" }, `${capital(verdict ?? findings[0] ?? "similar")}: ${name}`),
      el("span", { class: "meta" }, also.join(" · ")),
    ),
    () => grid.comparison.show(address, other),
    { key, title: "Compare both" },
  );
}

/** @param {string} text */
function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** @param {Grid} grid @param {string} text */
function address(grid, text) {
  const code = el("code", {}, text);
  const marks = () => getSelection()?.selectAllChildren(code);
  const copy = async () => grid.tools.say(await copied(text, { marks }));
  return [code, button("tool", "Copy", copy, { "aria-label": "Copy the address" })];
}

/** @param {Card} card */
function born(card) {
  return el(
    "span",
    { title: card.created },
    card.no_age ? ageOf(card) : `${ageOf(card)} old`.replace("now old", "new"),
    ` · ${card.created}`,
  );
}

/** @param {Record<string, string>} caption */
function captions(caption) {
  const written = FACETS.filter(([facet]) => caption[facet]);
  if (!written.length) return section("Caption", el("p", { class: "none" }, "Not written yet."));
  return el(
    "div",
    {},
    ...written.map(([facet, label]) => section(label, el("p", { dir: "auto" }, caption[facet]), facet)),
  );
}

/** @param {string} title @param {Element} body @param {string | null} facet */
function section(title, body, facet = null) {
  return el("section", { class: facet ? `facet ${facet}` : null }, el("h3", {}, title), body);
}

/** @param {NonNullable<Detail["family"]>} family */
function family({ copy, edge, gain, ...tree }) {
  const how = copy ? [el("p", {}, capital(`${copy}: ${edge}`))] : [];
  const kept = gain ? [el("p", {}, gain)] : [];
  return section("Family", el("div", {}, ...how, el("p", {}, link(tree)), ...kept));
}

/**
 * What the co-pilot would do, the signals that weigh most, and the decided coins that look most like it.
 *
 * @param {Advice} advice
 */
function advice({ said, tone, signals, nearest }) {
  const coin = (/** @type {Decided} */ { name, picture, label, href }) =>
    el(
      "a",
      { href, target: "_blank", rel: "noopener noreferrer", title: `${name}: ${label}` },
      el("img", { src: picture, alt: name, loading: "lazy" }),
      label.split(" ")[0],
    );
  return el(
    "div",
    { class: "advice" },
    el("p", {}, tone ? el("span", { class: `pill ${tone}` }, said) : said),
    el("ul", {}, ...signals.map((signal) => el("li", { dir: "auto" }, signal))),
    nearest.length ? el("p", { class: "none" }, "Decided coins that look most like it:") : null,
    el("p", { class: "alike" }, ...nearest.map(coin)),
  );
}

/** @param {Link} link */
function link({ label, href }) {
  return el("a", { href, target: "_blank", rel: "noopener noreferrer" }, label, icon("out"));
}

/**
 * Copies a text, and says so. Over plain HTTP a browser offers no clipboard: then the text is marked, to be copied by
 * hand.
 *
 * @param {string} text
 * @param {{marks: () => void, clipboard?: Clipboard}} seams
 */
export async function copied(text, { marks, clipboard = globalThis.navigator?.clipboard }) {
  try {
    await clipboard.writeText(text);
    return "Copied";
  } catch {
    marks();
    return "This browser allows no copying here: the text is marked for Ctrl-C";
  }
}

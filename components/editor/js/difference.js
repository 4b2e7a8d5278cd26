// The difference of two texts by words: removed text is struck out, added text is marked; each change can be applied
// alone.

import { el } from "../../shell/js/elements.js";

/** @typedef {{same: string, del?: undefined, ins?: undefined} | {same?: undefined, del: string, ins: string}} Hunk */

const MOST = 4_000_000; // cells of the table; above this, the texts count as wholly different
const ENDS = /(?<=[.!?;。]\s(?!\/)|\s\/\s)/; // of a sentence, or of a phrase quoted among others

/**
 * A readable difference; `onTake(text)` receives the first text with one change applied.
 *
 * @param {string} before
 * @param {string} after
 * @param {{onTake?: (text: string) => void}} seams
 */
export function difference(before, after, { onTake } = {}) {
  const list = hunks(before, after);
  const node = el("p", { class: "difference", dir: "auto" });
  list.forEach((hunk, place) => {
    if (hunk.same !== undefined) return node.append(hunk.same);
    const change = el(
      "span",
      { class: "change" },
      hunk.del ? el("del", {}, hunk.del) : null,
      hunk.ins ? el("ins", {}, hunk.ins) : null,
    );
    if (onTake) {
      change.setAttribute("role", "button");
      change.setAttribute("tabindex", "0");
      change.title = "Accept only this change";
      const take = () => onTake(taken(list, (other) => other === place));
      change.addEventListener("click", take);
      change.addEventListener("keydown", (event) => event.key === "Enter" && !event.ctrlKey && take());
    }
    node.append(change);
  });
  return node;
}

/**
 * What both texts have, and what one has instead of the other, in order.
 *
 * @param {string} before
 * @param {string} after
 */
export function hunks(before, after) {
  const [a, b] = [pieces(before), pieces(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middle = compared(a.slice(start, a.length - end), b.slice(start, b.length - end));
  /** @type {Hunk[]} */
  const found = [];
  const same = (/** @type {string} */ text) => text && found.push({ same: text });
  same(a.slice(0, start).join(""));
  for (const part of joined(middle))
    found.push(...(part.same === undefined && !part.del ? sentences(part.ins) : [part]));
  same(a.slice(a.length - end).join(""));
  return found;
}

/**
 * The first text with those changes applied whose position in the list is `wanted`.
 *
 * @param {Hunk[]} list
 * @param {(place: number) => boolean} wanted
 */
export function taken(list, wanted) {
  return list.map((hunk, place) => hunk.same ?? (wanted(place) ? hunk.ins : hunk.del)).join("");
}

/** @param {string} text @returns {string[]} */
function pieces(text) {
  return text.match(/\s+|[\p{L}\p{N}_'’-]+|./gsu) ?? [];
}

/**
 * Longest common subsequence, piece by piece.
 *
 * @param {string[]} a
 * @param {string[]} b
 * @returns {Hunk[]}
 */
function compared(a, b) {
  if (!a.length && !b.length) return [];
  if ((a.length + 1) * (b.length + 1) > MOST) return [{ del: a.join(""), ins: b.join("") }];
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      table[i * width + j] =
        a[i] === b[j]
          ? table[(i + 1) * width + j + 1] + 1
          : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
  /** @type {Hunk[]} */
  const found = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) found.push({ same: a[(j++, i++)] });
    else if (i < a.length && (j === b.length || table[(i + 1) * width + j] >= table[i * width + j + 1]))
      found.push({ del: a[i++], ins: "" });
    else found.push({ del: "", ins: b[j++] });
  }
  return found;
}

/**
 * Joins adjacent pieces of one kind; a single space between two changes belongs to them.
 *
 * @param {Hunk[]} parts
 */
function joined(parts) {
  /** @type {Hunk[]} */
  const found = [];
  parts.forEach((part, place) => {
    const last = found.at(-1);
    const isGap =
      part.same !== undefined &&
      !part.same.trim() &&
      last?.same === undefined &&
      parts[place + 1] &&
      parts[place + 1].same === undefined;
    if (part.same !== undefined && !isGap) {
      if (last?.same !== undefined) last.same += part.same;
      else found.push({ ...part });
    } else {
      const { del, ins } = part.same === undefined ? part : { del: part.same, ins: part.same };
      if (last && last.same === undefined) {
        last.del += del;
        last.ins += ins;
      } else found.push({ del, ins });
    }
  });
  return found;
}

/**
 * Splits added text into sentences, so that each can be accepted alone.
 *
 * @param {string} text
 */
function sentences(text) {
  return text.split(ENDS).map((ins) => ({ del: "", ins }));
}

// A difference as one reads it: what goes struck out, what comes marked; each change can be taken by itself.

import { el } from "../../grid/js/dom.js";
import { hunks, taken } from "./text_difference.js";

/** `onTake(text)` gets the first text with one change made. */
export function difference(before, after, { onTake } = {}) {
  const list = hunks(before, after);
  const node = el("p", { class: "difference", dir: "auto" });
  list.forEach((hunk, place) => {
    if (hunk.same !== undefined) return node.append(hunk.same);
    const change = el("span", { class: "change" }, hunk.del ? el("del", {}, hunk.del) : null, hunk.ins ? el("ins", {}, hunk.ins) : null);
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

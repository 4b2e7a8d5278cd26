// A readable difference: removed text is struck out, added text is marked; each change can be applied alone.

import { el } from "../../shell/js/elements.js";
import { hunks, taken } from "./text_difference.js";

/** `onTake(text)` receives the first text with one change applied. */
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

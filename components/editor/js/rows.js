// Captions as a list; a click anywhere on a line leads to its editor.

import { el, fill, part } from "../../shell/js/elements.js";
import { difference } from "./difference.js";

/** @import { Mount } from "../../shell/js/streamlit_page.js" */

/** @typedef {{address: string, name: string, ticker: string, picture: string}} Coin */
/**
 * A text of a coin (components/editor/rows.py): why it is listed, with which other coin, and what it would become.
 *
 * @typedef {Coin & {
 *   key: string,
 *   label: string,
 *   why: string,
 *   text: string,
 *   after: string | null,
 *   other: Coin | null,
 * }} Line
 */
/** @typedef {{out: Set<string>, send: Pick<Mount<unknown>, "setTriggerValue" | "setStateValue">}} Page */

/** @type {WeakMap<HTMLElement, Page>} the list → keys of the excluded lines, and how to report to the last run */
const lists = new WeakMap();

/** @param {Mount<{rows: Line[], choose: boolean}>} mount */
export default function ({ data, parentElement, setTriggerValue, setStateValue }) {
  const list = part(parentElement, ".memedex-rows", HTMLElement);
  const send = { setTriggerValue, setStateValue };
  const page = lists.get(list) ?? { out: new Set(), send };
  page.send = send;
  lists.set(list, page);
  const known = new Set(data.rows.map((row) => row.key));
  for (const key of page.out) if (!known.has(key)) page.out.delete(key);
  fill(list, data.rows, (row) => line(row, page, data.choose), data.choose);
}

/** @param {Line} row @param {Page} page @param {boolean} isChosen */
function line(row, page, isChosen) {
  const go = () => page.send.setTriggerValue("go", row.address);
  const node = el(
    "li",
    {
      class: page.out.has(row.key) ? "out" : null,
      tabindex: "0",
      "data-address": row.address,
      title: "Open in the editor",
    },
    isChosen ? choice(row, page) : null,
    el("img", { src: row.picture, alt: "", loading: "lazy", width: "52", height: "52" }),
    el("div", { class: "who" }, el("b", { dir: "auto" }, row.name), el("span", {}, row.ticker)),
    el(
      "div",
      { class: "what" },
      el(
        "div",
        { class: "why" },
        row.label ? el("b", {}, row.label) : null,
        row.why,
        row.other && row.other.address !== row.address
          ? el(
              "span",
              { class: "other" },
              el("img", { src: row.other.picture, alt: "", width: "20", height: "20" }),
              row.other.name,
            )
          : null,
      ),
      row.after === null ? el("p", { class: "text", dir: "auto" }, row.text) : difference(row.text, row.after),
    ),
  );
  node.addEventListener("click", go);
  node.addEventListener("keydown", (event) => event.key === "Enter" && event.target === node && go());
  return node;
}

/** @param {Line} row @param {Page} page */
function choice(row, page) {
  const box = el("input", { type: "checkbox", "aria-label": `Change ${row.label} of ${row.name}` });
  box.checked = !page.out.has(row.key);
  box.addEventListener("click", (event) => event.stopPropagation());
  box.addEventListener("change", () => {
    if (box.checked) page.out.delete(row.key);
    else page.out.add(row.key);
    box.closest("li")?.classList.toggle("out", !box.checked);
    page.send.setStateValue("left", [...page.out]);
  });
  return box;
}

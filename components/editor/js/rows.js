// Captions as a list; a click anywhere on a line leads to its editor.

import { el } from "../../grid/js/dom.js";
import { difference } from "./difference.js";

const left = new WeakMap(); // the list → keys of the excluded lines

export default function ({ data, parentElement, setTriggerValue, setStateValue }) {
  const list = parentElement.querySelector(".memedex-rows");
  const out = left.get(list) ?? new Set();
  left.set(list, out);
  const known = new Set(data.rows.map((row) => row.key));
  for (const key of out) if (!known.has(key)) out.delete(key);

  const choice = (row) => {
    const box = el("input", { type: "checkbox", "aria-label": `Change ${row.label} of ${row.name}` });
    box.checked = !out.has(row.key);
    box.addEventListener("click", (event) => event.stopPropagation());
    box.addEventListener("change", () => {
      if (box.checked) out.delete(row.key);
      else out.add(row.key);
      box.closest("li").classList.toggle("out", !box.checked);
      setStateValue("left", [...out]);
    });
    return box;
  };

  list.replaceChildren(
    ...data.rows.map((row) => {
      const go = () => setTriggerValue("go", row.address);
      const node = el(
        "li",
        { class: out.has(row.key) ? "out" : null, tabindex: "0", "data-address": row.address, title: "Open in the editor" },
        data.choose ? choice(row) : null,
        el("img", { src: row.picture, alt: "", loading: "lazy", width: "52", height: "52" }),
        el("div", { class: "who" }, el("b", { dir: "auto" }, row.name), el("span", {}, row.ticker)),
        el(
          "div",
          { class: "what" },
          el("div", { class: "why" }, row.label ? el("b", {}, row.label) : null, row.why, row.other && row.other.address !== row.address ? el("span", { class: "other" }, el("img", { src: row.other.picture, alt: "", width: "20", height: "20" }), row.other.name) : null),
          row.after === null ? el("p", { class: "text", dir: "auto" }, row.text) : difference(row.text, row.after),
        ),
      );
      node.addEventListener("click", go);
      node.addEventListener("keydown", (event) => event.key === "Enter" && event.target === node && go());
      return node;
    }),
  );
}

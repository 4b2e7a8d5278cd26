// The dialog that lists every key of this page.

import { el } from "./dom.js";

const ALWAYS = [
  ["← ↑ ↓ →|h k j l", "move the cursor"],
  ["space", "select the card under the cursor"],
  ["shift + arrows", "select while moving"],
  ["ctrl a|⌘ a", "select all on this page"],
  ["shift a", "select all that match, on every page"],
  ["esc", "clear the selection"],
  ["enter", "open the large view; arrows go on in it"],
  ["d", "compare with coins that look like it"],
  ["+|-", "zoom in the large view; so do a click and the wheel"],
  ["[|]", "page before, page after"],
  ["/", "go to the filter; enter comes back"],
  ["?", "this sheet"],
];

const MOUSE = [
  ["click", "move the cursor; a selection is never lost by it"],
  ["double click", "open the large view"],
  ["corner|ctrl click", "select one, or take it out"],
  ["shift click", "select up to here"],
  ["draw a box", "select what it touches"],
];

export function helpSheet() {
  const dialog = el("dialog", { class: "help", "aria-label": "Keys" });
  // A click outside the dialog closes it.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  return dialog;
}

export function fillHelp(dialog, actions, { undoable }) {
  const decisions = actions.flatMap((action) => [
    [action.key, `${action.label.toLowerCase()} the selection, or the card under the cursor`],
    ...(action.reasons ?? []).map((reason, index) => [String(index + 1), `${action.label.toLowerCase()}: ${reason}`]),
  ]);
  if (undoable) decisions.push(["z", "undo"], ["shift z", "redo"]);
  const close = el("button", { type: "button", class: "tool", onclick: () => dialog.close() }, "Close", el("kbd", {}, "esc"));
  dialog.replaceChildren(
    el("div", { class: "sheet" }, el("h2", {}, "Keys"), el("div", { class: "columns" }, list("Decide", decisions), list("Move and select", ALWAYS), list("Mouse", MOUSE)), close),
  );
}

function list(title, rows) {
  return el("section", {}, el("h3", {}, title), el("dl", {}, ...rows.flatMap(([key, meaning]) => [el("dt", {}, ...key.split("|").map((each) => el("kbd", {}, each))), el("dd", {}, meaning)])));
}

// The keyboard: handled on the document before anything else on the page, but not while the user types. Single
// characters act only while the focus is in the grid or on the page itself, not on a control elsewhere.

import { VERDICTS } from "./comparison.js";
import { filterField } from "./filter_field.js";

const STEPS = {
  ArrowLeft: [-1, 0],
  h: [-1, 0],
  ArrowRight: [1, 0],
  l: [1, 0],
  ArrowUp: [0, -1],
  k: [0, -1],
  ArrowDown: [0, 1],
  j: [0, 1],
};
const ROLES = ["slider", "tab", "radio", "option", "menuitem", "combobox", "listbox"];
const WITH_ARROWS = ["canvas, audio, video", ...ROLES.map((role) => `[role=${role}]`)].join(", ");
const MOVES = /^( |Enter|Arrow.*|Home|End|Page.*)$/; // keys that a slider or a switch handles itself
const CONTROLS = `button, a, summary, ${WITH_ARROWS}`;

export function listenToKeys(grid) {
  const onKey = (event) => {
    if (event.isComposing || event.defaultPrevented || !grid.root.isConnected) return;
    const target = event.composedPath()[0];
    if (grid.tagging.isOpen) return;
    if (event.key === "Enter" && target === filterField()) return leaveFilter(grid, target);
    if (isTyping(target) && !(isOwn(grid, target) && !MOVES.test(event.key))) return;
    if (isElsewhere(grid)) return grid.earlyKeys.rest();
    const pressed = meant(grid, event, target);
    if (!pressed) return;
    if (
      grid.help.isOpen
        ? pressInHelp(grid, event, target)
        : grid.filter.holds(event) || grid.earlyKeys.isTooEarly(pressed) || take(grid, pressed, target)
    ) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  };
  document.addEventListener("keydown", onKey, true);
  return () => document.removeEventListener("keydown", onKey, true);
}

function isTyping(target) {
  return target instanceof Element && (target.matches("input, textarea, select") || target.isContentEditable);
}

/** A slider or a switch of the grid: it ignores letters, so they still act on the cards. */
function isOwn(grid, target) {
  return grid.root.contains(target) && target.matches("input[type=range], input[type=checkbox]");
}

/** Whether one of the page's own dialogs or drawers is open; toasts and tooltips do not count. */
function isElsewhere(grid) {
  return Boolean(grid.root.getRootNode().host?.closest("[inert]") || document.querySelector("[role=dialog]"));
}

/** The event as the grid's own keys, or null for a character that is not meant for the cards. */
function meant(grid, event, target) {
  const { key, shiftKey, ctrlKey, metaKey, altKey, repeat, timeStamp } = event;
  const pressed = { key, shiftKey, ctrlKey, metaKey, altKey, repeat, timeStamp };
  if (key.length > 1) return pressed;
  if (ctrlKey || metaKey || altKey) return { ...pressed, key: key.toLowerCase() };
  const character = grid.help.isOpen ? key : isHere(grid, target) ? grid.keyMap.meant(key) : null;
  return character && { ...pressed, key: character };
}

/** Whether the focus is in the grid, or on the page itself and not on something else on it. */
function isHere({ root }, target) {
  return root.contains(target) || !(target instanceof Element) || target.contains(root.getRootNode().host ?? root);
}

/** Runs the action of the key; true if it has one. */
function take(grid, event, target) {
  const { key } = event;
  if (grid.tools.closeMenu() && key === "Escape") return (grid.focus.follow(), true);
  if ((event.ctrlKey || event.metaKey) && !event.altKey && key === "a" && !grid.viewer.isOpen)
    return (grid.selectPage(), true);
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (key === "?") return (grid.help.show(), true);
  const on = (controls) => target instanceof Element && target.matches(controls);
  if ((key === "Enter" || key === " ") && on(CONTROLS)) return false;
  if (key.startsWith("Arrow") && on(WITH_ARROWS) && !grid.root.contains(target)) return false;
  if (key === "z") return (event.repeat || grid.decisions.undoOrRedo(event.shiftKey ? "redo" : "undo"), true);
  if (grid.ranking.views?.hasCards === false) return false;
  // A key held down must not decide a whole queue.
  if (event.repeat && !STEPS[key]) return grid.actions.some((action) => action.key === key);
  if (grid.ranking.views?.why.open) return false;
  if (grid.comparison.isOpen) return inComparison(grid, key, event);
  if (key === "d") return (grid.compare(grid.model.cursor), true);
  if (grid.viewer.isOpen) return inViewer(grid, key);
  // A second press must not approve what the first has just selected.
  if (key === "a" && event.shiftKey) return (grid.selectEverything(), true);
  if (STEPS[key]) return (grid.step(...STEPS[key], { select: event.shiftKey }), true);
  if (key === " ") return (grid.toggle(), true);
  if (key === "Enter") return (grid.open(grid.model.cursor), true);
  if (key === "Escape") return grid.clear();
  if (key === "Home" || key === "End") return (grid.edge(key === "End"), true);
  if (key === "y" && grid.ranking.views) return grid.ranking.views.askWhy();
  if (key === "/") return grid.filter.focus();
  if (key === "[" || key === "]") return grid.turn(key === "]" ? 1 : -1);
  return decide(grid, key, event);
}

function inViewer(grid, key) {
  if (key === "Escape" || key === "Enter") return (grid.viewer.close(), true);
  if (STEPS[key]) return (grid.viewer.step(STEPS[key][0] + STEPS[key][1]), true);
  if (key === " ") return (grid.toggle(), true);
  if (key === "+" || key === "=" || key === "-") return (grid.viewer.zoom(key === "-" ? -1 : 1), true);
  return decide(grid, key);
}

function inComparison(grid, key, event) {
  const { comparison } = grid;
  if (key === "Escape" || key === "Enter" || key === "d") return (comparison.close(), true);
  if (STEPS[key]) return (comparison.step(STEPS[key][0] + STEPS[key][1]), true);
  const verdict = VERDICTS.find((each) => each.key === key);
  if (verdict) return (comparison.judge(verdict, { all: event.shiftKey && verdict === VERDICTS[0] }), true);
  return decide(grid, key);
}

/** The action of a key, or of a digit that means a reason. */
function decide(grid, key) {
  const action = grid.actions.find((each) => each.key === key);
  if (action) return (grid.decisions.make(action), true);
  const reasoned = grid.actions.find((each) => each.reasons?.length);
  const reason = reasoned?.reasons[Number(key) - 1];
  if (!/^[1-9]$/.test(key) || !reason) return false;
  return (grid.decisions.make(reasoned, { reason }), true);
}

function pressInHelp(grid, { key, ctrlKey, metaKey, altKey }, target) {
  if (ctrlKey || metaKey || altKey || ((key === "Enter" || key === " ") && target.matches(CONTROLS))) return false;
  return grid.help.take(key);
}

/** Returns to the cards after the field itself has handled the key. */
function leaveFilter(grid, field) {
  setTimeout(() => {
    field.blur();
    // If a new query is running, the focus goes to its first coin.
    grid.refresh({ focus: !grid.earlyKeys.isAskedAnew });
  });
}

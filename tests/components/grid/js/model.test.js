// The cards on the page: the server's, without those decided here, plus those undone.

import assert from "node:assert/strict";

import { Model } from "../../../../components/grid/js/model.js";
import { test } from "../../../shared/browser.js";

const cards = (...names) => names.map((address) => ({ address, revision: 1 }));
const hide = (...addresses) => ({ effect: { hide: addresses }, addresses });
const show = (...addresses) => ({ effect: { show: addresses }, addresses });

function shown(...names) {
  const model = new Model("library:ann:pending");
  model.ask({ question: "dogs" });
  model.take(cards(...names));
  model.settle([]);
  return model;
}

test("a decided card disappears immediately, and the cursor moves to the next one", () => {
  const model = shown("a", "b", "c", "d");
  model.moveTo("b");
  model.settle([hide("b")]);
  assert.deepEqual(model.visible, ["a", "c", "d"]);
  assert.equal(model.cursor, "c");
  model.settle([hide("b"), hide("c", "d")]);
  assert.equal(model.cursor, "a");
});

test("an action is for the chosen coins whose tier allows it", () => {
  const model = shown("a", "b");
  model.take([
    { address: "a", revision: 1, tier: "pending" },
    { address: "b", revision: 1, tier: "trash" },
  ]);
  const [approve, tag] = [{ tiers: ["pending"] }, { tiers: [] }];
  model.select(["a", "b", "elsewhere"], true);
  assert.deepEqual(model.targets(approve), ["a", "elsewhere"], "the server knows coins of another page");
  assert.deepEqual(model.targets(tag), ["a", "b", "elsewhere"]);
  model.drop();
  model.moveTo("b");
  assert.deepEqual(model.targets(approve), []);
});

test("an undone card returns to its place, even if the server has dropped it", () => {
  const model = shown("a", "b", "c");
  model.take(cards("a", "c"));
  model.settle([hide("b"), show("b")]);
  assert.deepEqual(model.visible, ["a", "b", "c"]);
  model.isRanked = true;
  model.settle([hide("b"), show("b")]);
  assert.deepEqual(model.visible, ["a", "c"], "only the server knows its place among ranked results");
});

test("what is taken back stands between its neighbours, also when cards before it have gone since", () => {
  const model = shown("a", "b", "c", "d", "e");
  model.take(cards("d", "e", "f")); // a, b and c are decided, and the server has said so
  model.settle([show("c"), show("b")]);
  assert.deepEqual(model.visible, ["b", "c", "d", "e", "f"]);
  model.moveTo("b");
  model.settle([show("c"), show("b"), hide("b")]);
  assert.deepEqual([model.visible, model.cursor], [["c", "d", "e", "f"], "c"]);
  model.take(cards("a", "b"));
  model.settle([show("c")]);
  assert.deepEqual(model.visible, ["a", "b", "c"], "where none that came after it is left");
});

test("a card waits while a decision that does not hide it is unconfirmed", () => {
  const model = shown("a", "b");
  model.settle([{ addresses: ["b"] }]);
  assert.deepEqual([...model.waiting], ["b"]);
  assert.deepEqual(model.visible, ["a", "b"]);
});

test("actions apply to the selection, or else to the cursor, and never to a blank card", () => {
  const model = shown("a", "b", "c");
  model.moveTo("b");
  assert.deepEqual(model.targets(), ["b"]);
  model.select(["a", "c"], true);
  assert.deepEqual(model.targets(), ["a", "c"]);
  assert.deepEqual(model.targets({ single: true }), ["b"]);
  model.take([{ address: "b", blank: true }]);
  model.drop();
  model.settle([]);
  assert.deepEqual(model.targets(), []);
});

test("a new query clears the selection, which can be restored", () => {
  const model = shown("a", "b", "c");
  model.select(["a", "b"], true);
  assert.equal(model.ask({ question: "cats" }), true);
  assert.equal(model.chosenCount, 0);
  assert.equal(model.canBringBack(), 2);
  model.bringBack();
  assert.deepEqual([...model.selection.keys()], ["a", "b"]);
});

test("a new query clears one selected coin, which can be restored also after a reload", () => {
  const model = shown("a", "b", "c");
  model.select(["b"], true);
  model.ask({ question: "cats" });
  assert.equal(model.chosenCount, 0);
  assert.equal(model.canBringBack(), 1);
  assert.equal(new Model("library:ann:pending").canBringBack(), 1);
});

test("a single coin that is deselected does not take the place of a longer selection", () => {
  const model = shown("a", "b", "c");
  model.select(["a", "b"], true);
  model.clear();
  model.select(["c"], true);
  model.clear();
  assert.equal(model.canBringBack(), 2);
});

test("a new order moves the cursor to the first card and keeps the selection", () => {
  const model = shown("a", "b", "c");
  model.select(["a", "b"], true);
  model.ask({ question: "dogs", order: "name" });
  assert.equal(model.cursor, null);
  assert.equal(model.chosenCount, 2);
});

test("a reload keeps the cursor and offers the previous selection", () => {
  const model = shown("a", "b", "c");
  model.select(["a", "c"], true);
  model.moveTo("c");
  const next = new Model("library:ann:pending");
  assert.equal(next.ask({ question: "dogs" }), false);
  assert.equal(next.cursor, "c");
  assert.equal(next.chosenCount, 0, "nothing is selected yet");
  assert.equal(next.canBringBack(), 2);
});

test("selecting all matches respects exclusions and ends when the filter changes", () => {
  const model = shown("a", "b", "c");
  model.selectEverything({ filter: "dogs", generation: 4, count: 900 });
  model.select(["b"], false);
  assert.equal(model.chosenCount, 899);
  assert.deepEqual(model.targets(), ["a", "c"]);
  model.hold({ filter: "dogs", count: 500 });
  assert.equal(model.chosenCount, 499, "fewer coins match now");
  model.hold({ filter: "cats", count: 3 });
  assert.equal(model.chosenCount, 0);
});

test("decided cards are not restored with the selection", () => {
  const model = shown("a", "b", "c");
  model.select(["a", "b", "c"], true);
  model.clear();
  model.forget(["b"]);
  model.bringBack();
  assert.deepEqual([...model.selection.keys()], ["a", "c"]);
});

test("a range includes both ends in either order", () => {
  const model = shown("a", "b", "c", "d");
  assert.deepEqual(model.range("c", "b"), ["b", "c"]);
  assert.deepEqual(model.range("gone", "b"), ["b"]);
});

test("a coin that somebody else decides stays as a shadow where it was, until the next decision", () => {
  const model = shown("a", "b", "c", "d");
  model.moveTo("b");
  model.take(cards("a", "d"), {
    b: { label: "approved by ann", decision: "one" },
    c: { label: "rejected by ann", decision: "two" },
  });
  model.settle([]);
  assert.deepEqual(model.visible, ["a", "b", "c", "d"]);
  assert.equal(model.cursor, "b", "the cursor does not jump");
  assert.equal(model.card("b").mark.label, "approved by ann");
  model.select(model.visible, true);
  assert.deepEqual([...model.selection.keys()], ["a", "d"], "a whole page is selected without its shadows");
  model.passShadows();
  model.settle([hide("a")]);
  assert.deepEqual(model.visible, ["b", "d"], "the one under the cursor stays");
  model.take(cards("b", "d"), {});
  model.settle([]);
  assert.equal(model.card("b").shadow, undefined, "taken back: it can be decided as before");
});

test("another order begins at its first card and at the top, also without a filter", () => {
  const model = new Model("library:ann:pending");
  model.ask({ question: "", order: "newest " });
  model.take(cards("a", "b", "c"));
  model.settle([]);
  model.moveTo("b");
  assert.equal(model.ask({ question: "", order: "name " }), true);
  model.take(cards("c", "b", "a"));
  model.settle([]);
  assert.equal(model.cursor, "c");
});

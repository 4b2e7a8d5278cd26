// What is drawn again keeps the buttons that somebody may be pressing.

import assert from "node:assert/strict";
import { test } from "node:test";

import { arrange, fill } from "../../../../components/shell/js/elements.js";

/** As much of an element as is needed; it counts how often it was taken out of its document or put in. */
class Element {
  childNodes = [];
  moves = 0;

  constructor(text = "") {
    this.text = text;
  }

  insertBefore(node, before) {
    node.remove();
    node.parent = this;
    node.moves += 1;
    this.childNodes.splice(before ? this.childNodes.indexOf(before) : this.childNodes.length, 0, node);
  }

  remove() {
    if (!this.parent) return;
    this.moves += 1;
    this.parent.childNodes = this.parent.childNodes.filter((node) => node !== this);
    this.parent = null;
  }
}

const texts = (parent) => parent.childNodes.map((node) => node.text);

test("a child that stays at its place is neither taken out nor put in again", () => {
  const parent = new Element();
  const [first, last, middle] = ["first", "last", "middle"].map((text) => new Element(text));
  arrange(parent, [first, last]);
  arrange(parent, [first, middle, last]);
  assert.deepEqual(texts(parent), ["first", "middle", "last"]);
  arrange(parent, [first, last]);
  assert.deepEqual(texts(parent), ["first", "last"]);
  assert.deepEqual([first.moves, last.moves], [1, 1]);
});

test("a list that is drawn again has the same child for the same item, and another for one that has changed", () => {
  const parent = new Element();
  const draw = (items) => fill(parent, items, ([tag, state]) => new Element(`${tag} ${state}`));
  const [frog, ape] = draw([
    ["frog", "kept"],
    ["ape", "kept"],
  ]);
  const [again, changed] = draw([
    ["frog", "kept"],
    ["ape", "removed"],
    ["dog", "kept"],
  ]);
  assert.equal(again, frog);
  assert.notEqual(changed, ape);
  assert.deepEqual(texts(parent), ["frog kept", "ape removed", "dog kept"]);
  assert.equal(frog.moves, 1);
});

test("two items that say the same have a child each", () => {
  const parent = new Element();
  fill(parent, ["frog", "frog"], (tag) => new Element(tag));
  assert.deepEqual(texts(parent), ["frog", "frog"]);
});

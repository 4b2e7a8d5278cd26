// Keys as set in this browser: each character has one meaning, and off means none.

import assert from "node:assert/strict";

import { KeyMap } from "../../../../components/grid/js/keys.js";
import { test } from "../../../shared/browser.js";
import { eachIs } from "../../../shared/shared.js";

test("without a change every character means itself, in either case", () => {
  const keys = new KeyMap();
  assert.equal(keys.meant("a"), "a");
  assert.equal(keys.meant("R"), "r");
  assert.equal(keys.label("shift a"), "shift a");
});

test("a key that is changed leaves its former character to the one it replaces", () => {
  const keys = new KeyMap();
  keys.assign("a", "R");
  eachIs(["r", "a", "x"], (key) => keys.meant(key), ["a", "r", "x"]);
  assert.equal(keys.label("shift a"), "shift r");
  keys.assign("a", "y");
  eachIs(["y", "a", "r"], (key) => keys.meant(key), ["a", "r", "y"]);
  keys.assign("a", "a");
  keys.assign("y", "y");
  assert.equal(keys.isChanged, false, "all back in their places");
});

test("switched off, characters mean nothing; the space bar still selects", () => {
  const keys = new KeyMap();
  keys.turn(true);
  assert.equal(keys.meant("r"), null);
  assert.equal(keys.meant(" "), " ");
});

test("what was set is there after a reload", () => {
  const keys = new KeyMap();
  keys.assign("a", "k");
  keys.turn(true);
  const again = new KeyMap();
  assert.equal(again.isOff, true);
  again.turn(false);
  assert.equal(again.meant("k"), "a");
});

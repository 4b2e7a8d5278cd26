// What differs between two texts, by words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { hunks, taken } from "../../../../components/editor/js/difference.js";

const PAIRS = [
  ["", ""],
  ["", "a frog"],
  ["a frog", ""],
  ["a green frog", "a green frog"],
  ["a green frog", "a red frog"],
  ["a frog sits", "a frog sits. It rains. Nobody cares."],
  ["one two three four", "four three two one"],
  ["naïve café – 犬", "naive café – 猫"],
  ["🐸🐸 to the moon", "🐸 to the moon 🚀"],
  ["line one\nline two", "line two\nline one"],
];

for (const [before, after] of PAIRS) {
  test(`${JSON.stringify(before)} → ${JSON.stringify(after)} contains both texts`, () => {
    const list = hunks(before, after);
    assert.equal(
      taken(list, () => true),
      after,
    );
    assert.equal(
      taken(list, () => false),
      before,
    );
  });
}

test("a word is replaced as a whole", () => {
  assert.deepEqual(hunks("a green frog", "a greenish frog"), [
    { same: "a " },
    { del: "green", ins: "greenish" },
    { same: " frog" },
  ]);
});

test("adjacent changes are merged into one", () => {
  assert.deepEqual(hunks("a small green frog", "a large red frog"), [
    { same: "a " },
    { del: "small green", ins: "large red" },
    { same: " frog" },
  ]);
});

test("added sentences can be accepted one by one", () => {
  const list = hunks("A frog.", "A frog. It rains. Nobody cares.");
  assert.deepEqual(list, [{ same: "A frog." }, { del: "", ins: " It rains. " }, { del: "", ins: "Nobody cares." }]);
  assert.equal(
    taken(list, (place) => place === 1),
    "A frog. It rains. ",
  );
});

test("texts too long to compare count as wholly different", () => {
  const [before, after] = ["a ".repeat(1_500), "b ".repeat(1_500)];
  assert.deepEqual(hunks(before, after), [{ del: before.trimEnd(), ins: after.trimEnd() }, { same: " " }]);
});

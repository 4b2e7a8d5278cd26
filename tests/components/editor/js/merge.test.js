// Two people edit one coin: changes by only one of them are merged, and only conflicts are shown.

import assert from "node:assert/strict";
import { test } from "node:test";

import { sameTags, tagsTogether, together, trimmed } from "../../../../components/editor/js/merge.js";

for (const [base, mine, theirs, value, disputed] of [
  ["a", "a", "a", "a", false],
  ["a", "b", "a", "b", false],
  ["a", "a", "b", "b", false],
  ["a", "b", "b", "b", false],
  ["a", "b", "c", "b", true],
  [null, "b", null, "b", false],
  [null, null, "b", "b", false],
  ["a", null, "a", null, false],
  ["a", null, "b", null, true],
  [null, "", null, "", false],
  [null, "", "b", "", true],
]) {
  test(`${JSON.stringify(base)} became ${JSON.stringify(mine)} here and ${JSON.stringify(theirs)} there`, () => {
    assert.deepEqual(together(base, mine, theirs), { value, disputed });
  });
}

test("tags that either side added are kept, tags that either side removed are not", () => {
  assert.deepEqual(tagsTogether(["dog", "art"], ["dog", "moon"], ["dog", "art", "cat"]), ["dog", "moon", "cat"]);
  assert.deepEqual(tagsTogether(["dog"], [], ["dog"]), []);
  assert.deepEqual(tagsTogether([], ["dog"], ["dog"]), ["dog"]);
});

test("the order of tags matters", () => {
  assert.ok(sameTags(["a", "b"], ["a", "b"]));
  assert.ok(!sameTags(["a", "b"], ["b", "a"]));
});

test("surrounding space does not change a text, but an empty text does", () => {
  assert.deepEqual(trimmed({ entity: " a frog\n", visual: "", emotions: "  ", context: null }), {
    entity: "a frog",
    visual: "",
    emotions: null,
    context: null,
  });
});

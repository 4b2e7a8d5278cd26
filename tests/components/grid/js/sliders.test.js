// Weights that an earlier query left behind are named.

import assert from "node:assert/strict";
import { test } from "node:test";

import { isCarried } from "../../../../components/grid/js/sliders.js";

const usual = { image: 0, entity: 4, context: 3, visual: 2, emotions: 1 };
const own = { ...usual, image: 10 };

test("weights that were moved for an earlier query get a sign with the next one", () => {
  assert.equal(isCarried(own, { usual, query: "frog", movedFor: "frog" }), false, "somebody just moved them");
  assert.equal(isCarried(own, { usual, query: "cat", movedFor: "frog" }), true);
  assert.equal(isCarried(usual, { usual, query: "cat", movedFor: "frog" }), false);
  assert.equal(isCarried(own, { usual: null, query: "cat", movedFor: null }), false);
});

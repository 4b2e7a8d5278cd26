// The first result is explained in words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { whyFirst } from "../../../../components/grid/js/order.js";

const part = (contribution) => ({ contribution, present: true, weight: 1 });

/** A result with these contributions of picture, entity, context, visual and emotions. */
function result(name, facets, { isExact = false, words = 0 } = {}) {
  const score = facets.reduce((sum, each) => sum + each, words);
  return {
    card: { name, ticker: name.toUpperCase() },
    hit: { facets: facets.map(part), words: { contribution: words }, score, isExact },
  };
}

test("by the two largest reasons that speak for it", () => {
  const results = [result("Frog", [0, 0.4, 0.1, 0.3, 0.1]), result("Toad", [0, 0.1, 0.2, 0.1, 0])];
  assert.equal(whyFirst(results, "a frog"), "First because what is in it and how it looks fit better than Toad’s.");
  const [frog, toad] = [result("Frog", [0, 0, 0, 0, 0], { words: 0.5 }), result("Toad", [0, 0.1, 0, 0, 0])];
  assert.equal(whyFirst([frog, toad], "a frog"), "First because its wording fits better than Toad’s.");
});

test("by what was asked for: ticker, name or address", () => {
  const other = result("Toad", [0, 0, 0, 0, 0]);
  const exact = result("Stfg", [0, 0, 0, 0, 0], { isExact: true });
  assert.equal(whyFirst([exact, other], "$stfg"), "First because its ticker is STFG.");
  const named = { ...exact, card: { name: "Starry Frog", ticker: "STFG" } };
  assert.equal(whyFirst([named, other], "starry frog"), "First because it is called Starry Frog.");
  assert.equal(whyFirst([named, other], "local-frog"), "First because it has this address.");
});

test("not at all where there is nothing to compare", () => {
  assert.equal(whyFirst([result("Frog", [0, 1, 0, 0, 0])], "a frog"), "");
  assert.equal(whyFirst([], "a frog"), "");
});

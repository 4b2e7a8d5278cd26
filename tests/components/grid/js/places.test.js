// Where a record stands by one facet alone, and when picture and captions disagree.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Places } from "../../../../components/grid/js/places.js";

const falling = (rows) => Float32Array.from({ length: rows }, (_, at) => 1 - at / rows);
const rising = (rows) => falling(rows).reverse();
const MEANS = Array(5).fill(0.5);

test("the best of all is 1, equal ones share a place, and what is missing has none", () => {
  const places = new Places({ columns: [Float32Array.of(0.5, 0.9, 0.5, NaN), ...Array(4).fill(new Float32Array(4))], means: MEANS });
  assert.deepEqual([0, 1, 2, 3].map((row) => places.of(row, 0)), [2, 1, 2, null]);
  assert.equal(places.among(0), 3);
});

test("a picture that fits and captions that do not are named, and the other way round", () => {
  const places = new Places({ columns: [falling(100), rising(100), rising(100), rising(100), rising(100)], means: MEANS });
  assert.equal(places.disagreement(0), "The picture fits, the captions do not: is the caption right?");
  assert.equal(places.disagreement(99), "The captions fit, the picture does not: is the caption right?");
  assert.equal(places.disagreement(50), "");
});

test("of few records nothing is said", () => {
  assert.equal(new Places({ columns: [falling(39), ...Array(4).fill(rising(39))], means: MEANS }).disagreement(0), "");
});

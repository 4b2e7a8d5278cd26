// The rank of a record by one facet alone, and disagreement between picture and captions.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Places } from "../../../../components/grid/js/places.js";

const falling = (rows) => Float32Array.from({ length: rows }, (_, at) => 1 - at / rows);
const rising = (rows) => falling(rows).reverse();
const MEANS = Array(5).fill(0.5);

test("the best rank is 1, ties share a rank, and a missing facet has none", () => {
  const places = new Places({
    columns: [Float32Array.of(0.5, 0.9, 0.5, NaN), ...Array(4).fill(new Float32Array(4))],
    means: MEANS,
  });
  assert.deepEqual(
    [0, 1, 2, 3].map((row) => places.of(row, 0)),
    [2, 1, 2, null],
  );
  assert.equal(places.among(0), 3);
});

test("disagreement between picture and captions is reported in both directions", () => {
  const places = new Places({
    columns: [falling(100), rising(100), rising(100), rising(100), rising(100)],
    means: MEANS,
  });
  assert.equal(places.disagreement(0), "The picture fits, the captions do not: is the caption right?");
  assert.equal(places.disagreement(99), "The captions fit, the picture does not: is the caption right?");
  assert.equal(places.disagreement(50), "");
});

test("nothing is reported for few records", () => {
  assert.equal(new Places({ columns: [falling(39), ...Array(4).fill(rising(39))], means: MEANS }).disagreement(0), "");
});

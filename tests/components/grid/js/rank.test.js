// The page ranks as Python does: both pass the cases of tests/shared/ranking.json
// (tests/store/search/test_shared_ranking.py). And the rank of a record by one facet alone, and disagreement between
// picture and captions.

import assert from "node:assert/strict";
import { test } from "node:test";

import { FACET_NAMES, Places, RAW, rank } from "../../../../components/grid/js/rank.js";
import { eachIs, near, shared } from "../../../shared/shared.js";

const ofPage = (columns) => columns.map((column) => Float32Array.from(column, (cosine) => cosine ?? NaN));

for (const {
  name,
  columns,
  means,
  deviations,
  groups,
  words,
  silent,
  pictures,
  scale,
  weights,
  top,
  hits,
  expected,
} of shared("ranking")) {
  test(`ranking: ${name}`, () => {
    const similarities = {
      columns: ofPage(columns),
      means: means.map((mean) => mean ?? NaN),
      deviations,
      groups: groups && Float32Array.from(groups),
      words: words && { fused: true, strength: 3, shares: Float64Array.from(words) },
      pictures: pictures && { ...pictures, silent: Float32Array.from(silent) },
    };
    const found = rank(similarities, weights, top, scale ?? RAW);
    assert.equal(found.hits, hits);
    assert.deepEqual(
      found.list.map((hit) => hit.row),
      expected.map((each) => each.row),
    );
    near(
      found.list.map((hit) => hit.score),
      expected.map((each) => each.score),
    );
    found.list.forEach((hit, at) => {
      near(
        hit.facets.map((facet) => facet.contribution),
        expected[at].facets,
      );
      near([hit.facets.reduce((sum, facet) => sum + facet.contribution, hit.words.contribution)], [hit.score], 1e-9);
      assert.deepEqual(
        hit.facets.map((facet) => facet.present),
        columns.map((column) => column[hit.row] !== null),
      );
    });
  });
}

test("the facets are in the order of the server's columns", () => {
  assert.deepEqual(FACET_NAMES, ["image", "entity", "context", "visual", "emotions"]);
});

const THREE = {
  columns: ofPage([[0.9, 0.5, 0.1], ...Array(4).fill([null, null, null])]),
  means: [0.5, NaN, NaN, NaN, NaN],
};

test("a pinned row comes first and appears once", () => {
  const { list } = rank({ ...THREE, pinned: [1] }, { image: 1 }, 3);
  eachIs(list, ({ row, isExact }) => [row, isExact], [
    [1, true],
    [0, false],
    [2, false],
  ]);
});

test("several pinned rows are in the order of their scores", () => {
  const { list } = rank({ ...THREE, pinned: [2, 1] }, { image: 1 }, 3);
  eachIs(list, ({ row, isExact }) => [row, isExact], [
    [1, true],
    [2, true],
    [0, false],
  ]);
});

test("a result is strong, weak, or no better than by chance", () => {
  const captions = ofPage([[null, null, null], [0.9, 0.4, 0.1], ...Array(3).fill([null, null, null])]);
  const library = { columns: captions, means: [NaN, 0.3, NaN, NaN, NaN], deviations: [0, 0.2, 0, 0, 0] };
  const strengths = (more, weights = { entity: 1 }) =>
    rank({ ...library, ...more }, weights, 3).list.map(({ strength }) => strength);
  assert.deepEqual(strengths({ floor: 0.35 }), ["strong", "weak", "below"]);
  assert.deepEqual(strengths({ floor: 0.95 }), ["below", "below", "below"]);
  assert.deepEqual(strengths({ floor: null }), ["strong", "weak", "weak"], "an example or a picture was asked for");
  const words = { fused: true, strength: 3, shares: [0, 0, 1] };
  assert.deepEqual(strengths({ floor: 0.95, words }), ["below", "strong", "below"], "what was typed is in it");
  const pictures = ofPage([[0.2, 0.2, 0.2], [0.9, 0.4, 0.1], ...Array(3).fill([null, null, null])]);
  const both = { columns: pictures, means: [0.2, 0.3, NaN, NaN, NaN], deviations: [0, 0.2, 0, 0, 0], floor: 0.95 };
  assert.deepEqual(
    strengths(both, { image: 1, entity: 1 }),
    ["strong", "weak", "weak"],
    "no floor is known of pictures",
  );
});

test("disabled words add nothing, and a pinned row displaces no other", () => {
  const words = { fused: false, strength: 3, shares: [0, 0, 1] };
  const { list } = rank({ ...THREE, words, pinned: [2] }, { image: 1 }, 2);
  eachIs(list, ({ row }) => row, [2, 0, 1]);
  assert.deepEqual(list[0].words, { share: 0, gain: 0, contribution: 0 });
});

const falling = (rows) => Float32Array.from({ length: rows }, (_, at) => 1 - at / rows);
const rising = (rows) => falling(rows).reverse();
const MEANS = Array(5).fill(0.5);

test("the best rank is 1, ties share a rank, and a missing facet has none", () => {
  const places = new Places({
    columns: [Float32Array.of(0.5, 0.9, 0.5, NaN), ...Array(4).fill(new Float32Array(4))],
    means: MEANS,
  });
  eachIs([0, 1, 2, 3], (row) => places.of(row, 0), [2, 1, 2, null]);
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

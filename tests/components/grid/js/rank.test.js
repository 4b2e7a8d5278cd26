// The page ranks as Python does: both pass the cases of tests/shared/ranking.json
// (tests/store/search/test_shared_ranking.py).

import assert from "node:assert/strict";
import { test } from "node:test";

import { FACET_NAMES } from "../../../../components/grid/js/bars.js";
import { RAW, rank } from "../../../../components/grid/js/rank.js";
import { near, shared } from "../../../shared/shared.js";

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
      groups: groups && Float32Array.from(groups),
      words: words && { fused: true, strength: 3, deviations, shares: Float64Array.from(words) },
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
  assert.deepEqual(
    list.map(({ row, isExact }) => [row, isExact]),
    [
      [1, true],
      [0, false],
      [2, false],
    ],
  );
});

test("several pinned rows are in the order of their scores", () => {
  const { list } = rank({ ...THREE, pinned: [2, 1] }, { image: 1 }, 3);
  assert.deepEqual(
    list.map(({ row, isExact }) => [row, isExact]),
    [
      [1, true],
      [2, true],
      [0, false],
    ],
  );
});

test("disabled words add nothing, and a pinned row displaces no other", () => {
  const words = { fused: false, strength: 3, deviations: [1, 0, 0, 0, 0], shares: [0, 0, 1] };
  const { list } = rank({ ...THREE, words, pinned: [2] }, { image: 1 }, 2);
  assert.deepEqual(
    list.map(({ row }) => row),
    [2, 0, 1],
  );
  assert.deepEqual(list[0].words, { share: 0, gain: 0, contribution: 0 });
});

// What a drawn line encloses, and how it is sent.

import assert from "node:assert/strict";
import { test } from "node:test";

import { asBits, fromBits, within } from "../../../../components/map/js/selection.js";

test("a concave shape contains its inside but not its notch", () => {
  const corners = [
    [0, 0],
    [4, 0],
    [4, 4],
    [3, 4],
    [3, 1],
    [1, 1],
    [1, 4],
    [0, 4],
  ];
  assert.deepEqual([...within(corners, [0.5, 2, 3.5, 5], [2, 2, 2, 2])], [1, 0, 1, 0]);
});

test("self-crossing lines and removed points are handled", () => {
  assert.deepEqual(
    [
      ...within(
        [
          [0, 0],
          [4, 4],
          [4, 0],
          [0, 4],
        ],
        [2, 2, NaN],
        [1, 0.5, NaN],
      ),
    ],
    [0, 0, 0],
  );
});

test("bits are packed as NumPy unpacks them", () => {
  assert.deepEqual(
    [...Buffer.from(asBits(Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 1, 1)), "base64")],
    [0b10000001, 0b10000000],
  );
});

test("bits are read as they were packed, and a point that came later is not inside", () => {
  const inside = Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 1, 1);
  assert.deepEqual([...fromBits(asBits(inside), 20)], [...inside, ...new Array(11).fill(0)]);
  assert.deepEqual([...fromBits("", 2)], [0, 0]);
});

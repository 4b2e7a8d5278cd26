// Cases that Python and JavaScript both have to pass, and how numbers and lists are compared.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

export function shared(name) {
  return JSON.parse(readFileSync(new URL(`./${name}.json`, import.meta.url), "utf8"));
}

/** `part` of each element, in their order, is what is expected. */
export function eachIs(list, part, expected) {
  assert.deepEqual(Array.from(list, part), expected);
}

/** Each number within `tolerance` of the one expected, relative where that is above 1. */
export function near(found, expected, tolerance = 1e-12) {
  assert.equal(found.length, expected.length);
  found.forEach((number, at) =>
    assert.ok(
      Math.abs(number - expected[at]) <= tolerance * Math.max(1, Math.abs(expected[at])),
      `${number} is not ${expected[at]}`,
    ),
  );
}

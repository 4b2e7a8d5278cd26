// Cases that Python and JavaScript both have to pass.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

export function shared(name) {
  return JSON.parse(readFileSync(new URL(`./${name}.json`, import.meta.url), "utf8"));
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

// Completions for a line of words and filters; Python parses them as intended (test_completions.py).

import assert from "node:assert/strict";
import { test } from "node:test";

import { completions } from "../../../../components/grid/js/filter_line.js";
import { shared } from "../../../shared/shared.js";

for (const { name, line, keys, known, offered } of shared("completions")) {
  test(`completions: ${name}`, () =>
    assert.deepEqual(
      completions(line, keys, known).map(([text]) => text),
      offered,
    ));
}

test("nothing is offered without candidates, and never more than a dozen", () => {
  const known = Array.from({ length: 30 }, (_, at) => [`tag${at}`, "other", 30 - at]);
  assert.deepEqual(completions("tag:", ["tag"], []), []);
  assert.equal(completions("tag:t", ["tag"], known).length, 12);
});

test("each completion shows how many coins match", () => {
  assert.deepEqual(
    completions(
      "category:",
      [],
      [
        ["dog", "animals", 1_000],
        ["cat", "animals", 342],
      ],
    ),
    [["category:animals", "animals · 1,342"]],
  );
});

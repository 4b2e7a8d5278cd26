// Copying says what came of it, also where a browser has no clipboard.

import assert from "node:assert/strict";
import { test } from "node:test";

import { copied } from "../../../../components/grid/js/coin_facts.js";

test("a text is copied", async () => {
  const written = [];
  assert.equal(
    await copied("0xabc", { clipboard: { writeText: async (text) => written.push(text) }, marks: assert.fail }),
    "Copied",
  );
  assert.deepEqual(written, ["0xabc"]);
});

test("without a clipboard the text is marked", async () => {
  let isMarked = false;
  assert.match(await copied("0xabc", { clipboard: null, marks: () => (isMarked = true) }), /marked/);
  assert.equal(isMarked, true);
  const refuses = { writeText: () => Promise.reject(new Error("denied")) };
  assert.match(await copied("0xabc", { clipboard: refuses, marks: () => {} }), /marked/);
});

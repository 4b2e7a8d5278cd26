// A tag that is half typed is not taken for a new one.

import assert from "node:assert/strict";
import { test } from "node:test";

import { readTags } from "../../../../components/editor/js/tags.js";

const KNOWN = ["neon", "neon lights", "dog"];

test("known tags are found in any case, and others are new", () => {
  assert.deepEqual(readTags("Neon, quite free,, DOG ", KNOWN), {
    known: ["neon", "dog"],
    fresh: ["quite free"],
    begun: [],
  });
});

test("a misspelt tag is neither", () => {
  assert.deepEqual(readTags("noen", KNOWN), { known: [], fresh: [], begun: [{ name: "noen", near: ["neon"] }] });
  // Too short, too far.
  assert.deepEqual(readTags("dgo, done deal", KNOWN), { known: [], fresh: ["dgo", "done deal"], begun: [] });
});

test("the beginning of a known tag is neither", () => {
  assert.deepEqual(readTags("neo", KNOWN), {
    known: [],
    fresh: [],
    begun: [{ name: "neo", near: ["neon", "neon lights"] }],
  });
});

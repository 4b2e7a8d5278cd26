// The sentence about drafts of other coins that are not stored.

import assert from "node:assert/strict";

import { notStored } from "../../../../components/editor/js/bar.js";
import { test } from "../../../shared/browser.js";

const NAMES = new Map(["Frog", "Dog", "Cat", "Owl", "Fox"].map((name) => [name.toLowerCase(), name]));
const failing = (why, ...coins) => coins.map((coin) => [coin, why, false]);

test("one draft is named with its reason", () => {
  assert.equal(
    notStored(failing("the disk is full", "frog"), NAMES),
    "The draft of Frog is not stored yet: the disk is full",
  );
  assert.equal(notStored([], NAMES), "");
});

test("drafts with one reason are named in one sentence", () => {
  assert.equal(
    notStored(failing("the disk is full", "frog", "dog", "cat"), NAMES),
    "The drafts of Frog, Dog and Cat are not stored yet: the disk is full",
  );
});

test("each reason has a sentence, and of many drafts some are counted", () => {
  const all = [...failing("the disk is full", ...NAMES.keys()), ...failing("the server answered 500", "owl")];
  assert.equal(
    notStored(all, NAMES),
    "The drafts of Frog, Dog, Cat and 2 others are not stored yet: the disk is full. " +
      "The draft of Owl is not stored yet: the server answered 500",
  );
});

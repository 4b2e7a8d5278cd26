// The age of a coin is the same on every view.

import assert from "node:assert/strict";
import { test } from "node:test";

import { age, ageOf } from "../../../../components/grid/js/dom.js";

const DAY = 86_400;

test("an age is given in the largest unit that fits", () => {
  assert.equal(age(0, 30), "now");
  assert.equal(age(0, 3 * DAY), "3 d");
  assert.equal(age(0, 70 * DAY), "2 mo");
  assert.equal(age(0, 365 * DAY), "11 mo");
  assert.equal(age(0, 366 * DAY), "1 y");
});

test("a coin without a time of its own says when it was imported", () => {
  const now = Math.floor(Date.now() / 1000);
  assert.equal(ageOf({ created_at: now - 3 * DAY - 9, no_age: false }), "3 d");
  assert.equal(ageOf({ created_at: now - 3 * DAY - 9, no_age: true }), "imported 3 d ago");
  assert.equal(ageOf({ created_at: now, no_age: true }), "imported now");
});

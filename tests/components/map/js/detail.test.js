// How many points fit as pictures, worked out a few milliseconds a frame.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Detail } from "../../../../components/map/js/detail.js";

test("a map asks for another frame after the work that it has finished in one", () => {
  const detail = new Detail();
  detail.reset(new Float32Array([0, 1, 2]), new Float32Array([0, 1, 2]), new Uint8Array([1, 1, 1]));
  assert.equal(detail.fitting(0.5), 0);
  assert.ok(detail.work()); // the frame that was painted before has no picture yet
  while (detail.running) assert.ok(detail.work());
  assert.equal(detail.fitting(0.5), 3);
  assert.equal(detail.work(), false);
});

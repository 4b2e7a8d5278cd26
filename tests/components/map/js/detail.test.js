// How many points fit as pictures, worked out a few milliseconds a frame.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Detail } from "../../../../components/map/js/detail.js";

test("a map asks for another frame after the work that it has finished in one", () => {
  const detail = new Detail();
  detail.reset({ x: Float32Array.of(0, 1, 2), y: Float32Array.of(0, 1, 2), shown: Uint8Array.of(1, 1, 1) });
  assert.equal(detail.fitting(0.5), 0);
  assert.ok(detail.work()); // the frame that was painted before has no picture yet
  while (detail.running) assert.ok(detail.work());
  assert.equal(detail.fitting(0.5), 3);
  assert.equal(detail.work(), false);
});

// Two pictures are aligned before they are compared: a copy may be mirrored or scaled.

import assert from "node:assert/strict";
import { test } from "node:test";

import { aligned } from "../../../../components/grid/js/difference.js";

const SIDE = 48;
/** A picture, from its brightness at each position from -1 to 1. */
const picture = (seen) =>
  Float32Array.from({ length: SIDE * SIDE }, (_, at) =>
    seen(((at % SIDE) * 2) / (SIDE - 1) - 1, (Math.floor(at / SIDE) * 2) / (SIDE - 1) - 1),
  );
const face = (x, y) => (Math.hypot(x - 0.3, y + 0.2) < 0.35 ? 230 : 0) + (Math.abs(x + 0.5) < 0.15 ? 90 : 0) + 20 * y;

test("a picture aligns with itself unchanged", () => {
  const { scale, x, y, mirrored, cost } = aligned(picture(face), picture(face));
  assert.deepEqual({ scale, x, y, mirrored, cost }, { scale: 1, x: 0, y: 0, mirrored: false, cost: 0 });
});

test("a mirrored picture is flipped", () => {
  const place = aligned(
    picture(face),
    picture((x, y) => face(-x, y)),
  );
  assert.equal(place.mirrored, true);
  assert.ok(place.cost < 2, `${place.cost}`);
});

test("a cropped picture is scaled down", () => {
  const place = aligned(
    picture(face),
    picture((x, y) => face(x * 0.88, y * 0.88)),
  );
  assert.equal(place.mirrored, false);
  assert.ok(Math.abs(place.scale - 0.88) < 0.03, `${place.scale}`);
});

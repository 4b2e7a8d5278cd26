// Which part of the map is seen.

import assert from "node:assert/strict";
import { test } from "node:test";

import { stretchOf, View } from "../../../../components/map/js/view.js";

const XS = [0, 2, Number.NaN, 4];
const YS = [0, 1, Number.NaN, 2];

function fitted(width, height) {
  const view = new View();
  Object.assign(view, { width, height });
  view.fit(XS, YS);
  return view;
}

test("the whole map fills the view, and a point that is gone does not count", () => {
  const view = fitted(448, 448);
  assert.deepEqual([view.x, view.y, Math.round(view.scale)], [2, 1, 100]);
});

test("a map fills a wide view, within limits, and is never made narrower", () => {
  const square = [0, 0, 1, 1, Number.NaN, Number.NaN];
  assert.equal(stretchOf(square, { width: 600, height: 400 }), 1.5);
  assert.equal(stretchOf(square, { width: 4000, height: 400 }), 1.7);
  assert.equal(stretchOf(square, { width: 300, height: 400 }), 1);
  assert.equal(stretchOf([0, 0, 3, 1], { width: 600, height: 400 }), 1);
  assert.equal(stretchOf([0, 0], { width: 600, height: 400 }), 1, "one point");
});

test("the view shows the whole map until it is zoomed or moved", () => {
  const view = fitted(448, 448);
  assert.equal(view.isWhole, true);
  view.zoom(1.4);
  assert.equal(view.isWhole, false);
  view.fit(XS, YS);
  assert.equal(view.isWhole, true);
  view.move(10, 0);
  assert.equal(view.isWhole, false);
});

test("zooming keeps the place under the pointer", () => {
  const view = fitted(448, 448);
  const before = view.onMap([100, 50]);
  view.zoom(3, 100, 50);
  view.onMap([100, 50]).forEach((place, axis) => assert.ok(Math.abs(place - before[axis]) < 1e-9));
});

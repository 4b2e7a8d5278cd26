// The corner in which the tour's panel stands, and where what it marks is scrolled to.

import assert from "node:assert/strict";

import { cornerBeside, placeInWindow } from "../../../../components/shell/js/tour.js";
import { test } from "../../../shared/browser.js";

const PANEL = { width: 368, height: 190 };

function corner(box, { isMap = false } = {}) {
  Object.assign(globalThis, { innerWidth: 1440, innerHeight: 1000 });
  return cornerBeside(box, PANEL, { start: 232, isMap });
}

test("the panel stands in the corner where it covers nothing of what it marks, and not under the sidebar", () => {
  assert.equal(corner({ left: 700, right: 1370, bottom: 960 }).isLeft, true, "something on the right");
  assert.equal(corner({ left: 500, right: 1370, bottom: 960 }).isLeft, false, "there is no room beside the sidebar");
  assert.equal(corner({ left: 305, right: 520, bottom: 960 }).isLeft, false, "something on the left");
});

test("on the map the panel stands above the time slider", () => {
  const box = { left: 305, right: 1370, bottom: 960 };
  assert.ok(corner(box, { isMap: true }).raised > 1000 - box.bottom);
  assert.equal(corner(box).raised, 0);
});

test("what a stop marks is scrolled to where it is seen beside the panel", () => {
  const seen = { header: 50, panel: 190 };
  assert.equal(placeInWindow({ top: 300, bottom: 1900, height: 1600 }, seen), "start", "higher than the window");
  assert.equal(placeInWindow({ top: 900, bottom: 950, height: 50 }, seen), "center", "below the panel's upper edge");
  assert.equal(placeInWindow({ top: 20, bottom: 70, height: 50 }, seen), "center", "below the header of the page");
  assert.equal(placeInWindow({ top: 300, bottom: 350, height: 50 }, seen), "nearest", "visible as it is");
  assert.equal(
    placeInWindow({ top: 300, bottom: 950, height: 650 }, seen),
    "nearest",
    "too high to be seen beside the panel",
  );
});

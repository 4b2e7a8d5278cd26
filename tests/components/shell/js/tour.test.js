// The corner in which the tour's panel stands.

import assert from "node:assert/strict";

import { cornerBeside } from "../../../../components/shell/js/tour.js";
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

// The corner in which the tour's panel stands.

import assert from "node:assert/strict";

import { isBetterLeft } from "../../../../components/shell/js/tour.js";
import { test } from "../../../shared/browser.js";

const PANEL = { width: 368, height: 190 };

test("the panel stands where it covers less of what it marks", () => {
  Object.assign(globalThis, { innerWidth: 1440, innerHeight: 1000 });
  assert.equal(isBetterLeft({ left: 305, right: 1370, bottom: 960 }, PANEL), true, "the map, with its time slider on the right");
  assert.equal(isBetterLeft({ left: 305, right: 520, bottom: 960 }, PANEL), false, "something on the left");
  assert.equal(isBetterLeft({ left: 305, right: 1370, bottom: 300 }, PANEL), false, "something above both corners");
});

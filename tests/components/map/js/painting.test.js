// A map that takes long to paint follows a drag as a picture.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Painting } from "../../../../components/map/js/painting.js";

const VIEW = { x: 0, y: 0, scale: 100, width: 800, height: 400 };

const canvas = () => ({ style: {}, getContext: () => ({}) });

function painted() {
  const painting = new Painting(canvas());
  painting.begin(VIEW);
  return painting;
}

test("what is painted slides to where the map was dragged", () => {
  const painting = painted();
  assert.ok(painting.slide({ ...VIEW, x: -0.5, y: 0.25 }));
  assert.equal(painting.canvas.style.transform, "translate(50px, -25px)");
  painting.begin({ ...VIEW, x: -0.5, y: 0.25 });
  assert.equal(painting.canvas.style.transform, "", "painted again, it stands in its place");
});

test("it is painted again before much of the edge is empty, and with another scale", () => {
  assert.ok(!painted().slide({ ...VIEW, x: 1.1 }), "more than an eighth of 800 px");
  assert.ok(!painted().slide({ ...VIEW, y: -0.6 }));
  assert.ok(!painted().slide({ ...VIEW, scale: 120 }));
  assert.ok(!new Painting(canvas()).slide(VIEW), "nothing is painted yet");
});

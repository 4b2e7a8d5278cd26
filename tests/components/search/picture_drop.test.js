// The field for a picture to search with.

import assert from "node:assert/strict";

import pictureDrop from "../../../components/search/picture_drop.js";
import { test } from "../../shared/browser.js";

const node = (more) => ({ classList: { toggle() {}, add() {}, remove() {} }, textContent: "", ...more });

test("a file chosen before the script loaded is handled", (t) => {
  const found = {
    ".well": node(),
    input: node({ files: [{ type: "text/plain", size: 3 }], value: "lie.txt" }),
    ".hint": node(),
  };
  globalThis.document = { addEventListener() {}, removeEventListener() {} };
  t.after(() => delete globalThis.document);
  pictureDrop({
    parentElement: { querySelector: (name) => found[name] },
    setTriggerValue: () => assert.fail("it is no picture"),
  });
  assert.equal(found[".hint"].textContent, "That is not a picture");
  assert.equal(found.input.value, "");
});

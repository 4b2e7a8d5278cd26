// The field for a picture to search with.

import assert from "node:assert/strict";

import pictureDrop from "../../../components/search/picture_drop.js";
import { test } from "../../shared/browser.js";

class HTMLElement {
  classList = { toggle() {}, add() {}, remove() {} };
}
class HTMLInputElement extends HTMLElement {
  files = [{ type: "text/plain", size: 3 }];
  value = "lie.txt";
}

test("a file chosen before the script loaded is handled", (t) => {
  const found = {
    ".well": new HTMLElement(),
    input: new HTMLInputElement(),
    ".hint": new HTMLElement(),
  };
  Object.assign(globalThis, { document: { addEventListener() {} }, HTMLElement, HTMLInputElement });
  t.after(() => ["document", "HTMLElement", "HTMLInputElement"].forEach((name) => delete globalThis[name]));
  pictureDrop({
    parentElement: { querySelector: (name) => found[name] },
    setTriggerValue: () => assert.fail("it is no picture"),
  });
  assert.equal(found[".hint"].textContent, "That is not a picture");
  assert.equal(found.input.value, "");
});

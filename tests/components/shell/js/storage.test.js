// What a tab keeps; without room for it, nothing else is lost.

import assert from "node:assert/strict";

import { keptInTab } from "../../../../components/shell/js/storage.js";
import { test } from "../../../shared/browser.js";

test("a value is kept for this tab until it is emptied", () => {
  const kept = keptInTab("form");
  assert.equal(kept.read(), null);
  kept.write({ decision: "1" });
  assert.deepEqual(keptInTab("form").read(), { decision: "1" });
  kept.write(null);
  assert.deepEqual([kept.read(), sessionStorage.getItem("form")], [null, null]);
});

test("a full storage stops nobody: what is decided is sent all the same", () => {
  sessionStorage.setItem = () => {
    throw new DOMException("no room", "QuotaExceededError");
  };
  const kept = keptInTab("form");
  kept.write({ decision: "1" });
  assert.equal(kept.read(), null);
});

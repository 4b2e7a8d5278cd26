// Messages of the stream, which arrive in pieces of any size.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Messages } from "../../../../components/shell/js/connection.js";

test("a message that comes in pieces is read once it is whole", () => {
  const messages = new Messages();
  assert.deepEqual(messages.read("da"), []);
  assert.deepEqual(messages.read('ta: {"at":1}\n'), []);
  assert.deepEqual(messages.read('\ndata: {"at":2}\n\ndata: {"a'), [{ at: 1 }, { at: 2 }]);
  assert.deepEqual(messages.read('t":3}\n\n'), [{ at: 3 }]);
});

test("a comment is no message", () => {
  assert.deepEqual(new Messages().read(': the stream is open\n\n:\n\ndata: {"at":1}\n\n:\n\n'), [{ at: 1 }]);
});

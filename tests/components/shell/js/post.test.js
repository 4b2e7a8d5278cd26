// What must be done once is sent again only where nobody knows whether it was done.

import assert from "node:assert/strict";
import { test } from "node:test";

import { post } from "../../../../components/shell/js/post.js";

/** The answer to one request; `keys` has the key of each time it was sent. A status is an answer, null is none. */
async function sent(t, statuses) {
  t.mock.method(globalThis, "setTimeout", (go) => queueMicrotask(go));
  const keys = [];
  t.mock.method(globalThis, "fetch", async (_, { body }) => {
    keys.push(JSON.parse(body).key);
    const status = statuses.shift();
    if (!status) throw new TypeError("no connection");
    return new Response(`${status}`, { status });
  });
  return { ...(await post("/form", { key: "once" })), keys };
}

for (const status of [200, 409, 500, 503]) {
  test(`an answer ${status} of the server itself is the answer`, async (t) => {
    assert.deepEqual(await sent(t, [status, 200]), { status, text: `${status}`, keys: ["once"] });
  });
}

test("a request without an answer of the server is sent again with its key", async (t) => {
  assert.deepEqual(await sent(t, [null, 502, 200]), { status: 200, text: "200", keys: ["once", "once", "once"] });
  const { status, keys } = await sent(t, []);
  assert.deepEqual([status, keys.length], [0, 4]);
});

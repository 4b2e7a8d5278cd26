// A message is sent again only where another try may help, each time with the same content.

import assert from "node:assert/strict";
import { test } from "node:test";

import { isOwn, newId, post } from "../../../../components/shell/js/post.js";

const SERVER = { url: "/message", token: "t" };

/** The answer to one message; `sent` is each request. A status is an answer, null is none. */
async function sent(t, statuses, message = { decision: "once" }, options = { tries: 4 }) {
  t.mock.method(globalThis, "setTimeout", (go) => queueMicrotask(go));
  const requests = [];
  t.mock.method(globalThis, "fetch", async (url, { body, keepalive }) => {
    requests.push({ url, keepalive, ...JSON.parse(body) });
    const status = statuses.shift();
    if (!status) throw new TypeError("no connection");
    return new Response(`${status}`, {
      status,
      headers: { "Content-Type": status === 200 ? "application/json" : "text/plain" },
    });
  });
  return { ...(await post(SERVER, "form", message, options)), requests };
}

for (const status of [409, 500, 503]) {
  test(`an answer ${status} of the server itself is the answer`, async (t) => {
    const { requests, ...answer } = await sent(t, [status, 200]);
    assert.deepEqual(answer, { status, text: `${status}` });
    assert.equal(requests.length, 1);
  });
}

test("a message without an answer of the server is sent again with its decision", async (t) => {
  const { requests, ...answer } = await sent(t, [null, 502, 200]);
  assert.deepEqual(answer, { status: 200, text: "", answer: 200 });
  assert.deepEqual(requests, Array(3).fill({ url: "/message/form", keepalive: true, token: "t", decision: "once" }));
  assert.equal((await sent(t, [])).requests.length, 4);
});

test("a page that comes in place of the answer is none", async (t) => {
  t.mock.method(globalThis, "fetch", async () => new Response("<body>", { headers: { "Content-Type": "text/html" } }));
  assert.deepEqual(await post(SERVER, "form", {}), { status: 0, text: "" });
  t.mock.method(globalThis, "fetch", async () => new Response("pixels", { headers: { "Content-Type": "image/webp" } }));
  assert.equal(await (await post(SERVER, "map-sprites", {})).answer.text(), "pixels");
});

test("a message is tried once where nobody asks for more", async (t) => {
  const { status, text, requests } = await sent(t, [], {}, {});
  assert.deepEqual([status, text, requests.length], [0, "", 1]);
});

test("what is too long to outlive its page is sent all the same", async (t) => {
  // 64,000 bytes of 32,000 characters
  const [emoji] = (await sent(t, [200], { text: "\u{1f438}".repeat(16_000) })).requests;
  assert.equal(emoji.keepalive, false);
  assert.equal((await sent(t, [200], {}, { keepalive: false })).requests[0].keepalive, false);
});

test("ids are UUIDs, and a tab knows its own", () => {
  const id = newId();
  assert.match(id, /^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
  assert.notEqual(id, newId());
  assert.deepEqual([isOwn(id), isOwn("0".repeat(32))], [true, false]);
});

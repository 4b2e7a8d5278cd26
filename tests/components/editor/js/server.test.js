// The editor's requests: a refused token is renewed, and a message says where the text is kept.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Server } from "../../../../components/editor/js/server.js";

/** The server's answers to `ask`, one after the other: a status with a text, or null for no answer. */
async function asked(t, answers, { data = { server: { token: "old", url: "/message" } }, renew = () => {} } = {}) {
  t.mock.method(globalThis, "fetch", async () => {
    const answer = answers.shift();
    if (!answer) throw new TypeError("no connection");
    return new Response(answer[1], { status: answer[0], headers: { "Content-Type": "application/json" } });
  });
  const server = new Server(() => data, { renew });
  return () => server.ask("keep", {}).catch((error) => error.message);
}

test("a refused token is renewed once and the text is kept", async (t) => {
  const renewed = [],
    data = { server: { token: "old", url: "/message" } };
  const ask = await asked(t, Array(3).fill([401, "this page is too old"]), {
    data,
    renew: () => renewed.push(data.server.token),
  });
  await ask();
  assert.equal(await ask(), "this page is too old; your words are kept in this browser");
  data.server.token = "new";
  await ask();
  assert.deepEqual(renewed, ["old", "new"]);
});

test("a token is requested again after ten seconds, then twenty: the page may have had no connection", async (t) => {
  t.mock.timers.enable({ apis: ["Date"] });
  let requests = 0;
  const ask = await asked(t, Array(5).fill([403, "this page has expired"]), { renew: () => (requests += 1) });
  for (const [pause, sent] of [
    [0, 1],
    [9_999, 1],
    [1, 2],
    [19_999, 2],
    [1, 3],
  ]) {
    t.mock.timers.tick(pause);
    await ask();
    assert.equal(requests, sent);
  }
});

test("a missing answer, an error and a success are told apart", async (t) => {
  const ask = await asked(t, [
    null,
    [500, "oh"],
    [503, "the disk is full"],
    [409, "it is rejected; restore it first"],
    [200, '{"saved": 1}'],
  ]);
  assert.match(await ask(), /cannot be reached; your words are kept/);
  assert.equal(await ask(), "the server answered 500");
  assert.equal(await ask(), "the disk is full; your words are kept in this browser");
  assert.equal(await ask(), "it is rejected; restore it first");
  assert.deepEqual(await ask(), { saved: 1 });
});

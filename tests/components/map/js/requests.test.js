// What a map lacks is requested one at a time, until nothing is lacking.

import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";

import { Requests } from "../../../../components/map/js/requests.js";

afterEach(() => mock.reset());

/** Requests for these numbers, whose answers are these; `sent` is what went out. */
function requestsFor(numbers, answers) {
  const [sent, came] = [[], []];
  globalThis.fetch = async (_, { body }) => {
    sent.push(JSON.parse(body).number);
    const answer = answers.shift();
    if (answer === undefined) throw new Error("away");
    return new Response(JSON.stringify({ of: sent.at(-1) }), {
      status: answer,
      headers: { "Content-Type": "application/json" },
    });
  };
  const requests = new Requests({
    lacking: () =>
      numbers.length ? { server: { url: "/message", token: "" }, message: { number: numbers[0] } } : null,
    came: (message, answer) => came.push([numbers.shift(), answer.of]),
  });
  return { requests, sent, came };
}

test("all that is lacking is requested, once each", async () => {
  const { requests, sent, came } = requestsFor([1, 2, 3], [200, 200, 200]);
  await Promise.all([requests.run(), requests.run()]);
  assert.deepEqual(sent, [1, 2, 3]);
  assert.deepEqual(came, [
    [1, 1],
    [2, 2],
    [3, 3],
  ]);
});

test("a server that is away is asked again, later each time", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { requests, sent, came } = requestsFor([1], [undefined, 500, 200]);
  await requests.run();
  assert.equal(sent.length, 1);
  for (const wait of [500, 1000]) {
    mock.timers.tick(wait);
    for (let turn = 0; turn < 20; turn += 1) await null;
  }
  assert.deepEqual(came, [[1, 1]]);
  assert.equal(sent.length, 3);
});

test("a refusal is not asked again before the page's next run", async () => {
  const { requests, sent } = requestsFor([1], [403, 200]);
  await requests.run();
  assert.deepEqual(sent, [1]);
  await requests.run();
  assert.deepEqual(sent, [1, 1]);
});

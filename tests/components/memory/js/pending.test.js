// Each key press is one decision, sent in order and once, and none is lost.

import assert from "node:assert/strict";
import { test } from "node:test";

import { PendingQueue } from "../../../../components/memory/js/pending.js";
import { eachIs } from "../../../shared/shared.js";

const later = async () => {
  for (let turn = 0; turn < 30; turn += 1) await null;
};

const done = (at) => [200, JSON.stringify({ at })];

/** A queue of three entries, with a server that gives these answers; `log` has what was sent and the runs. */
function queueWith(answers, kept = null) {
  const log = { sent: [], runs: 0, kept };
  const store = { read: () => log.kept, write: (requests) => (log.kept = requests && [...requests]) };
  const sent = async ({ token }, _, { decision, values }) => {
    log.sent.push({ decision, verb: values.verb, id: values.id, token });
    const [status, text] = answers.shift() ?? [0, ""];
    return status === 200 ? { status, text: "", answer: JSON.parse(text) } : { status, text };
  };
  const queue = new PendingQueue({ store, sent, changed: () => {} });
  const draw = (ids = ["one", "two", "three"], token = "first", at = 1) =>
    queue.take(
      { server: { url: "/message", token }, form: "f", at, entries: ids.map((id) => ({ id })) },
      () => (log.runs += 1),
    );
  draw();
  return { queue, log, draw, ids: () => queue.entries.map(({ id }) => id) };
}

test("two quick presses are two decisions, in their order, and one run", async () => {
  const { queue, log, draw, ids } = queueWith([done(2), done(2)]);
  queue.decide("accept", "one");
  queue.decide("reject", "two");
  assert.deepEqual(ids(), ["three"]);
  await later();
  eachIs(log.sent, ({ verb, id }) => [verb, id], [
    ["accept", "one"],
    ["reject", "two"],
  ]);
  assert.notEqual(log.sent[0].decision, log.sent[1].decision);
  assert.deepEqual([log.runs, log.kept, ids()], [1, null, ["three"]]);
  draw();
  assert.deepEqual(ids(), ["three"], "a run that began before knows nothing of it");
  draw(["one", "three"], "first", 3);
  assert.deepEqual(ids(), ["one", "three"], "an undo brings it back");
});

test("a decision that was refused says why, and its card is there again", async () => {
  const { queue, log, ids } = queueWith([[409, "the model is away"]]);
  queue.decide("accept", "one");
  await later();
  assert.deepEqual([queue.error, log.kept, ids()], ["the model is away", null, ["one", "two", "three"]]);
});

test("while the server is away decisions are kept, and sent with the same keys after a reload", async () => {
  const { queue, log } = queueWith([[0, ""]]);
  queue.decide("accept", "one");
  await later();
  assert.match(queue.error, /kept/);
  const again = queueWith([done(2)], log.kept);
  await later();
  assert.equal(again.log.sent[0].decision, log.sent[0].decision);
  assert.deepEqual([again.log.kept, again.ids()], [null, ["two", "three"]]);
});

test("an outdated token asks for a run of the page, once", async () => {
  const { queue, log, draw } = queueWith([[404, ""], done(2)]);
  queue.decide("accept", "one");
  await later();
  assert.deepEqual([log.runs, log.sent.length], [1, 1]);
  draw(undefined, "second");
  await later();
  eachIs(log.sent, ({ token }) => token, ["first", "second"]);
  assert.equal(log.sent[0].decision, log.sent[1].decision);
});

test("an undo of a decision that was refused undoes no earlier one", async () => {
  const { queue, log } = queueWith([[409, "the model is away"], done(2)]);
  queue.decide("accept", "one");
  queue.decide("undo");
  queue.decide("reject", "two");
  await later();
  assert.deepEqual([queue.error, log.kept.map(({ values }) => values.verb)], ["the model is away", ["reject"]]);
});

test("among later decisions, the undo of the refused one is found and dropped", async () => {
  const { queue, log, draw } = queueWith([[409, "the model is away"], done(2), done(3)]);
  queue.decide("accept", "one");
  queue.decide("reject", "two");
  queue.decide("undo");
  queue.decide("undo");
  for (let run = 0; run < 3; run += 1) {
    await later();
    draw();
  }
  eachIs(log.sent, ({ verb }) => verb, ["accept", "reject", "undo"]);
  assert.equal(log.kept, null);
});

test("an undo that is refused drops no other undo", async () => {
  const { queue, log } = queueWith([[409, "that was changed since"]]);
  queue.decide("undo");
  queue.decide("undo");
  await later();
  eachIs(log.kept, ({ values }) => values.verb, ["undo"]);
});

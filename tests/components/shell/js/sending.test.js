// A form is sent once for each time that somebody sends it, and what was typed is kept until that is confirmed.

import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";

import { Sending } from "../../../../components/shell/js/sending.js";
import { eachIs } from "../../../shared/shared.js";

afterEach(() => mock.timers.reset());

const later = async () => {
  for (let turn = 0; turn < 20; turn += 1) await null;
};

/** A form that was drawn at 1 s, with a server that gives these answers; `log` has what was sent and the runs. */
function formWith(answers, { kept = null, rest } = {}) {
  mock.timers.enable({ apis: ["setTimeout"] });
  const log = { sent: [], runs: 0, kept };
  const store = { read: () => log.kept, write: (request) => (log.kept = request) };
  const sent = async ({ token }, _, { decision, values }) => {
    log.sent.push({ decision, values, token });
    const [status, text] = answers.shift() ?? [0, ""];
    return status === 200 ? { status, text: "", answer: JSON.parse(text) } : { status, text };
  };
  const sending = new Sending({ store, sent, rest, changed: () => {} });
  const draw = (at, token = "first") =>
    sending.take({ server: { url: "/message", token }, form: "f", at, afterRun: Boolean(rest) }, () => (log.runs += 1));
  draw(1);
  return { sending, log, draw };
}

const done = (at) => [200, JSON.stringify({ at })];

test("a form is empty only once a run of the page shows what was confirmed", async () => {
  const { sending, log, draw } = formWith([done(2)]);
  sending.values = { name: "frogs" };
  sending.send({ name: "frogs" });
  sending.send({ name: "frogs" }); // a second click
  await later();
  assert.deepEqual([log.sent.length, log.runs, log.kept], [1, 1, null]);
  assert.deepEqual(sending.values, { name: "frogs" });
  draw(1.5); // a run that began before
  assert.deepEqual(sending.values, { name: "frogs" });
  draw(3);
  assert.deepEqual(sending.values, {});
});

test("what is refused says why, keeps the text, and is another request after that", async () => {
  const { sending, log } = formWith([[409, "the name is taken"], done(2)]);
  sending.values = { name: "frogs" };
  sending.send({ name: "frogs" });
  await later();
  assert.deepEqual([sending.error, sending.values, log.runs], ["the name is taken", { name: "frogs" }, 0]);
  sending.send({ name: "toads" });
  await later();
  assert.notEqual(log.sent[0].decision, log.sent[1].decision);
  assert.equal(sending.error, "");
});

test("after the server was away, the same text is the same request", async () => {
  const { sending, log } = formWith([[0, ""], done(2)]);
  sending.send({ name: "frogs" });
  await later();
  assert.match(sending.error, /kept/);
  assert.deepEqual(log.kept.values, { name: "frogs" });
  sending.send({ name: "frogs" });
  await later();
  assert.equal(log.sent[0].decision, log.sent[1].decision);
});

test("a page that has to be run first is run, and the same request is sent with its token", async () => {
  const { sending, log, draw } = formWith([[404, "run first"], done(3)]);
  sending.send({ name: "frogs" });
  await later();
  assert.equal(log.runs, 1);
  draw(2, "second");
  await later();
  eachIs(log.sent, ({ token }) => token, ["first", "second"]);
  assert.equal(log.sent[0].decision, log.sent[1].decision);
  assert.equal(log.kept, null);
});

test("who may not send it is told so after one run", async () => {
  const { sending, log, draw } = formWith([
    [403, "viewers change nothing"],
    [403, "viewers change nothing"],
  ]);
  sending.send({});
  await later();
  draw(2);
  await later();
  assert.deepEqual([sending.error, log.sent.length], ["viewers change nothing", 2]);
});

test("a run that does not come is asked for again", async () => {
  const { sending, log } = formWith([done(2)]);
  sending.send({});
  await later();
  mock.timers.tick(3000);
  assert.equal(log.runs, 2);
});

test("a request that waited for its confirmation is sent again when the page is loaded again", async () => {
  const { sending, log } = formWith([done(2)], { kept: { decision: "earlier", values: { name: "frogs" } } });
  await later();
  eachIs(log.sent, ({ decision, values }) => ({ decision, values }), [
    { decision: "earlier", values: { name: "frogs" } },
  ]);
  assert.equal(sending.request, null);
});

test("a press that depends on other fields waits for their run, and is sent once with what it brings", async () => {
  let atRest;
  const { sending, log, draw } = formWith([done(3)], { rest: () => new Promise((go) => (atRest = go)) });
  sending.send({});
  sending.send({}); // a second click
  await later();
  assert.deepEqual([log.sent.length, sending.isBusy, Boolean(log.kept)], [0, true, true]);
  draw(2, "second");
  atRest(true);
  await later();
  eachIs(log.sent, ({ token }) => token, ["second"]);
});

test("a press whose page does not come to rest says so, and sends nothing", async () => {
  const { sending, log } = formWith([], { rest: async () => false });
  sending.send({});
  await later();
  assert.equal(log.sent.length, 0);
  assert.match(sending.error, /does not show yet/);
});

test("what is typed after the server was away is sent by a click alone", async () => {
  const { sending, log, draw } = formWith([[0, ""], done(3)]);
  sending.values = { name: "frogs" };
  sending.send({ name: "frogs" });
  await later();
  Object.assign(sending, { values: { name: "frogs and toads" }, error: "" });
  draw(2);
  await later();
  assert.equal(log.sent.length, 1);
  assert.deepEqual(sending.values, { name: "frogs and toads" });
  sending.send(sending.values);
  await later();
  eachIs(log.sent, ({ values }) => values.name, ["frogs", "frogs and toads"]);
});

test("what is typed is sent with the base of the form at the moment of typing", async () => {
  const { sending, log } = formWith([[409, "changed"], done(9)]);
  const draw = (at, base) =>
    sending.take({ server: { url: "/message", token: "first" }, form: "f", at, base: { base } }, () => {});
  draw(2, "old");
  sending.type("text", "owls and cats");
  draw(3, "new");
  assert.deepEqual(sending.values, { base: "old", text: "owls and cats" });
  sending.send({ text: "owls and cats" });
  await later();
  assert.equal(sending.error, "changed");
  assert.deepEqual(sending.values.text, "owls and cats");
  sending.values = {};
  sending.send({ text: "owls" }); // without typing
  await later();
  eachIs(log.sent, ({ values }) => values, [
    { base: "old", text: "owls and cats" },
    { base: "new", text: "owls" },
  ]);
});

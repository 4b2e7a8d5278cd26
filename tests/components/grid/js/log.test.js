// The log of decisions: an entry stays until the server confirms it, and is only sent to where it was made.

import assert from "node:assert/strict";

import { DecisionLog } from "../../../../components/grid/js/log.js";
import { test } from "../../../shared/browser.js";
import { shared } from "../../../shared/shared.js";

const PLACE = { library: "a library", who: "ann@x.org", session: "one" };
const APPROVE = { verb: "approve", addresses: ["local-a"], seen: { "local-a": 1 } };

function opened(place = PLACE, options = {}) {
  const sent = [];
  const log = new DecisionLog("pending", { place, send: (contents) => sent.push(contents), waits: () => {}, ...options });
  log.sendSoon = () => log.sendNow(); // immediately: the delay is not under test
  log.sendAgain = () => {};
  return { log, sent };
}

function ended(log) {
  clearTimeout(log.timer);
}

for (const { name, place, boot, made, sent } of shared("decision_log")) {
  test(`sent: ${name}`, () => {
    const { log } = opened(place);
    Object.assign(log, { client: "page", boot });
    for (const entry of made) log.add(entry);
    assert.deepEqual(log.contents(), sent);
    ended(log);
  });
}

test("confirmed entries leave the log, the rest are sent again", () => {
  const { log, sent } = opened();
  for (let n = 1; n <= 3; n++) log.add(APPROVE).cursor = `local-${n}`;
  const results = [1, 2].map((n) => ({ n, refused: [], message: `${n}` }));
  const news = results.map((result) => ({ ...result, cursor: `local-${result.n}` }));
  assert.deepEqual(log.confirm({ [log.client]: { n: 2, results } }), news, "each with where the cursor was");
  assert.deepEqual(log.entries.map(({ n }) => n), [3]);
  assert.deepEqual(log.confirm({ [log.client]: { n: 2, results } }), [], "a repeated answer reports nothing new");
  log.sendNow();
  assert.deepEqual(sent.at(-1).entries.map(({ n, cursor }) => [n, cursor]), [[3, undefined]]);
  assert.notEqual(sent.at(-1).sending, sent.at(-2).sending, "equal values are not looked at");
  ended(log);
});

test("unconfirmed entries of a closed tab are sent by the next one", () => {
  const { log } = opened();
  log.add(APPROVE);
  ended(log);
  const { log: next } = opened();
  assert.deepEqual(next.contents().others[log.client].map(({ n, verb }) => [n, verb]), [[1, "approve"]]);
  next.confirm({ [log.client]: { n: 1, results: [] } });
  assert.ok(next.isEmpty);
  assert.ok(opened().log.isEmpty, "it is no longer stored in the browser");
});

test("a viewer's page sends nothing, and entries wait for a page that can decide", () => {
  const { log } = opened();
  log.add(APPROVE);
  ended(log);
  assert.ok(opened(PLACE, { canDecide: false }).log.isEmpty);
  assert.ok(!opened().log.isEmpty);
});

test("decisions of other people and libraries stay and are reported once", () => {
  for (const place of [{ ...PLACE, who: "ben" }, { ...PLACE, who: "ben" }, { ...PLACE, library: "another" }]) {
    const { log } = opened(place);
    log.add(APPROVE);
    ended(log);
  }
  const { log } = opened();
  assert.ok(log.isEmpty);
  assert.equal(log.nameForeign(), "2 decisions of ben will be stored when ben opens this library here again. 1 decision made in another library will be stored when it is opened here again.");
  assert.equal(opened().log.nameForeign(), "");
  assert.equal(Object.keys(opened({ ...PLACE, who: "ben" }).log.others).length, 2);
});

test("a decision that the route confirms needs no run of the page, and stays in effect until the cards show it", async () => {
  const { log, sent } = opened();
  Object.assign(log, { beacon: { url: "/decisions", token: "t" }, shown: 5 });
  const heard = waiting();
  const posted = [];
  log.heard = (confirmed) => heard.resolve(log.confirm(confirmed));
  globalThis.fetch = async (url, { body }) => {
    posted.push([url, JSON.parse(body)]);
    return { status: 200, json: async () => ({ confirmed: { [log.client]: { n: 1, results: [{ n: 1, generation: 6, refused: [{ item: "local-b", reason: "gone" }] }] } } }) };
  };
  const entry = log.add({ ...APPROVE, addresses: ["local-a", "local-b"] });
  entry.effect = { hide: ["local-a", "local-b"] };
  await heard.promise;
  assert.deepEqual(sent, []);
  assert.deepEqual(posted.map(([url, { token, entries }]) => [url, token, entries.length]), [["/decisions", "t", 1]]);
  assert.ok(log.isEmpty);
  assert.deepEqual(log.news.map(({ effect }) => effect.hide), [["local-a"]], "what was refused is shown again");
  log.shown = 6;
  log.confirm({});
  assert.deepEqual(log.news, []);
  ended(log);
});

for (const [name, answer] of [["refuses", async () => ({ status: 403 })], ["cannot be reached", async () => { throw new Error("away"); }], ["leaves a verb of the page undone", async () => ({ status: 200, json: async () => ({ confirmed: {} }) })]]) {
  test(`a decision goes by a run of the page if the route ${name}`, async () => {
    const asked = waiting();
    const { log } = opened();
    Object.assign(log, { beacon: { url: "/decisions", token: "t" }, send: asked.resolve });
    globalThis.fetch = answer;
    log.add(APPROVE);
    assert.deepEqual((await asked.promise).entries.map(({ verb }) => verb), ["approve"]);
    ended(log);
  });
}

test("what leads to another page is sent by a run of this one at once", () => {
  const { log, sent } = opened();
  log.beacon = { url: "/decisions", token: "t" };
  globalThis.fetch = () => assert.fail("the route cannot turn pages");
  log.add({ verb: "next", addresses: [], seen: {}, goes: "page" });
  assert.equal(sent.length, 1);
  ended(log);
});

function waiting() {
  let resolve;
  return { promise: new Promise((done) => (resolve = done)), resolve: (value) => resolve(value) };
}

test("decisions are sent even without local storage", () => {
  Object.defineProperty(globalThis, "localStorage", { get: () => { throw new Error("switched off"); }, configurable: true });
  const { log, sent } = opened();
  log.add(APPROVE);
  assert.equal(sent.at(-1).entries.length, 1);
  ended(log);
});

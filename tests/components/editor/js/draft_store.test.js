// Drafts are stored in the browser immediately, separately for each library, and sent until the server has them.

import assert from "node:assert/strict";

import { DraftStore } from "../../../../components/editor/js/draft_store.js";
import { test } from "../../../shared/browser.js";
import { eachIs } from "../../../shared/shared.js";

const DRAFT = { caption: { entity: "a dog" }, tags: [] };

/** `answers`: what the server says, one after the other; an error is thrown. */
function opened({ library = "id of one", answers = [] } = {}) {
  const asked = [],
    message = [],
    told = [],
    elsewhere = [];
  const store = new DraftStore({
    ask: async (verb, body) => {
      asked.push([verb, body.draft?.caption?.entity ?? null]);
      const answer = answers.shift() ?? {};
      if (answer instanceof Error) throw answer;
      return answer;
    },
    beacon: (verb, body) => asked.push([verb, body.draft?.caption?.entity ?? null, "beacon"]),
    say: (state, _, address) => (message.push(state), told.push([state, address])),
    elsewhere: (address, draft) => elsewhere.push([address, draft]),
  });
  store.place = `${library}:ann`;
  return { store, asked, message, told, elsewhere };
}

test("a draft stays in the browser until the server has it", async () => {
  const { store, asked, message } = opened();
  store.keep("coin", DRAFT);
  assert.deepEqual(opened().store.open("coin", null).caption, DRAFT.caption);
  await store.send();
  assert.deepEqual(asked, [["keep", "a dog"]]);
  assert.deepEqual(message, ["keeping", "draft"]);
  assert.equal(opened().store.open("coin", null), null);
});

test("a draft that the server refuses stays in the browser and is sent again", async () => {
  const { store, asked, message } = opened({ answers: [new Error("away"), new Error("full")] });
  store.keep("coin", DRAFT);
  for (let time = 0; time < 3; time++) await store.send();
  eachIs(asked, ([verb]) => verb, ["keep", "keep", "keep"]);
  assert.deepEqual(message, ["keeping", "failed", "failed", "draft"]);
  assert.equal(store.waiting.size, 0);
});

test("text typed during a request does not count as stored", async () => {
  const { store } = opened();
  store.keep("coin", DRAFT);
  const sending = store.send();
  store.keep("coin", { ...DRAFT, caption: { entity: "a doge" } });
  await sending;
  assert.equal(store.waiting.get("coin").caption.entity, "a doge");
  assert.equal(opened().store.open("coin", null).caption.entity, "a doge");
  clearTimeout(store.timer);
});

test("another window's draft is shown, and this window's stays in the browser", async () => {
  const theirs = { client: "other", n: 1, caption: { entity: "a cat" } };
  const { store, elsewhere } = opened({ answers: [{ elsewhere: theirs }] });
  store.keep("coin", DRAFT);
  await store.send();
  assert.deepEqual(elsewhere, [["coin", theirs]]);
  assert.equal(store.waiting.size, 0, "it is not sent over theirs");
  assert.deepEqual(opened().store.open("coin", theirs).caption, DRAFT.caption);
});

const words = (entity) => ({ ...DRAFT, caption: { entity } });

test("words that wait for a choice outlive what another window keeps and the server confirms", async () => {
  const first = opened().store,
    other = opened().store;
  first.hold("coin", words("of the first"));
  other.keep("coin", words("of the other"));
  await other.send();
  const theirs = { ...words("of the other"), client: other.client, n: other.n };
  assert.equal(opened().store.open("coin", theirs).caption.entity, "of the first");
  other.drop("coin");
  assert.equal(opened().store.open("coin", null).caption.entity, "of the first");
  clearTimeout(other.timer);
});

test("the newest words are gone on with, and every other window's are compared once", (t) => {
  let now = 0;
  t.mock.method(Date, "now", () => ++now);
  const windows = ["one", "two", "three"].map((entity) => [opened().store, entity]);
  for (const [store, entity] of windows) store.hold("coin", words(entity));
  const { store } = opened();
  assert.equal(store.open("coin", null).caption.entity, "three");
  store.hold("coin", words("three and more"));
  for (const entity of ["two", "one"]) {
    const slot = store.nextOther("coin");
    assert.equal(slot.draft.caption.entity, entity);
    if (entity === "two") store.remove(slot); // chosen between; the page goes away before the last one is
  }
  assert.equal(store.nextOther("coin"), null);
  const next = opened().store;
  assert.equal(next.open("coin", null).caption.entity, "three and more");
  assert.equal(next.nextOther("coin").draft.caption.entity, "one");
  assert.equal(next.nextOther("coin"), null);
});

test("a window's own words come first, and what it has written since a comparison stays", () => {
  const mine = opened().store,
    other = opened().store;
  mine.hold("coin", words("mine"));
  other.hold("coin", words("theirs"));
  assert.equal(mine.open("coin", null).caption.entity, "mine");
  const slot = mine.nextOther("coin");
  other.hold("coin", words("theirs and more"));
  mine.remove(slot);
  mine.open("coin", null);
  assert.equal(mine.nextOther("coin").draft.caption.entity, "theirs and more");
});

test("words of one coin are never another's, even if their addresses are alike", () => {
  const { store } = opened();
  store.hold("a:coin", words("long"));
  assert.equal(opened().store.open("coin", null), null);
  assert.equal(opened().store.open("a:coin", null).caption.entity, "long");
});

test("a draft that waits is not sent over another window's words that came meanwhile", async () => {
  const { store, asked } = opened();
  store.keep("coin", words("mine"));
  store.meet("coin", { ...words("theirs"), client: "other", n: 1 });
  await store.send();
  assert.deepEqual(asked, []);
  assert.equal(opened().store.open("coin", null).caption.entity, "mine");
});

test("the server hears which of another window's drafts this one goes on from", () => {
  const { store } = opened();
  store.open("coin", { ...words("theirs"), client: "other", n: 4 });
  store.goOnFrom("second coin", { ...words("theirs"), client: "other", n: 9 });
  const [, body] = store.request("coin", words("theirs and mine"));
  assert.deepEqual([body.knows, body.seen], ["other", 4]);
});

test("the server's draft is gone on with where it has all that this browser has", () => {
  const { store } = opened();
  store.hold("coin", DRAFT);
  const kept = { client: store.client, n: store.n, caption: { entity: "a dog" } };
  assert.equal(opened().store.open("coin", kept), kept);
  assert.notEqual(opened().store.open("coin", { ...kept, n: kept.n - 1 }), kept);
});

test("a closing page sends its unsent and discarded drafts", () => {
  const { store, asked } = opened();
  store.keep("coin", DRAFT);
  store.waiting.set("other", { isGone: true, n: 9 });
  store.flush();
  clearTimeout(store.timer);
  assert.deepEqual(asked, [
    ["keep", "a dog", "beacon"],
    ["discard", null, "beacon"],
  ]);
});

test("a draft that cannot be stored holds up no other coin's draft", async () => {
  const { store, asked, told } = opened({ answers: [new Error("no record has this address")] });
  store.keep("coin", DRAFT);
  store.keep("other", { ...DRAFT, caption: { entity: "a frog" } });
  await store.send();
  assert.deepEqual(asked, [
    ["keep", "a dog"],
    ["keep", "a frog"],
  ]);
  assert.deepEqual([...store.waiting.keys()], ["coin"]);
  assert.deepEqual(told.slice(2), [
    ["failed", "coin"],
    ["draft", "other"],
  ]);
  clearTimeout(store.timer);
});

/** Lets promises end, and then what is due within this time. */
async function pass(t, milliseconds) {
  for (let turn = 0; turn < 20; turn += 1) await null;
  t.mock.timers.tick(milliseconds);
  for (let turn = 0; turn < 20; turn += 1) await null;
}

test("what is typed while a draft fails does not wait for its next try", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const failed = new Error("no record has this address");
  const { store, asked } = opened({ answers: [failed, failed] });
  store.keep("coin", DRAFT);
  store.send();
  store.keep("other", words("a frog"));
  await pass(t, 250);
  eachIs(asked, ([, entity]) => entity, ["a dog", "a dog", "a frog"]);
  assert.deepEqual([...store.waiting.keys()], ["coin"]);
  await pass(t, 250);
  assert.equal(asked.length, 3, "nothing is sent before the next try");
  await pass(t, 1000);
  assert.equal(store.waiting.size, 0);
});

test("a draft that failed is listed with the reason until it is stored", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { store } = opened({ answers: [new Error("full"), new Error("away")] });
  store.keep("coin", DRAFT);
  assert.deepEqual(store.failing, []);
  for (const failing of [[["coin", "full", undefined]], [["coin", "away", undefined]], []]) {
    await store.send();
    assert.deepEqual(store.failing, failing);
  }
});

test("a save of one coin does not end the tries of another's draft", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { store } = opened({ answers: [new Error("full")] });
  store.keep("coin", DRAFT);
  await store.send();
  store.keep("other", words("a frog"));
  await store.settle("other");
  await pass(t, 1000);
  assert.equal(store.waiting.size, 0);
});

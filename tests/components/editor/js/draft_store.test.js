// Drafts are stored in the browser immediately, separately for each library, and sent until the server has them.

import assert from "node:assert/strict";

import { DraftStore } from "../../../../components/editor/js/draft_store.js";
import { test } from "../../../shared/browser.js";

const DRAFT = { caption: { entity: "a dog" }, tags: [] };

/** `answers`: what the server says, one after the other; an error is thrown. */
function opened({ library = "id of one", answers = [] } = {}) {
  const asked = [], said = [], elsewhere = [];
  const store = new DraftStore({
    ask: async (verb, body) => {
      asked.push([verb, body.draft?.caption.entity ?? null]);
      const answer = answers.shift() ?? {};
      if (answer instanceof Error) throw answer;
      return answer;
    },
    beacon: (verb, body) => asked.push([verb, body.draft?.caption.entity ?? null, "beacon"]),
    say: (state) => said.push(state),
    elsewhere: (address, draft) => elsewhere.push([address, draft]),
  });
  Object.assign(store, { place: `${library}:ann`, placeBefore: "res:ann" });
  return { store, asked, said, elsewhere };
}

test("a draft stored under the folder's name moves to one library only", () => {
  assert.equal(opened().store.open("coin", null), null);
  const draft = { client: "tab", n: 3, ...DRAFT };
  localStorage.setItem("memedex-draft:res:ann:coin", JSON.stringify(draft));
  for (let time = 0; time < 2; time++) assert.deepEqual(opened().store.open("coin", null), draft);
  assert.equal(opened({ library: "id of another" }).store.open("coin", null), null);
  assert.deepEqual(Object.keys(localStorage), ["memedex-draft:id of one:ann:coin"]);
});

test("a draft stays in the browser until the server has it", async () => {
  const { store, asked, said } = opened();
  store.keep("coin", DRAFT);
  assert.deepEqual(opened().store.open("coin", null).caption, DRAFT.caption);
  await store.send();
  assert.deepEqual(asked, [["keep", "a dog"]]);
  assert.deepEqual(said, ["keeping", "draft"]);
  assert.equal(opened().store.open("coin", null), null);
});

test("a draft that the server refuses stays in the browser and is sent again", async () => {
  const { store, asked, said } = opened({ answers: [new Error("away"), { failed: "full" }] });
  store.keep("coin", DRAFT);
  for (let time = 0; time < 3; time++) await store.send();
  assert.deepEqual(asked.map(([verb]) => verb), ["keep", "keep", "keep"]);
  assert.deepEqual(said, ["keeping", "failed", "failed", "draft"]);
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

test("the server's draft is used if it is at least as new as the browser's", () => {
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
  assert.deepEqual(asked, [["keep", "a dog", "beacon"], ["discard", null, "beacon"]]);
});

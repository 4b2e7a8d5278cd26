// The log of decisions: an entry stays until the server has answered it, and is only sent where it was made.

import assert from "node:assert/strict";

import { DecisionLog, undoable } from "../../../../components/grid/js/log.js";
import { test } from "../../../shared/browser.js";
import { eachIs } from "../../../shared/shared.js";

const PLACE = { library: "a library", who: "ann@x.org" };
const APPROVE = { verb: "approve", addresses: ["local-a"], seen: { "local-a": 1 } };
const SERVER = { url: "/message", token: "t" };
const DONE = { generation: 6, refused: [] };

/**
 * A log whose messages are in `sent`, answered one after the other by `answers`:
 * a function of the entries, or a status.
 */
function opened(place = PLACE, { answers = [], ...options } = {}) {
  const sent = [];
  const log = new DecisionLog({
    place,
    heard: (results) => (log.results = [...(log.results ?? []), ...results]),
    waits: (number) => (log.told = number),
    refused: () => (log.runs = (log.runs ?? 0) + 1),
    sent: async (_, kind, message) => {
      sent.push(message);
      assert.equal(kind, "decisions");
      const answer = answers.shift() ?? 0;
      if (typeof answer === "number") return { status: answer, text: "" };
      return { status: 200, answer: { answers: answer(message.entries) } };
    },
    sentLast: (_, __, message) => sent.push(message),
    ...options,
  });
  return { log, sent };
}

const all = (entries) => Object.fromEntries(entries.map(({ id }) => [id, DONE]));
const turn = () => new Promise((go) => setTimeout(go, 5));

test("answered decisions leave the log, the rest is sent again", async () => {
  const { log, sent } = opened(PLACE, { answers: [(entries) => all(entries.slice(0, 2)), all] });
  for (let n = 1; n <= 3; n++) log.add(APPROVE).cursor = `local-${n}`;
  log.take({ server: SERVER, generation: 5 });
  await turn();
  eachIs(sent, ({ entries }) => entries.length, [3, 1]);
  assert.equal(sent[0].entries[2].id, sent[1].entries[0].id);
  assert.deepEqual(Object.keys(sent[0].entries[0]), ["id", "verb", "addresses", "seen"], "nothing of the page alone");
  eachIs(log.results, ({ cursor }) => cursor, ["local-1", "local-2", "local-3"]);
  assert.ok(log.isEmpty);
  log.stop();
});

test("a decision stays in effect until the cards show it, without what was refused of it", async () => {
  const refused = [{ item: "local-b", reason: "gone" }];
  const { log } = opened(PLACE, { answers: [([{ id }]) => ({ [id]: { generation: 6, refused } })] });
  log.add({ ...APPROVE, addresses: ["local-a", "local-b"] }).effect = { hide: ["local-a", "local-b"] };
  log.take({ server: SERVER, generation: 5 });
  await turn();
  eachIs(log.news, ({ effect }) => effect.hide, [["local-a"]]);
  log.take({ server: SERVER, generation: 6 });
  assert.deepEqual(log.news, []);
});

test("unanswered decisions of a closed tab are sent by the next one", async () => {
  const { log } = opened();
  const { id } = log.add(APPROVE);
  log.stop();
  const { log: next, sent } = opened(PLACE, { answers: [all] });
  next.take({ server: SERVER, generation: 5 });
  await turn();
  eachIs(sent[0].entries, (entry) => entry.id, [id]);
  eachIs(next.results, (result) => result.id, [id]);
  assert.ok(opened().log.isEmpty, "it is no longer stored in the browser");
});

test("a viewer's page sends nothing, and decisions wait for a page that can decide", () => {
  const { log } = opened();
  log.add(APPROVE);
  log.stop();
  assert.ok(opened(PLACE, { canDecide: false }).log.isEmpty);
  assert.ok(!opened().log.isEmpty);
});

test("decisions of other people and libraries stay and are reported once", () => {
  for (const place of [
    { ...PLACE, who: "ben" },
    { ...PLACE, who: "ben" },
    { ...PLACE, library: "another" },
  ]) {
    const { log } = opened(place);
    log.add(APPROVE);
    log.stop();
  }
  const { log } = opened();
  assert.ok(log.isEmpty);
  assert.equal(
    log.nameForeign(),
    "2 decisions of ben will be stored when ben opens this library here again. " +
      "1 decision made in another library will be stored when it is opened here again.",
  );
  assert.equal(opened().log.nameForeign(), "");
  assert.equal(opened({ ...PLACE, who: "ben" }).log.left.length, 2);
});

test("a refused token asks for a run of the page, whose token sends again", async () => {
  const { log, sent } = opened(PLACE, { answers: [401, all] });
  log.add(APPROVE);
  log.take({ server: SERVER, generation: 5 });
  await turn();
  assert.deepEqual([sent.length, log.runs], [1, 1]);
  log.take({ server: { ...SERVER, token: "next" }, generation: 5 });
  await turn();
  assert.ok(log.isEmpty);
});

test("a closing page sends what is not answered, and a large log goes in several messages", async () => {
  const { log, sent } = opened(PLACE, { answers: [all, all, all] });
  const long = "x".repeat(600_000);
  for (let n = 0; n < 3; n++) log.add({ ...APPROVE, reason: long });
  log.take({ server: SERVER, generation: 5 });
  await turn();
  eachIs(sent, ({ entries }) => entries.length, [1, 1, 1]);
  log.add(APPROVE);
  log.stop();
  assert.equal(sent.at(-1).entries.length, 1);
});

test("decisions are sent even without local storage", async () => {
  Object.defineProperty(globalThis, "localStorage", {
    get: () => {
      throw new Error("switched off");
    },
    configurable: true,
  });
  const { log, sent } = opened(PLACE, { answers: [all] });
  log.add(APPROVE);
  log.take({ server: SERVER, generation: 5 });
  await turn();
  assert.equal(sent.at(-1).entries.length, 1);
});

test("what can be undone and redone follows from the page's run and what was decided since", () => {
  const decided = (id, more = {}) => ({ id, verb: "approve", ...more });
  const undone = (id, undoes) => ({ id, verb: "undo", undoes });
  const shown = { undo: ["b", "a"], redo: ["u"] };
  assert.deepEqual(undoable([], shown), { back: ["a", "b"], again: ["u"] });
  assert.deepEqual(undoable([decided("c")], shown), { back: ["a", "b", "c"], again: [] });
  assert.deepEqual(undoable([decided("c", { isRefused: true })], shown).back, ["a", "b"]);
  assert.deepEqual(undoable([undone("v", "b"), undone("w", "a")], shown), { back: [], again: ["u", "v", "w"] });
  const redone = { id: "r", verb: "redo", undoes: "v" };
  assert.deepEqual(undoable([undone("v", "b"), redone], shown), { back: ["a", "r"], again: ["u"] });
  assert.deepEqual(undoable([decided("b")], shown).back, ["a", "b"], "the run may know it already");
});

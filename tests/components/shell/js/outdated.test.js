// When a page may be run again: only if it is out of date, and only while nobody is in the middle of something.

import assert from "node:assert/strict";
import { test } from "node:test";
import { mayOffer, mayRun, news, outdated, REST } from "../../../../components/shell/js/outdated.js";

const resting = {
  isVisible: true,
  isWorking: false,
  inField: false,
  isCovered: false,
  isDeciding: false,
  touchedAt: 0,
};
const now = 10_000;

test("a page is out of date by the values that it shows, and by no others", () => {
  const state = { at: 2, generation: 8, derived: 5, jobs: "3" };
  assert.deepEqual(outdated({ at: 1, shown: { generation: 7 } }, state), ["generation"]);
  assert.deepEqual(outdated({ at: 1, shown: { generation: 8 } }, state), []);
  assert.deepEqual(outdated({ at: 1, shown: { generation: 8, derived: 4, jobs: "" } }, state), ["derived", "jobs"]);
  assert.deepEqual(outdated({ at: 1, shown: {} }, state), []);
});

test("what the server told before the page was made says nothing about the page", () => {
  assert.deepEqual(outdated({ at: 2, shown: { jobs: "3" } }, { at: 1, jobs: "" }), []);
  assert.deepEqual(outdated({ at: 2, shown: { jobs: "3" } }, { at: 2, jobs: "" }), []);
  assert.deepEqual(outdated({ at: 2, shown: { jobs: "3" } }, {}), []);
});

test("a resting hand lets the page run", () => {
  assert.ok(mayRun(resting, { now }));
});

for (const doing of [
  { isVisible: false },
  { isWorking: true },
  { inField: true },
  { isCovered: true },
  { isDeciding: true },
  { touchedAt: now - REST + 1 },
]) {
  test(`the page does not run while ${JSON.stringify(doing)}`, () => {
    assert.ok(!mayRun({ ...resting, ...doing }, { now }));
  });
}

test("a run that was asked for in vain is asked for again, each time later", () => {
  for (const [times, wait] of [
    [1, 5000],
    [2, 10_000],
    [3, 20_000],
    [20, 120_000],
  ]) {
    assert.ok(!mayRun(resting, { now: now + wait - 1, lastRun: { at: now, times } }));
    assert.ok(mayRun(resting, { now: now + wait, lastRun: { at: now, times } }));
  }
});

test("a page that is told of something all the time is run once in two seconds", () => {
  assert.ok(!mayRun(resting, { now: now + 1999, lastRun: { at: now, times: 0 } }));
  assert.ok(mayRun(resting, { now: now + 2000, lastRun: { at: now, times: 0 } }));
});

test("a decision does not wait for findings that have just been drawn, but for other decisions", () => {
  const drawn = (...names) => ({
    now: now + 10,
    names: ["derived", "generation"],
    lastRun: { at: now, times: 1, names },
  });
  assert.ok(mayRun(resting, drawn("derived")));
  assert.ok(!mayRun(resting, drawn("derived", "generation")));
  assert.ok(!mayRun(resting, { ...drawn("derived"), names: ["derived"] }));
  assert.ok(!mayRun({ ...resting, inField: true }, drawn("derived")));
});

test("a run is offered where the hand does not rest for a while, and not once it is under way", () => {
  assert.ok(!mayOffer({ now, lateSince: now - REST }));
  assert.ok(mayOffer({ now, lateSince: now - 2 * REST }));
  assert.ok(!mayOffer({ now, lateSince: 0, lastRun: { times: 1 } }));
});

test("the offer says what happened", () => {
  const shown = { pending: 2, jobs: "3 4" };
  assert.equal(news(["generation"], { shown, state: { pending: 3 } }), "1 new coin");
  assert.equal(news(["generation", "jobs"], { shown, state: { pending: 1202 } }), "1,200 new coins");
  assert.equal(news(["generation"], { shown, state: { pending: 1 } }), "Library changed");
  assert.equal(news(["generation"], { shown: {}, state: { pending: 1 } }), "Library changed");
  assert.equal(
    news(["jobs"], { shown, state: { jobs: "4" }, jobNames: { 3: "Import list.json" } }),
    "Import list.json ended",
  );
  const ended = { shown, state: { jobs: "4", pending: 1 }, jobNames: { 3: "Promote Frog" } };
  assert.equal(news(["generation", "jobs"], ended), "Promote Frog ended");
  const begun = { shown: { jobs: " #5" }, state: { jobs: " #6" }, jobNames: { 6: "Promote Frog" } };
  assert.equal(news(["generation", "jobs"], begun), "Promote Frog ended");
  assert.equal(news(["jobs"], { ...begun, state: { jobs: "6 #6" } }), "Jobs changed");
  assert.equal(news(["jobs"], { shown, state: { jobs: "3 4 5" } }), "Jobs changed");
  assert.equal(news(["ready"], { shown, state: {} }), "Model ready");
});

// Decisions and the cursor: what the server says of an undo never leads away from where somebody went since.

import assert from "node:assert/strict";

import { Decisions } from "../../../../components/grid/js/decisions.js";
import { Model } from "../../../../components/grid/js/model.js";
import { test } from "../../../shared/browser.js";
import { eachIs } from "../../../shared/shared.js";

function opened(...addresses) {
  const model = new Model("library:ann:pending");
  const cards = addresses.map((address) => ({ address, revision: 1 }));
  const entries = [];
  const grid = {
    model,
    data: { undoable: true, cards, undo: ["before"], redo: [] },
    log: { news: entries, add: (entry) => (entries.push({ id: `${entries.length + 1}`, ...entry }), entries.at(-1)) },
    tools: { say: () => {}, sayDone: () => {} },
    focus: { isCovered: false },
    earlyKeys: { rest: () => {} },
    flags: new Map(),
    paint: () => model.settle(entries),
  };
  model.take(cards);
  model.settle([]);
  return { model, entries, decisions: new Decisions(grid) };
}

const undone = ({ cursor }, address) => ({
  verb: "undo",
  done: [address],
  again: {},
  refused: [],
  message: "",
  cursor,
});

test("the cursor goes to what was taken back, which this page did not know", () => {
  const { model, entries, decisions } = opened("a", "b", "c");
  decisions.undoOrRedo("undo");
  assert.equal(decisions.settle([undone(entries[0], "c")]), true);
  assert.equal(model.cursor, "c");
});

test("the answer to an undo comes late, and the cursor stays where somebody went meanwhile", () => {
  const { model, entries, decisions } = opened("a", "b", "c");
  decisions.make({ verb: "approve", label: "Approve", message: "Approved {}", leaves: true });
  decisions.undoOrRedo("undo");
  assert.equal(model.cursor, "a");
  model.moveTo("c");
  assert.equal(decisions.settle([undone(entries[1], "a")]), false);
  assert.equal(model.cursor, "c", "the next key is for this one");
});

test("an undo names the decision that it takes back, of this page or of its last run", () => {
  const { entries, decisions } = opened("a", "b", "c");
  for (let n = 0; n < 2; n++)
    decisions.make({ verb: "approve", label: "Approve", message: "Approved {}", leaves: true });
  for (const verb of ["undo", "redo", "undo", "undo", "undo", "undo"]) decisions.undoOrRedo(verb);
  eachIs(entries, ({ verb, undoes }) => undoes ?? verb, ["approve", "approve", "2", "3", "4", "1", "before"]);
});

test("a decision about a coin that was decided here before says so", () => {
  const { entries, decisions } = opened("a", "b");
  decisions.judge("a", "different", ["b"], "");
  decisions.flag("a", "unfit");
  eachIs(entries, ({ after }) => after, [[], ["1"]]);
});

test("an undo that a reload left behind moves no cursor", () => {
  const { model, decisions } = opened("a", "b");
  assert.equal(decisions.settle([undone({}, "b")]), false);
  assert.equal(model.cursor, "a");
});

test("a coin decided elsewhere is asked about, and decided all the same with what is known then", () => {
  const { entries, decisions } = opened("a", "b");
  const { grid } = decisions;
  grid.actions = [{ verb: "reject", label: "Reject", message: "Rejected {}" }];
  let asked;
  grid.tools.ask = (text, label, act) => (asked = { text, label, act });
  decisions.settle([
    {
      verb: "reject",
      reason: "scam",
      done: [],
      again: { a: 7 },
      refused: [{ item: "a", reason: "approved by ann just now" }],
    },
  ]);
  assert.equal(asked.label, "Reject all the same");
  assert.match(asked.text, /approved by ann just now/);
  assert.equal(entries.length, 0, "nothing is decided before the answer");
  asked.act();
  const { verb, reason, addresses, seen } = entries[0];
  assert.deepEqual(
    { verb, reason, addresses, seen },
    { verb: "reject", reason: "scam", addresses: ["a"], seen: { a: 7 } },
  );
});

/**
 * How many of these clicks decide, each handled when it is made; `detail` is the browser's count of clicks at one
 * place.
 */
function decidedBy(t, ...clicks) {
  const { decisions } = opened("a", "b", "c");
  let number = 0;
  const now = t.mock.method(performance, "now", () => 0);
  for (const { at, handled = at, detail = 1, on = "approve" } of clicks) {
    now.mock.mockImplementation(() => handled);
    decisions.press({ timeStamp: at, detail, currentTarget: on }, () => (number += 1));
  }
  return number;
}

test("a double click decides once, also if the hand moved or the page was busy", (t) => {
  assert.equal(decidedBy(t, { at: 1000 }, { at: 1350, detail: 2 }), 1);
  assert.equal(decidedBy(t, { at: 1000 }, { at: 1150 }), 1);
  assert.equal(decidedBy(t, { at: 1000, handled: 1900 }, { at: 1500, handled: 1901 }), 1);
  assert.equal(decidedBy(t, { at: 1000, detail: 0 }, { at: 1350, detail: 0 }), 1, "enter held down on a button");
});

test("two clicks of a quick hand at different places decide twice", (t) => {
  assert.equal(decidedBy(t, { at: 1000 }, { at: 1290 }), 2);
  assert.equal(decidedBy(t, { at: 1000 }, { at: 1150, on: "tags" }), 2, "another button");
  assert.equal(decidedBy(t, { at: 1000 }, { at: 1450, detail: 2 }), 2);
});

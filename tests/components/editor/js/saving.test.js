// A save that ends when another coin is open concerns only the coin that was saved.

import assert from "node:assert/strict";

import { Saving } from "../../../../components/editor/js/saving.js";
import { test } from "../../../shared/browser.js";
import { eachIs } from "../../../shared/shared.js";

/** An editor in which a caption of the coin "frog" was typed; `log` has what it was told. */
function editorWith() {
  const log = {
    kept: [],
    notes: [],
    identified: [],
    met: [],
    states: [],
    opened: [],
    asked: [],
    blurred: [],
    decisions: [],
    runs: 0,
  };
  const editor = {
    address: "frog",
    canWrite: true,
    isChanged: true,
    content: { name: "Rainy Frog" },
    caption: { entity: "a frog" },
    rows: [],
    log,
    bar: {
      promote: { disabled: false },
      say: (state) => log.states.push(state),
      noteThat: (sentence) => log.notes.push(sentence),
    },
    conflict: { isOpen: false, meetStored: (content) => log.met.push(content.address) },
    draftStore: {
      client: "tab",
      n: 0,
      waiting: new Map(),
      settle: async () => {},
      keep: (address, { caption }) => log.kept.push([address, caption.entity]),
      forget() {},
    },
    suggesting: { taken: new Set() },
    tags: { left() {}, values: [] },
    data: { canPromote: true, ways: { bare: "next" } },
    release: () => log.blurred.push(editor.address),
    draft() {
      return { caption: this.caption, tags: [] };
    },
    identify: (content) => log.identified.push(content.address),
    go: (address) => log.opened.push(address),
    begin() {},
    measure() {},
    history: { node: {} },
    trigger: () => (log.runs += 1),
    server: {
      ask: (verb, body) => (
        log.asked.push([verb, body.address, body.ids]),
        log.decisions.push(body.decision),
        new Promise((answer, fail) => Object.assign(editor, { answer, fail }))
      ),
    },
  };
  return editor;
}

function openDog(editor) {
  Object.assign(editor, { address: "dog", caption: { entity: "a dog" }, content: { name: "Sad Dog" } });
  editor.suggesting.taken.clear();
  editor.suggesting.taken.add("of the dog");
}

const turn = () => new Promise(setImmediate);

/** Begins to save, opens another coin, and lets the server answer then, or fail. */
async function savedFromElsewhere(editor, answer) {
  const saved = new Saving(editor).commit({ next: true });
  await null;
  openDog(editor);
  if (answer instanceof Error) editor.fail(answer);
  else editor.answer(answer);
  await saved;
  return editor.log;
}

test("a conflict does not reach the coin that is open by then", async () => {
  const log = await savedFromElsewhere(editorWith(), { conflict: { address: "frog" } });
  assert.deepEqual([log.identified, log.met], [[], []]);
  assert.deepEqual(log.kept, [["frog", "a frog"]]);
  assert.match(log.notes.at(-1), /Rainy Frog was not saved: another user saved first/);
});

test("a failure keeps the words of the coin that was saved, and names it", async () => {
  const log = await savedFromElsewhere(editorWith(), new Error("the disk is full"));
  assert.deepEqual(log.kept, [["frog", "a frog"]]);
  assert.deepEqual(log.states, ["saving"]);
  assert.match(log.notes.at(-1), /Rainy Frog was not saved: the disk is full/);
});

test("words typed meanwhile are newer than those that were sent", async () => {
  const editor = editorWith();
  editor.draftStore.waiting.set("frog", { n: 2 });
  assert.deepEqual((await savedFromElsewhere(editor, new Error("the disk is full"))).kept, []);
});

test("a save opens no other coin and uses up no suggestion of the one that is open", async () => {
  const editor = editorWith();
  const log = await savedFromElsewhere(editor, { saved: { revision: 2 } });
  assert.deepEqual([log.opened, [...editor.suggesting.taken]], [[], ["of the dog"]]);
});

test("a save takes the suggestions of its own coin, even if another is opened before it is sent", async () => {
  const editor = editorWith();
  editor.suggesting.taken.add("of the frog");
  let settled;
  editor.draftStore.settle = () =>
    new Promise((done) => {
      settled = done;
    });
  new Saving(editor).commit();
  openDog(editor);
  settled();
  await turn();
  assert.deepEqual(editor.log.asked, [["commit", "frog", ["of the frog"]]]);
});

test("a coin can be saved while the save of another one is under way", async () => {
  const editor = editorWith();
  const saving = new Saving(editor);
  const pressed = async () => (saving.commit(), turn());
  await pressed();
  await pressed(); // the same coin is saved once
  const answerOfFrog = editor.answer;
  openDog(editor);
  await pressed();
  eachIs(editor.log.asked, ([, address]) => address, ["frog", "dog"]);
  answerOfFrog({ saved: { revision: 2 } });
  await turn();
  assert.ok(saving.isUnderWay);
  editor.answer({ saved: { address: "dog", revision: 2 } });
  await turn();
  assert.ok(!saving.isUnderWay);
  assert.deepEqual(editor.log.identified, ["dog"]);
});

test("a suggestion that is taken during the save stays for the next one", async () => {
  const editor = editorWith();
  editor.suggesting.taken.add("first");
  new Saving(editor).commit();
  await turn();
  editor.suggesting.taken.add("second");
  editor.answer({ saved: { revision: 2 } });
  await turn();
  assert.deepEqual([...editor.suggesting.taken], ["second"]);
});

/** Begins to save and promote, and opens another coin `before` this verb is answered. */
async function promotedFromElsewhere(editor, { before, failed }) {
  new Saving(editor).commit({ promote: true });
  for (const verb of ["commit", "promote"]) {
    await turn();
    if (verb === before) openDog(editor);
    if (verb === "commit") editor.answer({ saved: { revision: 2 } });
    else if (failed) editor.fail(new Error(failed));
    else editor.answer({});
  }
  await turn();
  return editor.log;
}

test("save and promote does both", async () => {
  const log = await promotedFromElsewhere(editorWith(), { before: "never" });
  assert.deepEqual(
    [log.asked.map(([verb]) => verb), log.opened, log.blurred],
    [["commit", "promote"], ["next"], ["frog"]],
  );
});

test("a coin that is left during its save is promoted all the same, and no other is opened", async () => {
  for (const before of ["commit", "promote"]) {
    const log = await promotedFromElsewhere(editorWith(), { before });
    eachIs(log.asked, ([verb, address]) => [verb, address], [
      ["commit", "frog"],
      ["promote", "frog"],
    ]);
    assert.deepEqual([log.opened, log.runs], [[], 1]);
    assert.ok(!log.blurred.includes("dog"));
  }
});

test("a promotion that fails names its coin if another is open", async () => {
  const failed = "the disk is full";
  const sentence = async (before) => (await promotedFromElsewhere(editorWith(), { before, failed })).notes.at(-1);
  assert.equal(await sentence("never"), "Not promoted: the disk is full");
  assert.equal(await sentence("promote"), "Rainy Frog was saved, but not promoted: the disk is full");
});

test("a coin that cannot be promoted yet is only saved", async () => {
  const editor = editorWith();
  editor.bar.promote.disabled = true;
  new Saving(editor).commit({ promote: true });
  await turn();
  editor.answer({ saved: { revision: 2 } });
  await turn();
  eachIs(editor.log.asked, ([verb]) => verb, ["commit"]);
});

/**
 * Presses save, and says what becomes of it: an answer, or the status of a failure; returns the decision that was sent.
 */
async function pressed(saving, outcome, verb = "commit") {
  const { editor } = saving;
  if (verb === "commit") saving.commit();
  else saving.promote("frog", "Rainy Frog");
  await turn();
  if (typeof outcome === "number") editor.fail(Object.assign(new Error("why"), { status: outcome }));
  else editor.answer(outcome);
  await turn();
  return editor.log.decisions.at(-1);
}

test("what nobody has answered is the same decision when it is saved again, until the text is another", async () => {
  const saving = new Saving(editorWith());
  const first = await pressed(saving, 0);
  assert.match(first, /^[0-9a-f]{32}$/);
  for (const status of [503, 401]) assert.equal(await pressed(saving, status), first);
  saving.editor.caption = { entity: "a frog and more" };
  assert.notEqual(await pressed(saving, 0), first);
  saving.editor.caption = { entity: "a frog" };
  assert.equal(await pressed(saving, { saved: { revision: 2 } }), first);
  assert.notEqual(await pressed(saving, 0), first, "the answer has come");
});

test("what was refused or answered with a conflict is another decision when it is saved again", async () => {
  const saving = new Saving(editorWith());
  const decisions = [];
  for (const outcome of [409, { conflict: { address: "frog" } }, 0]) decisions.push(await pressed(saving, outcome));
  assert.equal(new Set(decisions).size, 3);
});

test("a promotion without an answer is the same decision when it is pressed again", async () => {
  const saving = new Saving(editorWith());
  const first = await pressed(saving, 0, "promote");
  assert.equal(await pressed(saving, {}, "promote"), first);
  assert.notEqual(await pressed(saving, {}, "promote"), first);
});

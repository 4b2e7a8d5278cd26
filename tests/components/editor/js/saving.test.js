// A save that ends when another coin is open concerns only the coin that was saved.

import assert from "node:assert/strict";

import { Saving } from "../../../../components/editor/js/saving.js";
import { test } from "../../../shared/browser.js";

/** An editor in which a caption of the coin "frog" was typed; `log` has what it was told. */
function editorWith() {
  const log = { kept: [], notes: [], identified: [], met: [], states: [], opened: [] };
  const editor = {
    address: "frog", canWrite: true, isChanged: true, content: { name: "Rainy Frog" }, caption: { entity: "a frog" }, rows: [], log,
    bar: { say: (state) => log.states.push(state), noteThat: (sentence) => log.notes.push(sentence) },
    conflict: { isOpen: false, meetStored: (content) => log.met.push(content.address) },
    draftStore: { client: "tab", n: 0, waiting: new Map(), settle: async () => {}, keep: (address, { caption }) => log.kept.push([address, caption.entity]), forget() {} },
    suggesting: { taken: new Set() },
    tags: { left() {}, values: [] },
    data: { ways: { bare: "next" } },
    draft() { return { caption: this.caption, tags: [] }; },
    identify: (content) => log.identified.push(content.address),
    go: (address) => log.opened.push(address),
    trigger() {},
    server: { ask: () => new Promise((answer) => { editor.answer = answer; }) },
  };
  return editor;
}

/** Begins to save, opens another coin, and lets the server answer then. */
async function savedFromElsewhere(editor, answer) {
  const saved = new Saving(editor).commit({ next: true });
  await null;
  Object.assign(editor, { address: "dog", caption: { entity: "a dog" }, content: { name: "Sad Dog" } });
  editor.suggesting.taken.add("of the dog");
  editor.answer(answer);
  await saved;
  return editor.log;
}

test("a conflict does not reach the coin that is open by then", async () => {
  const log = await savedFromElsewhere(editorWith(), { conflict: { address: "frog" } });
  assert.deepEqual([log.identified, log.met], [[], []]);
  assert.deepEqual(log.kept, [["frog", "a frog"]]);
  assert.match(log.notes.at(-1), /Rainy Frog was not saved: somebody else saved first/);
});

test("a failure keeps the words of the coin that was saved, and names it", async () => {
  const log = await savedFromElsewhere(editorWith(), { failed: "the disk is full" });
  assert.deepEqual(log.kept, [["frog", "a frog"]]);
  assert.deepEqual(log.states, ["saving"]);
  assert.match(log.notes.at(-1), /Rainy Frog was not saved: the disk is full/);
});

test("words typed meanwhile are newer than those that were sent", async () => {
  const editor = editorWith();
  editor.draftStore.waiting.set("frog", { n: 2 });
  assert.deepEqual((await savedFromElsewhere(editor, { failed: "the disk is full" })).kept, []);
});

test("a save opens no other coin and uses up no suggestion of the one that is open", async () => {
  const editor = editorWith();
  const log = await savedFromElsewhere(editor, { saved: { revision: 2 } });
  assert.deepEqual([log.opened, [...editor.suggesting.taken]], [[], ["of the dog"]]);
});

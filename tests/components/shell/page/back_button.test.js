// "Back" leads to what was there before the last click or key.

import assert from "node:assert/strict";
import { test } from "node:test";

import { History, isFollowed } from "../../../../components/shell/page/back_button.js";

/** A history on this page, touched at 10 ms; `go(address, now)` says whether the entry is unasked. */
function historyAt(address) {
  const known = new History();
  let from = new URL(address, "http://memedex");
  known.arrive(0);
  known.touch(10);
  return {
    known,
    go(address, now) {
      const to = new URL(address, from);
      const isUnasked = known.isUnasked(to, { from, now });
      from = to;
      return isUnasked;
    },
  };
}

test("the two steps of a change of pages are one", () => {
  const { go } = historyAt("/search?q=frog");
  assert.equal(go("/search?address=x", 20), false);
  assert.equal(go("/captions?address=x", 9000), true, "also where the server takes long");
});

test("a change of pages in one step is one", () => {
  const { go } = historyAt("/search?q=frog");
  assert.equal(go("/evaluation", 20), false);
});

test("a page that adds to its address before anybody touches it makes no entry", () => {
  const { go, known } = historyAt("/");
  assert.equal(go("/captions", 20), false);
  assert.equal(go("/captions?address=x", 900), true);
  assert.equal(go("/captions?address=x&part=1", 950), true);
  known.touch(1000);
  assert.equal(go("/captions?address=y", 1100), false);
});

test("a query that was asked for before the next click is a place of its own", () => {
  const { go, known } = historyAt("/search?q=frog");
  assert.equal(go("/search?q=dog", 20), false);
  known.touch(8000);
  assert.equal(go("/map?q=dog", 9000), false);
});

test("after going back, what the page adds makes no entry either", () => {
  const { go, known } = historyAt("/search?q=frog");
  known.arrive(50);
  assert.equal(go("/search?q=frog&as=table", 60), true);
});

test("each question is a place of its own, though Streamlit replaces the one before", () => {
  const { known } = historyAt("/search");
  const isQuestion = (to, from) =>
    known.isQuestion(new URL(to, "http://memedex"), { from: new URL(from, "http://memedex") });
  assert.equal(isQuestion("/search?q=frog", "/search"), true);
  assert.equal(isQuestion("/search?q=dog&n=60", "/search?q=frog&n=60"), true);
  assert.equal(isQuestion("/memory?ask=dog", "/memory?ask=frog"), true);
  assert.equal(isQuestion("/search?q=dog&n=200", "/search?q=dog&n=60"), false, "only another number of results");
  assert.equal(isQuestion("/map?q=dog", "/search?q=frog"), false, "a step of a change of pages");
  known.arrive(50);
  assert.equal(isQuestion("/search?q=dog", "/search?q=frog"), false, "what a page adds by itself");
});

test("a plain click on a link to other parameters of this page is told from others", () => {
  const from = new URL("http://memedex/memory?ask=x");
  const isIt = (address, click = {}) => isFollowed({ button: 0, ...click }, new URL(address, from), from);
  assert.equal(isIt("/memory?ask=x&entry=memories:1"), true);
  assert.equal(isIt("/memory?ask=x"), false);
  assert.equal(isIt("/search?entry=1"), false);
  assert.equal(isIt("http://elsewhere/memory?entry=1"), false);
  assert.equal(isIt("/memory?entry=1", { ctrlKey: true }), false);
  assert.equal(isIt("/memory?entry=1", { button: 1 }), false);
  const isOwn = (address, click = {}) => isFollowed({ button: 0, ...click }, new URL(address, from), from, true);
  assert.equal(isOwn("/search?entry=1"), true, "Streamlit would load the page again");
  assert.equal(isOwn("/memory?ask=x"), true);
  assert.equal(isOwn("http://elsewhere/memory?entry=1"), false);
  assert.equal(isOwn("/search?entry=1", { ctrlKey: true }), false);
});

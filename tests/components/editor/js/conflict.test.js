// Two people edit one coin: changes by only one of them are merged, and only conflicts are shown. A newer draft of the
// other window replaces the one that is compared; what was chosen stays chosen.

import assert from "node:assert/strict";

import { Conflict, sameTags, tagsTogether, together, trimmed } from "../../../../components/editor/js/conflict.js";
import { test } from "../../../shared/browser.js";
import { eachIs } from "../../../shared/shared.js";

/** An editor whose person typed "mine" everywhere; `shown` has the other text of each row. */
function editorWith(...facets) {
  const shown = {};
  const rows = facets.map((facet) => ({
    facet,
    value: "mine",
    purpose: { label: facet },
    aside: { replaceChildren: () => delete shown[facet] },
    dispute: (theirs, who, onDecided) => {
      shown[facet] = { theirs, onDecided };
    },
  }));
  return {
    shown,
    rows,
    address: "frog",
    base: { caption: {}, tags: [] },
    tags: { values: [] },
    bar: { say() {}, noteThat() {} },
    draftStore: { meet() {} },
    refresh() {},
  };
}

const draft = (caption, client = "other window") => ({ caption, tags: [], client });

test("a newer draft of the other window is shown instead of the older one", () => {
  const editor = editorWith("entity");
  const conflict = new Conflict(editor);
  conflict.meetDraft(draft({ entity: "old" }));
  conflict.meetDraft(draft({ entity: "new" }));
  assert.equal(editor.shown.entity.theirs, "new");
});

test("nothing is left to choose where the other window took its words back", () => {
  const editor = editorWith("entity", "visual");
  const conflict = new Conflict(editor);
  conflict.meetDraft(draft({ entity: "a", visual: "b" }));
  conflict.meetDraft(draft({ visual: "b" }));
  assert.deepEqual([Object.keys(editor.shown), conflict.disputes.size], [["visual"], 1]);
});

test("a choice stays while the other window changes only other texts", () => {
  const editor = editorWith("entity", "visual", "context");
  const conflict = new Conflict(editor);
  conflict.meetDraft(draft({ entity: "a", visual: "b", context: "c" }));
  editor.shown.entity.onDecided();
  editor.shown.context.onDecided();
  conflict.meetDraft(draft({ entity: "a", visual: "b and more", context: "c and more" }));
  eachIs(conflict.disputes, ({ facet }) => facet, ["visual", "context"]);
  conflict.meetDraft(draft({ entity: "a", visual: "b", context: "c" }, "third window"));
  assert.equal(conflict.disputes.size, 3);
});

test("a tag removed here stays removed while the other window changes only its texts", () => {
  const editor = editorWith("entity");
  editor.tags.show = (tags) => {
    editor.tags.values = tags;
  };
  const conflict = new Conflict(editor);
  conflict.meetDraft({ ...draft({ entity: "a" }), tags: ["frog"] });
  assert.deepEqual(editor.tags.values, ["frog"]);
  editor.tags.values = [];
  conflict.meetDraft({ ...draft({ entity: "a and more" }), tags: ["frog"] });
  assert.deepEqual(editor.tags.values, []);
});

for (const [base, mine, theirs, value, disputed] of [
  ["a", "a", "a", "a", false],
  ["a", "b", "a", "b", false],
  ["a", "a", "b", "b", false],
  ["a", "b", "b", "b", false],
  ["a", "b", "c", "b", true],
  [null, "b", null, "b", false],
  [null, null, "b", "b", false],
  ["a", null, "a", null, false],
  ["a", null, "b", null, true],
  [null, "", null, "", false],
  [null, "", "b", "", true],
]) {
  test(`${JSON.stringify(base)} became ${JSON.stringify(mine)} here and ${JSON.stringify(theirs)} there`, () => {
    assert.deepEqual(together(base, mine, theirs), { value, disputed });
  });
}

test("tags that either side added are kept, tags that either side removed are not", () => {
  assert.deepEqual(tagsTogether(["dog", "art"], ["dog", "moon"], ["dog", "art", "cat"]), ["dog", "moon", "cat"]);
  assert.deepEqual(tagsTogether(["dog"], [], ["dog"]), []);
  assert.deepEqual(tagsTogether([], ["dog"], ["dog"]), ["dog"]);
});

test("the order of tags matters", () => {
  assert.ok(sameTags(["a", "b"], ["a", "b"]));
  assert.ok(!sameTags(["a", "b"], ["b", "a"]));
});

test("surrounding space does not change a text, but an empty text does", () => {
  assert.deepEqual(trimmed({ entity: " a frog\n", visual: "", emotions: "  ", context: null }), {
    entity: "a frog",
    visual: "",
    emotions: null,
    context: null,
  });
});

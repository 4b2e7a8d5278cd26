// A newer draft of the other window replaces the one that is compared; what was chosen stays chosen.

import assert from "node:assert/strict";

import { Conflict } from "../../../../components/editor/js/conflict.js";
import { test } from "../../../shared/browser.js";

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
  assert.deepEqual(
    [...conflict.disputes].map(({ facet }) => facet),
    ["visual", "context"],
  );
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

// What a text typed as tags means: known tags, new ones, and what may be a known one, half typed or misspelt.

import { isMisspelt } from "../../grid/js/tag_field.js";

const NEAR = 5; // tags that are offered for one text

/** The tags of a text, separated by commas; `known` are those of the taxonomy, in lower case. */
export function readTags(text, known) {
  const found = { known: [], fresh: [], begun: [] };
  const names = new Set(known);
  for (const name of text
    .split(",")
    .map((each) => each.trim())
    .filter(Boolean)) {
    const lower = name.toLowerCase();
    const beginning = known.filter((tag) => tag.startsWith(lower));
    const near = (beginning.length ? beginning : known.filter((tag) => isMisspelt(lower, tag))).slice(0, NEAR);
    if (names.has(lower)) found.known.push(lower);
    else if (near.length) found.begun.push({ name, near });
    else found.fresh.push(name);
  }
  return found;
}

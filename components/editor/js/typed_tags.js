// What a text typed as tags means: known tags, new ones, and what may be the beginning of a known one.

const NEAR = 5; // tags that are offered for one beginning

/** The tags of a text, separated by commas; `known` are those of the taxonomy, in lower case. */
export function readTags(text, known) {
  const found = { known: [], fresh: [], begun: [] };
  const names = new Set(known);
  for (const name of text.split(",").map((each) => each.trim()).filter(Boolean)) {
    const lower = name.toLowerCase();
    const near = known.filter((tag) => tag.startsWith(lower)).slice(0, NEAR);
    if (names.has(lower)) found.known.push(lower);
    else if (near.length) found.begun.push({ name, near });
    else found.fresh.push(name);
  }
  return found;
}

// Merges two people's edits of one coin, facet by facet, against their common base.

/** The value of one facet, and whether it is in conflict: both changed it, differently. */
export function together(base, mine, theirs) {
  if (mine === theirs || theirs === base) return { value: mine, disputed: false };
  if (mine === base) return { value: theirs, disputed: false };
  return { value: mine, disputed: true };
}

/** Tags that either side added, without those that either side removed. */
export function tagsTogether(base, mine, theirs) {
  const gone = (tag) => base.includes(tag) && (!mine.includes(tag) || !theirs.includes(tag));
  return [...new Set([...mine, ...theirs])].filter((tag) => !gone(tag));
}

/** Texts without surrounding space, as they would be stored: space alone is not a change. */
export function trimmed(caption) {
  return Object.fromEntries(
    Object.entries(caption).map(([facet, text]) => [facet, text === "" ? "" : text?.trim() || null]),
  );
}

export function sameTags(one, other) {
  return one.length === other.length && one.every((tag, place) => tag === other[place]);
}

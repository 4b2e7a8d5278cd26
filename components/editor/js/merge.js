// Two people, one coin: what each changed since the same beginning, put together facet by facet.

/** The value of one facet, and whether a person has to choose: both changed it, each in their own way. */
export function together(base, mine, theirs) {
  if (mine === theirs || theirs === base) return { value: mine, disputed: false };
  if (mine === base) return { value: theirs, disputed: false };
  return { value: mine, disputed: true };
}

/** Tags that either added, without those that either took away. */
export function tagsTogether(base, mine, theirs) {
  const gone = (tag) => base.includes(tag) && (!mine.includes(tag) || !theirs.includes(tag));
  return [...new Set([...mine, ...theirs])].filter((tag) => !gone(tag));
}

/** Texts without the space around them, as they would be stored: that alone is no other text. */
export function trimmed(caption) {
  return Object.fromEntries(Object.entries(caption).map(([facet, text]) => [facet, text === "" ? "" : text?.trim() || null]));
}

export function sameTags(one, other) {
  return one.length === other.length && one.every((tag, place) => tag === other[place]);
}

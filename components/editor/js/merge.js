// Merges two people's edits of one coin, facet by facet, against their common base.
// @ts-check

/** @typedef {string | null | undefined} Text */

/**
 * The value of one facet, and whether it is in conflict: both changed it, differently.
 *
 * @param {Text} base
 * @param {Text} mine
 * @param {Text} theirs
 */
export function together(base, mine, theirs) {
  if (mine === theirs || theirs === base) return { value: mine, disputed: false };
  if (mine === base) return { value: theirs, disputed: false };
  return { value: mine, disputed: true };
}

/**
 * Tags that either side added, without those that either side removed.
 *
 * @param {string[]} base
 * @param {string[]} mine
 * @param {string[]} theirs
 */
export function tagsTogether(base, mine, theirs) {
  const gone = (/** @type {string} */ tag) => base.includes(tag) && (!mine.includes(tag) || !theirs.includes(tag));
  return [...new Set([...mine, ...theirs])].filter((tag) => !gone(tag));
}

/**
 * Texts without surrounding space, as they would be stored: space alone is not a change.
 *
 * @param {Record<string, Text>} caption
 */
export function trimmed(caption) {
  return Object.fromEntries(
    Object.entries(caption).map(([facet, text]) => [facet, text === "" ? "" : text?.trim() || null]),
  );
}

/**
 * @param {string[]} one
 * @param {string[]} other
 */
export function sameTags(one, other) {
  return one.length === other.length && one.every((tag, place) => tag === other[place]);
}

// The difference of two texts by words, and a text with only some of the changes applied.

const MOST = 4_000_000; // cells of the table; above this, the texts count as wholly different
const ENDS = /(?<=[.!?;。]\s(?!\/)|\s\/\s)/; // of a sentence, or of a phrase quoted among others

/** [{ same }] and [{ del, ins }] in order; together they contain both texts. */
export function hunks(before, after) {
  const a = pieces(before),
    b = pieces(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middle = compared(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const found = [];
  const same = (text) => text && found.push({ same: text });
  same(a.slice(0, start).join(""));
  for (const part of joined(middle))
    found.push(...(part.same === undefined && !part.del ? sentences(part.ins) : [part]));
  same(a.slice(a.length - end).join(""));
  return found;
}

/** The first text with those changes applied whose position in the list is `wanted`. */
export function taken(list, wanted) {
  return list.map((hunk, place) => hunk.same ?? (wanted(place) ? hunk.ins : hunk.del)).join("");
}

function pieces(text) {
  return text.match(/\s+|[\p{L}\p{N}_'’-]+|./gsu) ?? [];
}

/** Longest common subsequence: [{ same } | { del, ins }] piece by piece. */
function compared(a, b) {
  if (!a.length && !b.length) return [];
  if ((a.length + 1) * (b.length + 1) > MOST) return [{ del: a.join(""), ins: b.join("") }];
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      table[i * width + j] =
        a[i] === b[j]
          ? table[(i + 1) * width + j + 1] + 1
          : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
  const found = [];
  let i = 0,
    j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) found.push({ same: a[(j++, i++)] });
    else if (i < a.length && (j === b.length || table[(i + 1) * width + j] >= table[i * width + j + 1]))
      found.push({ del: a[i++], ins: "" });
    else found.push({ del: "", ins: b[j++] });
  }
  return found;
}

/** Joins adjacent pieces of one kind; a single space between two changes belongs to them. */
function joined(parts) {
  const found = [];
  parts.forEach((part, place) => {
    const last = found.at(-1);
    const isGap =
      part.same !== undefined &&
      !part.same.trim() &&
      last?.same === undefined &&
      parts[place + 1] &&
      parts[place + 1].same === undefined;
    if (part.same !== undefined && !isGap) {
      if (last?.same !== undefined) last.same += part.same;
      else found.push({ ...part });
    } else {
      const { del, ins } = isGap ? { del: part.same, ins: part.same } : part;
      if (last && last.same === undefined) {
        last.del += del;
        last.ins += ins;
      } else found.push({ del, ins });
    }
  });
  return found;
}

/** Splits added text into sentences, so that each can be accepted alone. */
function sentences(text) {
  return text.split(ENDS).map((ins) => ({ del: "", ins }));
}

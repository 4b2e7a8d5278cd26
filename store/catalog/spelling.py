"""Corrections for misspelt words, from the words of the library itself."""

import json
import sqlite3
from collections.abc import Iterator

from store.catalog.words import content_words, forms, records_with

_LONGEST = 40  # letters; a pasted word of thousands has gigabytes of near ones
_SHORTEST = 3  # letters; below, everything is near to everything
_FEW_LETTERS = 5  # up to which another letter mostly makes another word: "sport" is no slip for "short"
_LONG = 7  # letters from which two slips are likely
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def corrections(db: sqlite3.Connection, text: str) -> dict[str, str]:
    """For each word that occurs in no record, the nearest word of the library, if one is near.

    Near means one edit (Damerau 1964: insertion, deletion, substitution, transposition), two for words of
    seven letters or more. The first letter must match or be transposed with the second. Substitution counts
    from six letters on. A word of more than 40 letters stays as it is.
    """
    found = {}
    for word in content_words(text):
        is_a_word = _SHORTEST <= len(word) <= _LONGEST and word.isalpha()
        if not is_a_word or records_with(db, forms(word)) or _begins(db, word):
            continue
        near = _nearest(db, word)
        if near:
            found[word] = near
    return found


def _begins(db: sqlite3.Connection, word: str) -> bool:
    """Whether the library has a word with this prefix: the person may still be typing."""
    row = db.execute(
        "SELECT 1 FROM vocabulary WHERE term >= ? AND term < ? LIMIT 1", [word, word + "\U0010ffff"]
    ).fetchone()
    return row is not None


def _nearest(db: sqlite3.Connection, word: str) -> str | None:
    rows = db.execute(
        "SELECT term FROM vocabulary WHERE term IN (SELECT value FROM json_each(?)) ORDER BY doc DESC, term",
        [json.dumps(sorted(set(_one_slip(word))))],
    ).fetchall()
    if not rows and len(word) >= _LONG:
        same_start = db.execute(
            "SELECT term FROM vocabulary WHERE term >= ? AND term < ? AND abs(length(term) - ?) <= 2 "
            "ORDER BY doc DESC, term",
            [word[:2], word[:2] + "\U0010ffff", len(word)],
        )
        rows = [row for row in same_start if distance(word, row[0]) <= 2]
    # As somebody who hurries types: exchanged letters first, then the most frequent word.
    by_exchange = [row[0] for row in rows if sorted(row[0]) == sorted(word)]
    candidates = [*by_exchange, *(row[0] for row in rows)]
    return next((term for term in candidates if _is_in_library(db, term)), None)


def _is_in_library(db: sqlite3.Connection, term: str) -> bool:
    row = db.execute(
        "SELECT 1 FROM words CROSS JOIN records r ON r.id = words.rowid "
        "WHERE words MATCH ? AND r.tier = 'library' LIMIT 1",
        [f'"{term}"'],
    ).fetchone()
    return row is not None


def _one_slip(word: str) -> Iterator[str]:
    first, rest = word[0], word[1:]
    yield word[1] + first + word[2:]
    for at in range(len(rest) + 1):
        head, tail = first + rest[:at], rest[at:]
        yield from (head + letter + tail for letter in _LETTERS)
        if tail:
            yield head + tail[1:]
        if tail and len(word) > _FEW_LETTERS:
            yield from (head + letter + tail[1:] for letter in _LETTERS)
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]


def distance(one: str, other: str) -> int:
    """The optimal string alignment distance of two words."""
    rows = [list(range(len(other) + 1))]
    for i, a in enumerate(one, start=1):
        row = [i]
        for j, b in enumerate(other, start=1):
            best = min(rows[-1][j] + 1, row[j - 1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]

"""What is near an entry: coins that it mentions, what comes before and after it, what means nearly the same.

A name of several words counts in any case, one of a single word only with a capital (a coin may be called
Dog); a ticker counts in capitals or behind a dollar sign. Similarity in meaning is labelled as such.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from store.catalog.filters import Filter
from store.memory.engine.entries import Entries
from store.memory.engine.kind import TEXT, Row
from store.memory.kinds import MEMORIES
from store.memory.opened import OpenedMemory
from store.progress import Progress
from store.reading.reader import Reader
from store.records import Record
from store.search.query import Part, Query

How = Literal["name", "ticker", "meaning"]
NEAR = 5  # by meaning, of each kind
_MOST = 50  # by words, of each kind
_LOOKED_AT = 500  # rows that have the words, of which some may not be meant
_SHORTEST_TICKER = 3  # without a dollar sign
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Mention:
    """A text that mentions a coin."""

    kind: str
    row: Row
    how: How
    score: float | None = None  # the cosine, where it is near in meaning
    place: int = 0  # of the name or ticker, in characters


@dataclass(frozen=True, slots=True)
class CoinMention:
    """A coin that a text mentions."""

    record: Record
    how: How
    score: float | None = None


def mentions(memory: OpenedMemory, record: Record, *, near: int = NEAR) -> list[Mention]:
    """The entries of every kind that name this coin, then those nearest to its caption."""
    found: list[Mention] = []
    about = "\n".join(filter(None, [record.name, record.description, *record.caption.values()]))
    for entries in memory.kinds.values():
        named = [*_naming(entries, record)]
        found += named
        if near and entries.count():
            known = {mention.row["id"] for mention in named}
            scores = entries.nearest(entries.question(about), n=near)
            found += [
                Mention(entries.kind.name, row, "meaning", scores[row["id"]])
                for row in entries.rows([id for id in scores if id not in known])
            ]
    order = {"name": 0, "ticker": 1, "meaning": 2}
    return sorted(found, key=lambda mention: (order[mention.how], -(mention.score or 0)))


def coins_in(library: Reader, text: str) -> list[CoinMention]:
    """The coins that this text names, in order of their names, except those in the trash."""
    rows = library.catalog.rows(
        "SELECT address, name, ticker FROM records WHERE tier <> 'trash' ORDER BY name, address"
    )
    words = {word.lower() for word in _WORD.findall(text)}
    found = []
    for row in rows:
        if not {word.lower() for word in _WORD.findall(row["name"])} <= words and (
            row["ticker"].lower().lstrip("$") not in words
        ):
            continue
        if named := _named(text, name=row["name"], ticker=row["ticker"]):
            found.append(CoinMention(library.get(row["address"]), named[0]))
    return found


def coins_near(library: Reader, text: str) -> list[CoinMention]:
    """The library's coins nearest in meaning to this text; loads the library's model."""
    results = library.search(Query((Part(text=text[:2_000]),), top=NEAR, filter=Filter(tier="library")))
    return [CoinMention(library.get(hit.address), "meaning", hit.score) for hit in results.hits]


def _naming(entries: Entries, record: Record) -> Iterator[Mention]:
    phrases = [phrase for given in (record.name, record.ticker) if (phrase := _phrase(given))]
    if not phrases:
        return
    table, words = entries.kind.table, entries.kind.words
    rows = entries.database.rows(
        f"SELECT p.id FROM {words} w CROSS JOIN {table} p ON p.rowid = w.rowid WHERE {words} MATCH ? LIMIT ?",
        [" OR ".join(phrases), _LOOKED_AT],
    )
    found = 0
    for row in entries.rows([row[0] for row in rows]):
        named = _named(row[entries.kind.text], name=record.name, ticker=record.ticker)
        if named and found < _MOST:
            found += 1
            yield Mention(entries.kind.name, row, named[0], place=named[1])


def _phrase(text: str) -> str:
    words = _WORD.findall(text)
    return f'"{" ".join(words)}"' if words else ""


def _named(text: str, *, name: str, ticker: str) -> tuple[How, int] | None:
    """How a text names a coin, and from which character on."""
    words = _WORD.findall(name)
    if words and (found := _search(text, words, case=len(words) == 1)):
        return "name", found.start()
    sign = ticker.lstrip("$")
    if not sign.strip():
        return None
    found = re.search(rf"\${re.escape(sign)}(?!\w)", text, re.IGNORECASE)
    if not found and len(sign) >= _SHORTEST_TICKER:
        found = re.search(rf"(?<!\w){re.escape(sign.upper())}(?!\w)", text)
    return ("ticker", found.start()) if found else None


def _search(text: str, words: Sequence[str], *, case: bool) -> re.Match[str] | None:
    between = r"\W+"
    if not case:
        return re.search(rf"(?<!\w){between.join(map(re.escape, words))}(?!\w)", text, flags=re.IGNORECASE)
    word = words[0]
    spellings = (re.escape(word[:1].upper() + word[1:]), re.escape(word.upper()))
    return re.search(rf"(?<!\w)(?:{'|'.join(spellings)})(?!\w)", text)


NEARLY = 0.95  # cosine from which two entries count as near-duplicates
MOST = 500  # pairs
_ROWS, _COLUMNS = 1024, 8192  # compared at once: 32 MB


def around(
    memory: OpenedMemory, id: str, *, kind: str = MEMORIES, reach: int = 1
) -> tuple[list[Row], list[Row]]:
    """The entries before and after one in their source, in reading order."""
    entries = memory.kinds[kind]
    of, row = entries.kind, entries.get(id)
    place = ", ".join(of.sequence)
    same = " AND ".join(["TRUE", *(f"{column} IS ?" for column in of.siblings)])
    values: list[Any] = [row[column] for column in of.siblings]

    def found(sign: str, direction: str) -> list[str]:
        order = ", ".join(f"{part} {direction}" for part in of.sequence)
        rows = entries.database.rows(
            f"SELECT id FROM {of.table} WHERE {same} "
            f"AND ({place}) {sign} (SELECT {place} FROM {of.table} WHERE id = ?) "
            f"ORDER BY {order} LIMIT ?",
            [*values, id, reach],
        )
        return [row[0] for row in rows]

    return entries.rows(found("<", "DESC")[::-1]), entries.rows(found(">", "ASC"))


def nearest(memory: OpenedMemory, id: str, *, kind: str = MEMORIES, n: int = 5) -> list[tuple[Row, float]]:
    """The entries of its kind that are nearest to one in meaning, best first, with their cosines."""
    entries = memory.kinds[kind]
    vector = entries.resident().of([id], TEXT).get(id)
    if vector is None:
        return []
    found = entries.nearest(vector, n=n + 1)
    others = [other for other in found if other != id][:n]
    return [(row, found[row["id"]]) for row in entries.rows(others)]


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """Two entries and their cosine."""

    one: str
    other: str
    cosine: float


def near_duplicates(
    memory: OpenedMemory,
    kind: str = MEMORIES,
    *,
    floor: float = NEARLY,
    progress: Progress | None = None,
) -> list[DuplicatePair]:
    """Pairs of entries with at least this cosine, most similar first; 90 s for 100,000 entries."""
    progress = progress or Progress()
    snapshot = memory.kinds[kind].resident()
    ids, matrix = snapshot.addresses, snapshot.rows(np.arange(len(snapshot)), TEXT)
    found: list[DuplicatePair] = []
    for top, left, cosines in cosines_with_earlier(matrix, progress):
        for row, column in np.argwhere(cosines >= floor).tolist():
            found.append(DuplicatePair(ids[left + column], ids[top + row], float(cosines[row, column])))
        if len(found) > 20 * MOST:
            found = _best(found)
    return _best(found)


def cosines_with_earlier(
    matrix: NDArray[np.float32], progress: Progress
) -> Iterator[tuple[int, int, NDArray[np.float32]]]:
    """The cosines of all unit rows with those before them, in blocks with first row and column; else -2."""
    progress.what, progress.total = "comparing entries", len(matrix)
    for top in range(0, len(matrix), _ROWS):
        if progress.cancelled:
            return
        block = matrix[top : top + _ROWS]
        bottom = top + len(block)
        for left in range(0, bottom, _COLUMNS):
            columns = matrix[left : min(left + _COLUMNS, bottom)]
            cosines = block @ columns.T
            if left + len(columns) > top:
                earlier = np.arange(left, left + len(columns)) < np.arange(top, bottom)[:, None]
                cosines[~earlier] = -2
            yield top, left, cosines
        progress.done = bottom


def _best(pairs: list[DuplicatePair]) -> list[DuplicatePair]:
    return sorted(pairs, key=lambda pair: (-pair.cosine, pair.one, pair.other))[:MOST]

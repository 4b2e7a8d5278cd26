"""Texts that mention a coin, and coins that a text mentions.

A name of several words counts in any case, one of a single word only with a capital (a coin may be called
Dog); a ticker counts in capitals or behind a dollar sign. Similarity in meaning is labelled as such.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from store.catalog.filters import Filter
from store.memory.engine.entries import Entries
from store.memory.engine.kind import Row
from store.memory.opened import OpenedMemory
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
            found += [
                Mention(entries.kind.name, row, "meaning", score)
                for row, score in entries.search(about, n=near)
                if row["id"] not in known
            ]
    order = {"name": 0, "ticker": 1, "meaning": 2}
    return sorted(found, key=lambda mention: (order[mention.how], -(mention.score or 0)))


def coins_in(library: Reader, text: str) -> list[CoinMention]:
    """The coins that this text names, in order of their names, except those in the trash."""
    with library.catalog.reading() as db:
        rows = db.execute(
            "SELECT address, name, ticker FROM records WHERE tier <> 'trash' ORDER BY name, address"
        ).fetchall()
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


def coins_near(library: Reader, text: str, *, n: int = NEAR) -> list[CoinMention]:
    """The library's coins nearest in meaning to this text; loads the library's model."""
    results = library.search(Query((Part(text=text[:2_000]),), top=n, filter=Filter(tier="library")))
    return [CoinMention(library.get(hit.address), "meaning", hit.score) for hit in results.hits]


def _naming(entries: Entries, record: Record) -> Iterator[Mention]:
    phrases = [phrase for given in (record.name, record.ticker) if (phrase := _phrase(given))]
    if not phrases:
        return
    table, words = entries.kind.table, entries.kind.words
    with entries.database.reading() as db:
        rows = db.execute(
            f"SELECT p.id FROM {words} w CROSS JOIN {table} p ON p.rowid = w.rowid "
            f"WHERE {words} MATCH ? LIMIT ?",
            [" OR ".join(phrases), _LOOKED_AT],
        ).fetchall()
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

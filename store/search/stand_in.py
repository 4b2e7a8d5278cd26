"""Coins whose captions say nothing, and whose pictures stand in for them (the formula: ranking.py).

A line of a caption says nothing if all its words are the coin's own name and ticker, numbers, function words
and words of silent_words.txt, or if the library has the same sentence or phrase for many coins.
"""

import re
import sqlite3
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

import numpy as np

from store.catalog.catalog import REMOVALS, Catalog
from store.catalog.words import FUNCTION_WORDS, forms, in_words
from store.records import FACETS
from store.search.query import Query
from store.search.similarities import Floats, Rows, Similarities
from store.vectors.matrices import Mask

MOST = 200_000  # coins: of more, reading all captions takes longer than anybody waits for a search
_READ = 5_000  # coins whose captions are read in any case; of more, so many tell whether the rest is read
_WORTH = 100  # … which it is if one of so many says nothing
_FEW_CHANGED = 500
_GROWN = 10  # the stock sentences are counted again when the library is a tenth larger or smaller
_SENTENCE = 4  # words that make a sentence, which few coins share; "a frog" is a label, which more may
_SHARE_SENTENCE, _LEAST_SENTENCE = 50, 5  # one of so many coins, and so many: a stock sentence
_SHARE_LABEL, _LEAST_LABEL = 10, 10  # who asks for the label still finds it first: docs/models.md
_WORD = re.compile(r"\w+")

_Key = tuple[bool, *tuple[str, ...]]  # whether the line is a sentence, and its telling words


class SilentCaptions:
    """Reads the captions of one catalog, and after a change only those that changed; thread-safe."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._lock = threading.Lock()
        self._known = _Known()

    def current(self) -> frozenset[str]:
        """The addresses of these coins; the same object until they are others."""
        with self._lock:
            with self._catalog.reading() as db:  # one statement, since a moved slider asks as well
                is_known = _Moment.of(db) == self._known.moment
            if not is_known:
                with self._catalog.one_moment() as db:
                    now = _Moment.of(db)
                    (coins,) = db.execute("SELECT count(*) FROM records WHERE tier = 'library'").fetchone()
                    self._known = _renewed(db, self._known, now, coins) or _read_all(db, now, coins)
            return self._known.found


@dataclass(frozen=True, slots=True)
class _Moment:
    """The state of the library's coins: none changes without one of these numbers."""

    generation: int = -1
    removals: int = 0

    @classmethod
    def of(cls, db: sqlite3.Connection) -> "_Moment":
        query = "SELECT coalesce((SELECT value FROM meta WHERE key = ?), 0)"
        numbers = db.execute(f"{query}, ({query})", ["generation", REMOVALS]).fetchone()
        return cls(*map(int, numbers))


@dataclass(frozen=True, slots=True)
class _Known:
    moment: _Moment = field(default_factory=_Moment)
    counted: int = -1  # the coins that there were when the stock sentences were counted
    stock: frozenset[_Key] = frozenset()
    is_read: bool = False  # whether the captions of all coins were read
    found: frozenset[str] = frozenset()


def _renewed(db: sqlite3.Connection, known: _Known, now: _Moment, coins: int) -> _Known | None:
    """The known words, with the coins that changed; None if too many did."""
    if known.counted < 0 or _GROWN * abs(coins - known.counted) > known.counted:
        return None
    if not known.is_read:
        return _Known(now, known.counted, known.stock, known.is_read, known.found)
    query = "SELECT address FROM records WHERE generation > ? LIMIT ?"
    changed = {row[0] for row in db.execute(query, [known.moment.generation, _FEW_CHANGED + 1])}
    if len(changed) > _FEW_CHANGED:
        return None
    again = _silent(_lines(db, "r.generation > ?", known.moment.generation), known.stock)
    found = (known.found - changed) | again
    return _Known(
        now, known.counted, known.stock, known.is_read, known.found if found == known.found else found
    )


def _read_all(db: sqlite3.Connection, now: _Moment, coins: int) -> _Known:
    step = max(1, coins // _READ)
    lines = dict(_lines(db, "r.id % ? = 0", step))
    stock = _stock(lines.values())
    found = _silent(lines.items(), stock)
    is_read = step == 1 or (coins <= MOST and _WORTH * len(found) >= len(lines))
    if not is_read:
        found = frozenset()
    elif step > 1:
        found = _silent(_lines(db, "TRUE"), stock)
    return _Known(now, coins, stock, is_read, found)


def _lines(db: sqlite3.Connection, where: str, *values: int) -> Iterator[tuple[str, list[_Key]]]:
    """Each library coin with its captions' lines as they tell it from others."""
    rows = db.execute(
        "SELECT r.address, w.name, w.ticker, w.caption FROM records r JOIN words w ON w.rowid = r.id "
        f"WHERE r.tier = 'library' AND {where}",
        values,
    )
    for address, name, ticker, caption in rows:
        own = {form for word in _telling(f"{name} {ticker}") for form in forms(word)}
        yield address, [key for line in caption.splitlines() if (key := _key(line, own))]


def _key(line: str, own: set[str]) -> _Key | None:
    """The words of a line beyond the coin's own name; None if there are none."""
    words = _telling(line) - own
    return (len(_WORD.findall(line)) >= _SENTENCE, *sorted(words)) if words else None


def _telling(text: str) -> set[str]:
    """The words of a text that are neither numbers nor words of any coin."""
    words = _WORD.findall(in_words(text).lower())
    return {word for word in words if word.isalpha() and word not in _silent_words()}


def _stock(lines: Iterable[list[_Key]]) -> frozenset[_Key]:
    """Sentences and phrases that the captions of many coins share."""
    every = [set(own) for own in lines]
    counted = Counter(key for own in every for key in own)
    return frozenset(key for key, count in counted.items() if count >= _usual(key, len(every)))


def _usual(key: _Key, coins: int) -> float:
    is_sentence, *_ = key
    if is_sentence:
        return max(_LEAST_SENTENCE, coins / _SHARE_SENTENCE)
    return max(_LEAST_LABEL, coins / _SHARE_LABEL)


def _silent(coins: Iterable[tuple[str, list[_Key]]], stock: frozenset[_Key]) -> frozenset[str]:
    return frozenset(address for address, lines in coins if all(key in stock for key in lines))


@cache
def _silent_words() -> frozenset[str]:
    words = resources.files("store.search").joinpath("silent_words.txt").read_text("utf-8").split()
    return frozenset(words) | FUNCTION_WORDS


PICTURE = FACETS.index("image")
_ENOUGH = 20  # captions that tell how far apart captions lie
_ALIKE = 1e-6  # captions that are no further apart are the same
_SAMPLE = 256  # rows of a large library that do


@dataclass(frozen=True, slots=True, eq=False)
class StandIn:
    """Whose picture speaks, and how far apart the cosines of captions and pictures lie."""

    rows: Rows  # ascending; all have pictures
    means: Floats  # (5,): of each facet over the coins whose captions say something …
    deviations: Floats  # … and the deviations
    picture: tuple[float, float]  # mean and deviation of the pictures' cosines


def may_stand_in(query: Query) -> bool:
    """Whether a query compares nothing but texts, with all facets."""
    return all(part.kind == "text" and part.facets == FACETS for part in query.parts)


def is_usual(query: Query) -> bool:
    """Whether its weights are those that such a query has if the user does not move them."""
    return query.sliders == Query(query.parts).sliders


def stand_in(similarities: Similarities, silent: Collection[str]) -> StandIn | None:
    """The pictures that speak for the captions of these records, and for missing ones; None without any."""
    if not silent and all(np.delete(similarities.complete, PICTURE)):
        return None
    says_nothing: Mask = np.asarray(~np.delete(similarities.present, PICTURE, axis=0).any(axis=0))
    says_nothing[similarities.rows_of(silent)] = True
    rows = np.flatnonzero(says_nothing & similarities.present[PICTURE])
    if not len(rows):
        return None
    picture = float(similarities.means[PICTURE]), float(similarities.deviations[PICTURE])
    means, deviations = _captions(similarities, np.flatnonzero(~says_nothing))
    if not (deviations > _ALIKE).any():
        means, deviations = _captions(similarities, rows)
    unknown = ~(deviations > _ALIKE)  # or NaN
    means[unknown], deviations[unknown] = picture
    return StandIn(rows, means, deviations, picture)


def _captions(similarities: Similarities, rows: Rows) -> tuple[Floats, Floats]:
    """(5,) each: mean and deviation over these rows; NaN for a facet that too few of them have."""
    if len(rows) > _SAMPLE and similarities.are_many:
        rows = rows[np.linspace(0, len(rows) - 1, _SAMPLE).astype(np.intp)]
    with similarities.lock:
        similarities.rescore(rows)
        filled = similarities.rescored(rows)
    means, deviations = np.full((2, len(FACETS)), np.nan)
    for number, has in enumerate(similarities.present[:, rows]):
        if np.count_nonzero(has) >= _ENOUGH:
            means[number], deviations[number] = filled[number, has].mean(), filled[number, has].std()
    return means, deviations

"""`library.unfit`: which coins safe mode blurs, why, and by which words."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from store.catalog import unfit_words
from store.catalog.catalog import Catalog, next_derived
from store.catalog.unfit_words import UnfitKind
from store.errors import InvalidRecord
from store.lru import LruCache
from store.progress import Progress

MAX_WORD = 100  # characters of a word or phrase
_BATCH = 1_000  # records of one transaction


@dataclass(frozen=True, slots=True)
class UnfitWordEdits:
    """How a library's word list differs from the shipped one."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class Unfit:
    """Flags of coins that are unfit for the screen; `Library.flag` sets and clears them by hand."""

    def __init__(self, catalog: Catalog, cache: LruCache[tuple[object, ...], frozenset[str]]) -> None:
        self._catalog = catalog
        self._cache = cache

    def of(self, address: str) -> dict[UnfitKind, str]:
        """Why a coin is unfit: by hand, nudity or word, each with its reason; empty if it is not."""
        with self._catalog.reading() as db:
            return unfit_words.unfit_reasons(db, address)

    def pictures(self) -> frozenset[str]:
        """The hashes of the pictures of all coins that are unfit."""
        with self._catalog.reading() as db:
            rows = db.execute("SELECT key, value FROM meta WHERE key IN ('generation', 'derived')")
            key = tuple(map(tuple, rows))
            found = self._cache.get(key)
            if found is None:
                found = self._cache[key] = unfit_words.unfit_pictures(db)
        return found

    def words(self) -> UnfitWordEdits:
        """Which words this library adds to the shipped list, and which it removes."""
        with self._catalog.reading() as db:
            return UnfitWordEdits(*unfit_words.list_edits(db))

    def edit_words(self, *, added: Iterable[str] = (), removed: Iterable[str] = ()) -> UnfitWordEdits:
        """Set both lists, and flag every coin again; returns them as they are compared.

        Raises InvalidRecord for a new word that is longer than `MAX_WORD`.
        """
        self._catalog.check_writable()
        edits, before = UnfitWordEdits(unfit_words.cleaned(added), unfit_words.cleaned(removed)), self.words()
        for word in {*edits.added, *edits.removed} - {*before.added, *before.removed}:
            if len(word) > MAX_WORD:
                raise InvalidRecord(f"the word {word[:20]}… has more than {MAX_WORD} characters")
        self._catalog.set_meta(
            unfit_words.LIST_EDITS, json.dumps({"added": list(edits.added), "removed": list(edits.removed)})
        )
        self.bring_up_to_date()
        return edits

    def bring_up_to_date(self, *, progress: Progress | None = None) -> bool:
        """Flag every coin again if the words, or the program's rules, changed since; whether they had.

        Goes on where it was if it was stopped.
        """
        self._catalog.check_writable()
        with self._catalog.reading() as db:
            if _next(db) is None:
                return False
        while not (progress and progress.cancelled):
            with self._catalog.writing() as db:
                if (number := _next(db)) is None:
                    break
                _flag(db, number)
        return True


def _next(db: sqlite3.Connection) -> int | None:
    """The first row number that may not be flagged by the present words and rules; None if all are."""
    found = db.execute("SELECT value FROM meta WHERE key = 'unfit'").fetchone()
    known, rules = found[0] if found else "", _rules(db)
    if known == rules:
        return None
    number, _, by = known.partition(" ")
    return int(number) if by == rules else 0


def _flag(db: sqlite3.Connection, first: int) -> None:
    """Flag the next coins, and note how far that is."""
    rules, words = _rules(db), unfit_words.unfit_words(*unfit_words.list_edits(db))
    query = "SELECT id FROM records WHERE id >= ? ORDER BY id LIMIT ?"
    numbers = [row[0] for row in db.execute(query, [first, _BATCH])]
    for number in numbers:
        unfit_words.refresh_unfit(db, number, words=words)
    far = rules if len(numbers) < _BATCH else f"{numbers[-1] + 1} {rules}"
    db.execute("INSERT OR REPLACE INTO meta VALUES ('unfit', ?)", [far])
    next_derived(db)


def _rules(db: sqlite3.Connection) -> str:
    return f"{unfit_words.SCHEME} {json.dumps(unfit_words.list_edits(db))}"

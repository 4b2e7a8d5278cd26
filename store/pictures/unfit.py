"""`library.unfit`: which coins safe mode blurs, why, and by which words."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from store.catalog import unfit_rows, unfit_words
from store.catalog.catalog import Catalog, next_derived
from store.catalog.unfit_rows import UnfitKind
from store.lru import LruCache
from store.progress import Progress

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
            return unfit_rows.of(db, address)

    def pictures(self) -> frozenset[str]:
        """The hashes of the pictures of all coins that are unfit."""
        with self._catalog.reading() as db:
            rows = db.execute("SELECT key, value FROM meta WHERE key IN ('generation', 'derived')")
            key = tuple(map(tuple, rows))
            found = self._cache.get(key)
            if found is None:
                found = self._cache[key] = unfit_rows.pictures(db)
        return found

    def words(self) -> UnfitWordEdits:
        """Which words this library adds to the shipped list, and which it removes."""
        with self._catalog.reading() as db:
            return UnfitWordEdits(*unfit_rows.edits(db))

    def edit_words(self, *, added: Iterable[str] = (), removed: Iterable[str] = ()) -> UnfitWordEdits:
        """Set both lists, and flag every coin again; returns them as they are compared."""
        self._catalog.check_writable()
        edits = UnfitWordEdits(unfit_words.cleaned(added), unfit_words.cleaned(removed))
        self._catalog.set_meta(
            unfit_rows.WORDS, json.dumps({"added": list(edits.added), "removed": list(edits.removed)})
        )
        self.bring_up_to_date()
        return edits

    def bring_up_to_date(self, *, progress: Progress | None = None) -> bool:
        """Flag every coin again if the words, or the program's rules, changed since; whether they had."""
        self._catalog.check_writable()
        with self._catalog.reading() as db:
            edits = unfit_rows.edits(db)
            wanted = f"{unfit_rows.SCHEME} {json.dumps(edits)}"
            if self._catalog.meta("unfit") == wanted:
                return False
            numbers = [row[0] for row in db.execute("SELECT id FROM records").fetchall()]
        words = unfit_words.unfit_words(*edits)
        for start in range(0, len(numbers), _BATCH):
            if progress and progress.cancelled:
                return True
            with self._catalog.writing() as db:
                for number in numbers[start : start + _BATCH]:
                    unfit_rows.refresh(db, number, words=words)
                next_derived(db)
        self._catalog.set_meta("unfit", wanted)
        return True

"""Empty the trash: delete rejected records for good, with every trace of them; no undo takes that back.

The write path deletes their files and rows (`store/writing/journal.py`); `finish_erasing` leaves no byte of
them in any other file below the root. The catalog knows what is still to be erased until that is done, so
that a crash delays it until the next opening.
"""

import contextlib
import logging
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from store.catalog import forgetting, rows, snapshots
from store.catalog.catalog import DISK_ERRORS, Catalog
from store.catalog.forgetting import ERASING, ForgottenCoin
from store.disk.files import Disk
from store.disk.layout import Layout
from store.errors import InvalidRecord, MemedexError
from store.operations import EMPTY_TRASH, Change
from store.outcome import Outcome, Refusal
from store.progress import Progress, batches
from store.records import TIERS
from store.search.golden_queries import GoldenQueries
from store.vectors import matrix_files
from store.writing.journal import Payload
from store.writing.prepare import WritePath

DAY = 86_400.0  # seconds
_BATCH = 256
log = logging.getLogger(__name__)

_SET_ASIDE = re.compile(r"\d+-(.+?)(?:\.replaced)?\.(?:json|jpg)")  # `journal.set_aside`

_LEFT = "it is deleted, but copies of it may be left in {}; they go at the next opening"


@dataclass(frozen=True, slots=True)
class TrashContents:
    """What emptying the trash would delete."""

    addresses: tuple[str, ...]
    files: int
    size: int  # bytes of these files
    refused: tuple[Refusal, ...] = ()
    left: str = ""  # where copies of what was deleted are left for now, as a sentence


class Trash:
    """The rejected records of a library."""

    def __init__(
        self,
        catalog: Catalog,
        layout: Layout,
        path: WritePath,
        *,
        changed: Callable[[], None],
        erase: Callable[[], str],
    ) -> None:
        """`erase` leaves nothing of what was deleted in any file, as `finish_erasing`."""
        self._catalog = catalog
        self._layout = layout
        self._path = path
        self._changed = changed
        self._erase = erase

    def contents(self, *, days: float = 0) -> TrashContents:
        """Everything that was rejected more than so many days ago."""
        addresses, files, size = [], 0, 0
        with self._catalog.reading() as db:
            for row in self._old(db, days):
                addresses.append(str(row["address"]))
                sizes = self._sizes(row["address"])
                files, size = files + len(sizes), size + sum(sizes)
        return TrashContents(tuple(addresses), files, size)

    def empty(
        self,
        *,
        days: float = 0,
        expected: int,
        actor: str = "",
        progress: Progress | None = None,
        decision: str | None = None,
    ) -> TrashContents:
        """Delete what was rejected before; returns what. Raises InvalidRecord for more than `expected`."""
        self._catalog.check_writable()
        decided = self._catalog.decide(EMPTY_TRASH, actor=actor, id=decision)
        progress, outcome, sizes = progress or Progress(), Outcome(), dict[str, list[int]]()
        found = self.contents(days=days)
        if len(found.addresses) > expected:
            raise InvalidRecord(
                f"there are {len(found.addresses):,} rejected coins by now, not {expected:,}; look again"
            )
        progress.total = len(found.addresses)
        for batch in batches(found.addresses, _BATCH, progress):
            changes = [change for address in batch if (change := self._change(address))]
            sizes |= {address: self._sizes(address) for address in batch}
            if not self._path.carry_out(decided, changes, Payload(), outcome):
                break
            self._changed()
        gone = [size for address in outcome.done for size in sizes[address]]
        left = self._erase() if outcome.done else ""
        return TrashContents(tuple(outcome.done), len(gone), sum(gone), tuple(outcome.refused), left)

    def _change(self, address: str) -> Change | None:
        row = self._catalog.row("SELECT * FROM records WHERE address = ? AND tier = 'trash'", [address])
        state = rows.state_of(row) if row else None
        return Change(address, state, state, row["revision"]) if state else None

    def _sizes(self, address: str) -> list[int]:
        """The bytes of each of its files."""
        sizes = []
        for path in (self._layout.sidecar("trash", address), self._layout.image("trash", address)):
            with contextlib.suppress(OSError):
                sizes.append(path.stat().st_size)
        return sizes

    def _old(self, db: sqlite3.Connection, days: float) -> list[sqlite3.Row]:
        return db.execute(
            "SELECT address FROM records WHERE tier = 'trash' AND moved_at <= ? AND address NOT IN "
            "(SELECT one.value ->> '$.address' FROM journal, json_each(journal.operation, '$.changes') one)",
            [time.time() - days * DAY],
        ).fetchall()


def finish_erasing(
    catalog: Catalog, layout: Layout, disk: Disk, *, purge_chroma: Callable[[], None], golden: GoldenQueries
) -> str:
    """Erase what is noted; returns where something may be left, as a sentence, or "".

    Costs: the catalog and its copies are written again, however little goes, and Chroma is filled again
    from the catalog if one of the coins was ever in the library.
    """
    if not catalog.meta(ERASING):
        return ""
    place = str(catalog.path)
    try:
        with catalog.reading() as db:
            coins = forgetting.waiting(db)
        if coins:
            words = {coin.address: coin.word for coin in coins}
            golden.apply_external_edits()
            with catalog.writing() as db:
                forgetting.forget_mentions(db, words)
            golden.write_files_naming(words)
            for path in _files(layout, coins):
                disk.remove_file(path)
            if any(coin.was_in_library for coin in coins):
                matrix_files.tidy(layout.matrices, keep="")
                place = "Chroma"
                purge_chroma()
            if left := snapshots.forget(catalog.path, coins):
                return _LEFT.format(", ".join(map(str, left)))
            catalog.set_meta(ERASING, "[]")
        place = str(catalog.path)
        with catalog.writing() as db:
            db.execute("INSERT INTO words (words) VALUES ('optimize')")  # deleted terms stay in it otherwise
        catalog.rewrite()
        catalog.set_meta(ERASING, "")
    except (MemedexError, *DISK_ERRORS) as error:
        log.warning("what was deleted for good is not erased everywhere yet: %s", error)
        return _LEFT.format(f"{place} ({error})")
    return ""


def _files(layout: Layout, coins: Sequence[ForgottenCoin]) -> Iterator[Path]:
    """Copies of the coins' pictures and sidecars next to the files of their records."""
    names = {coin.address for coin in coins}
    for coin in coins:
        for picture in coin.pictures:
            yield from (layout.thumbnails / picture[:2]).glob(f"*{picture}-*")
            yield layout.fetched_pictures / picture[:2] / f"{picture}.jpg"
        for tier in TIERS:  # what a write that was cut short has left
            for path in (layout.sidecar(tier, coin.address), layout.image(tier, coin.address)):
                yield path.with_name(f".{path.name}.new")
    for path in layout.set_aside.glob("*"):
        name = _SET_ASIDE.fullmatch(path.name)
        if name and name[1] in names:
            yield path

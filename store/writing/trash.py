"""Empty the trash: delete rejected records for good, with every trace of them; no undo takes that back."""

import contextlib
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from store.catalog import rows
from store.catalog.catalog import Catalog
from store.disk.layout import Layout
from store.errors import InvalidRecord
from store.operations import EMPTY_TRASH, Change
from store.outcome import Outcome, Refusal
from store.progress import Progress
from store.writing.payload import Payload
from store.writing.prepare import WritePath
from store.writing.transitions import batches

DAY = 86_400.0  # seconds
_BATCH = 256


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
        """`erase` leaves nothing of what was deleted in any file, as `erasure.finish`."""
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
        self, *, days: float = 0, expected: int, actor: str = "", progress: Progress | None = None
    ) -> TrashContents:
        """Delete what was rejected more than so many days ago; returns what was deleted, also if cancelled.

        `expected` is the number of records that somebody agreed to; raises InvalidRecord if there are more.
        """
        self._catalog.check_writable()
        decision = self._catalog.decide(EMPTY_TRASH, actor=actor)
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
            if not self._path.carry_out(decision, changes, Payload(), outcome):
                break
            self._changed()
        gone = [size for address in outcome.done for size in sizes[address]]
        left = self._erase() if outcome.done else ""
        return TrashContents(tuple(outcome.done), len(gone), sum(gone), tuple(outcome.refused), left)

    def _change(self, address: str) -> Change | None:
        with self._catalog.reading() as db:
            row = db.execute(
                "SELECT * FROM records WHERE address = ? AND tier = 'trash'", [address]
            ).fetchone()
        state = rows.state_of(row) if row else None
        return Change(address, state, state, row["revision"]) if state else None

    def _sizes(self, address: str) -> list[int]:
        """The bytes of each of its files."""
        sizes = []
        for path in self._paths(address):
            with contextlib.suppress(OSError):
                sizes.append(path.stat().st_size)
        return sizes

    def _old(self, db: sqlite3.Connection, days: float) -> list[sqlite3.Row]:
        return db.execute(
            "SELECT address FROM records WHERE tier = 'trash' AND moved_at <= ? AND address NOT IN "
            "(SELECT one.value ->> '$.address' FROM journal, json_each(journal.operation, '$.changes') one)",
            [time.time() - days * DAY],
        ).fetchall()

    def _paths(self, address: str) -> tuple[Path, Path]:
        return (self._layout.sidecar("trash", address), self._layout.image("trash", address))

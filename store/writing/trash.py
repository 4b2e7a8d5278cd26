"""Empty the trash: delete the files and rows of rejected records for good, which no undo takes back."""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from store.catalog import history, rows
from store.catalog.catalog import Catalog, next_generation
from store.disk.files import Disk
from store.disk.layout import Layout
from store.disk.stats import stat_text
from store.errors import InvalidRecord
from store.operations import state_json
from store.progress import Progress

DAY = 86_400.0  # seconds
_BATCH = 256


@dataclass(frozen=True, slots=True)
class TrashContents:
    """What emptying the trash would delete."""

    addresses: tuple[str, ...]
    files: int
    size: int  # bytes of these files


class Trash:
    """The rejected records of a library."""

    def __init__(self, catalog: Catalog, layout: Layout, disk: Disk, *, changed: Callable[[], None]) -> None:
        self._catalog = catalog
        self._layout = layout
        self._disk = disk
        self._changed = changed

    def contents(self, *, days: float = 0) -> TrashContents:
        """Everything that was rejected more than so many days ago."""
        addresses, files, size = [], 0, 0
        with self._catalog.reading() as db:
            for row in self._old(db, days):
                addresses.append(str(row["address"]))
                for path in self._paths(row["address"]):
                    with contextlib.suppress(OSError):
                        size += path.stat().st_size
                        files += 1
        return TrashContents(tuple(addresses), files, size)

    def empty(
        self, *, days: float = 0, expected: int, actor: str = "", progress: Progress | None = None
    ) -> TrashContents:
        """Delete what was rejected more than so many days ago; returns what was deleted, also if cancelled.

        `expected` is the number of records that somebody agreed to; raises InvalidRecord if there are more.
        """
        self._catalog.check_writable()
        decision = self._catalog.decide(history.EMPTY_TRASH, actor=actor, id=uuid4().hex)
        progress, addresses, sizes = progress or Progress(), list[str](), list[int]()
        with self._catalog.lock:
            found = self.contents(days=days)
            if len(found.addresses) > expected:
                raise InvalidRecord(
                    f"there are {len(found.addresses):,} rejected coins by now, not {expected:,}; look again"
                )
            progress.total = len(found.addresses)
            for start in range(0, len(found.addresses), _BATCH):
                if progress.cancelled:
                    break
                part = found.addresses[start : start + _BATCH]
                sizes += self._delete(part, decision.id, decision.actor)
                addresses += part
                progress.done += len(part)
        self._changed()
        return TrashContents(tuple(addresses), len(sizes), sum(sizes))

    def _delete(self, addresses: Sequence[str], decision: str, actor: str) -> list[int]:
        """Delete these records; returns the bytes of each file that went with them."""
        # Rows first: a crash in between leaves files, which come back as rejected records, not rows without.
        now, paths = time.time(), []
        with self._catalog.writing() as db:
            next_generation(db)
            history.record_decision(db, decision, verb=history.EMPTY_TRASH, actor=actor, at=now)
            for address in addresses:
                row = db.execute("SELECT * FROM records WHERE address = ?", [address]).fetchone()
                known = zip(self._paths(address), (row["sidecar_stat"], row["image_stat"]), strict=True)
                # What was changed outside, which nobody saw, comes back at the next comparison of the files.
                paths += [path for path, stat in known if stat_text(path) == stat]
                rows.remove(db, row["id"])
                db.execute(
                    "INSERT INTO history (decision, verb, address, at, who, reason, before, after) "
                    "VALUES (?, ?, ?, ?, ?, 'deleted for good', ?, NULL)",
                    [decision, history.EMPTY_TRASH, address, now, actor, state_json(rows.state_of(row))],
                )
        sizes = []
        for path in paths:
            self._disk.step("remove", path)
            with contextlib.suppress(FileNotFoundError):
                size = path.stat().st_size
                path.unlink()
                sizes.append(size)
        self._disk.fsync_folders([self._layout.sidecar_folder("trash")])
        return sizes

    def _old(self, db: sqlite3.Connection, days: float) -> list[sqlite3.Row]:
        return db.execute(
            "SELECT address FROM records WHERE tier = 'trash' AND moved_at <= ? AND address NOT IN "
            "(SELECT one.value ->> '$.address' FROM journal, json_each(journal.operation, '$.changes') one)",
            [time.time() - days * DAY],
        ).fetchall()

    def _paths(self, address: str) -> tuple[Path, Path]:
        return (self._layout.sidecar("trash", address), self._layout.image("trash", address))

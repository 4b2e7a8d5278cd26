"""Copies of the catalog beside it: one a day, and one before each upgrade and repair.

Only the newest is complete. The vectors, most of a large catalog, are removed from the others, because they
can be computed again; decisions, drafts and saved searches stay in each. Made with SQLite's backup interface.
"""

import contextlib
import os
import re
import shutil
import sqlite3
import time
from calendar import timegm
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from store.disk.files import Disk
from store.disk.sqlite_identity import to_read
from store.errors import CatalogDamaged, NotWritten
from store.progress import Progress

Why = Literal["daily", "upgrade", "repair"]

FOLDER = "snapshots"  # beside the catalog
KEPT: dict[str, int] = {"daily": 7, "upgrade": 2, "repair": 2}
_A_DAY = 86_400
_PAGES = 1_024  # copied between two looks at whether to stop
_SPARE = 64_000_000  # bytes that a copy leaves free on the disk
_WHEN = "%Y%m%dT%H%M%S"
_NAME = re.compile(r"(\d{8}T\d{6})-(daily|upgrade|repair)\.sqlite3")
_WITHOUT = ("vectors", "maps")


class CatalogSnapshot(NamedTuple):
    """One copy: its path, its time (UNIX seconds) and why it was made."""

    path: Path
    at: int
    reason: str

    @property
    def day(self) -> str:
        """Day and time of the snapshot in the machine's time zone."""
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(self.at))


_STEPS = 1_000  # of SQLite's machine, between two looks whether the check is still wanted


class _Stopped(Exception):
    pass


def kept(catalog: Path) -> list[CatalogSnapshot]:
    """The copies of this catalog, newest first."""
    found = []
    with contextlib.suppress(OSError):  # none was made yet
        for path in _folder(catalog).iterdir():
            if (name := _NAME.fullmatch(path.name)) and path.is_file():
                with contextlib.suppress(ValueError):  # the 99th of May
                    found.append(CatalogSnapshot(path, timegm(time.strptime(name[1], _WHEN)), name[2]))
    return sorted(found, key=lambda one: one.at, reverse=True)


def is_due(catalog: Path, *, now: float) -> bool:
    """Whether no copy was made within a day. One dated in the future, by a wrong clock, does not count."""
    return not any(now - _A_DAY < one.at <= now + 60 for one in kept(catalog))


def make(
    db: sqlite3.Connection, catalog: Path, reason: Why, *, progress: Progress | None = None
) -> CatalogSnapshot | None:
    """Copy the catalog as it is at one moment, while others may write; None if it was cancelled.

    The copy appears complete and verified, or not at all. Raises NotWritten without room, CatalogDamaged if
    the catalog is damaged: a damaged copy must not replace a sound one.
    """
    folder, now = _folder(catalog), int(time.time())
    _check_room(db, catalog.parent)
    Disk().make_folder(folder)
    for left in folder.glob(".*.new*"):  # a copy that was cut short
        left.unlink()
    while (path := folder / f"{time.strftime(_WHEN, time.gmtime(now))}-{reason}.sqlite3").exists():
        now += 1
    unfinished = folder / f".{path.name}.new"
    try:
        _copy(db, unfinished, progress or Progress())
    except _Stopped:
        unfinished.unlink(missing_ok=True)
        return None
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    with unfinished.open("rb+") as file:
        os.fsync(file.fileno())
    unfinished.replace(path)
    Disk().fsync_folders([folder])
    made = CatalogSnapshot(path, now, reason)
    _let_go_of_old(made, [one for one in kept(catalog) if one.path != path])
    return made


def rows(snapshot: CatalogSnapshot, table: str) -> Iterator[sqlite3.Row]:
    """The rows of a table in the copy. Raises sqlite3.Error if it cannot be read."""
    with reading(snapshot) as db:
        yield from db.execute(f"SELECT * FROM {table}")


@contextlib.contextmanager
def reading(snapshot: CatalogSnapshot) -> Iterator[sqlite3.Connection]:
    """A connection that only reads the snapshot, closed at the end."""
    with contextlib.closing(sqlite3.connect(to_read(snapshot.path), uri=True)) as db:
        db.row_factory = sqlite3.Row
        yield db


def lineage(snapshot: CatalogSnapshot) -> str:
    """The secret of the catalog that was copied; "" if it cannot be read."""
    with contextlib.suppress(sqlite3.Error), reading(snapshot) as db:
        row = db.execute("SELECT value FROM meta WHERE key = 'secret'").fetchone()
        return str(row[0]) if row else ""
    return ""


def _folder(catalog: Path) -> Path:
    return catalog.parent / FOLDER


def _copy(db: sqlite3.Connection, target: Path, progress: Progress) -> None:
    def look(status: int, left: int, total: int) -> None:
        if progress.cancelled:
            raise _Stopped

    with contextlib.closing(sqlite3.connect(target, isolation_level=None)) as copy:
        db.execute("BEGIN")  # one moment: without it each commit of the writer restarts the copy
        try:
            db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            db.backup(copy, pages=_PAGES, progress=look)
        finally:
            db.execute("ROLLBACK")
        copy.execute("PRAGMA journal_mode = DELETE")
        copy.set_progress_handler(lambda: progress.cancelled, _STEPS)
        try:
            (fault,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.OperationalError:
            if progress.cancelled:
                raise _Stopped from None
            raise
    if fault != "ok":
        raise CatalogDamaged(f"the catalog is damaged ({fault}), so no copy of it is kept; doctor says more")


def _check_room(db: sqlite3.Connection, place: Path) -> None:
    (pages,), (size,) = (db.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    if shutil.disk_usage(place).free < pages * size + _SPARE:
        raise NotWritten(f"the disk that holds {place} has no room for a copy of the catalog")


def _let_go_of_old(newest: CatalogSnapshot, others: Iterable[CatalogSnapshot]) -> None:
    """Delete old copies; keep some of each kind, one of each earlier catalog, and one complete."""
    counts, seen = {newest.reason: 1}, {lineage(newest)}
    for one in sorted(others, key=lambda one: one.at > newest.at):  # those of a clock set wrong go first
        counts[one.reason] = counts.get(one.reason, 0) + 1
        of = lineage(one)
        if counts[one.reason] > KEPT[one.reason] and of in seen:
            one.path.unlink(missing_ok=True)
            continue
        seen.add(of)
        _thin(one)


def _thin(snapshot: CatalogSnapshot) -> None:
    """Remove what can be computed again. SQLite's journal rolls it back if it is interrupted."""
    with (
        contextlib.suppress(sqlite3.Error),  # an older version's, or damaged: it stays as it is
        contextlib.closing(sqlite3.connect(snapshot.path, isolation_level=None)) as db,
    ):
        if db.execute("SELECT 1 FROM vectors LIMIT 1").fetchone():
            db.execute("BEGIN IMMEDIATE")
            for table in _WITHOUT:
                db.execute(f"DELETE FROM {table}")
            db.execute("COMMIT")
            db.execute("VACUUM")

"""Copies of the catalog, and of each file of the text memory, next to it: daily, before upgrades and repairs.

A copy has what people and programs cannot make again: decisions, texts, drafts, saved searches. Most of what
follows from those and from the pictures (`DERIVED`) stays out, so that the copy of a large catalog is small
and soon made: while it is read, SQLite cannot empty its log.
"""

import contextlib
import os
import re
import shutil
import sqlite3
import threading
import time
from calendar import timegm
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from store.catalog import checksums, forgetting
from store.catalog.checksums import TABLES, WrongChecksum
from store.catalog.forgetting import ForgottenCoin
from store.disk.files import Disk
from store.disk.sqlite import SqliteFile, to_read
from store.errors import CatalogDamaged, NotWritten
from store.progress import Progress

Why = Literal["daily", "upgrade", "repair"]

FOLDER = "snapshots"  # next to the catalog
KEPT: dict[str, int] = {"daily": 7, "upgrade": 2, "repair": 2}
DERIVED = (
    "labels", "embeddings", "maps", "evaluations", "chroma_queue",
    "fingerprints", "lookalikes", "spellings", "suspicions", "unexamined", "likenesses", "likened", "unfit",
    "picture_texts", "picture_nudity", "picture_faults", "picture_details",
)  # fmt: skip
_OF_MEMORY = ("token_states",)  # derived as well
VECTORS = "vectors"  # derived as well, but slow to compute: in the newest copy of a catalog of …
_SMALL = 1_000_000_000  # … so many bytes at most
_A_DAY = 86_400
COPIED_AT_EACH_END = 16_000_000  # bytes of a file that is copied as often as it was changed: some 20 ms
_SPARE = 64_000_000  # bytes that a copy leaves free on the disk
_SHARE = 2  # all copies take one part in so many of the space that is free without them
_WHEN = "%Y%m%dT%H%M%S"
_NAME = re.compile(r"(\d{8}T\d{6})-(daily|upgrade|repair)\.sqlite3")
_making = threading.Lock()  # one at a time: each deletes what it finds unfinished
_STEPS = 1_000  # of SQLite's machine, between two looks whether the copy is still wanted


class CatalogSnapshot(NamedTuple):
    """One copy: its path, its time (UNIX seconds) and why it was made."""

    path: Path
    at: int
    reason: str

    @property
    def day(self) -> str:
        """Day and time of the snapshot in the machine's time zone."""
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(self.at))


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


def shortage(catalog: Path) -> str:
    """A sentence if the disk has no room for a week of daily copies; else ""."""
    copies = kept(catalog)
    daily = sum(one.reason == "daily" for one in copies)
    if not copies or daily >= KEPT["daily"]:
        return ""
    try:
        size = copies[0].path.stat().st_size
        is_enough = _size(copies) + size <= _allowed(catalog, copies)
    except FileNotFoundError:  # one is deleted in this moment
        return ""
    if is_enough:
        return ""
    return (
        f"the disk has room for {daily} of {KEPT['daily']} daily copies of the catalog, {size / 1e9:,.1f} GB "
        "each; copies take at most half of the space that is free without them"
    )


def make(catalog: Path, reason: Why, *, progress: Progress | None = None) -> CatalogSnapshot | None:
    """Copy the catalog as it is at one moment, while others may write; None if it was cancelled.

    The copy appears complete and verified, or not at all. Raises NotWritten without room, CatalogDamaged if
    the catalog is damaged: a damaged copy must not replace a sound one.
    """
    with _making:
        return _make(catalog, reason, progress or Progress())


def forget(catalog: Path, coins: Collection[ForgottenCoin]) -> list[Path]:
    """Leave no byte of these coins in any copy of the catalog; returns those that cannot be rewritten."""
    left = []
    with _making:
        for one in kept(catalog):
            try:
                with contextlib.closing(sqlite3.connect(one.path, isolation_level=None)) as db:
                    db.row_factory = sqlite3.Row
                    checksums.install(db)
                    db.execute("BEGIN IMMEDIATE")
                    forgetting.forget_in_copy(db, coins)
                    db.execute("COMMIT")
                _copy(one.path, one.path, without=(), progress=Progress())
            except (OSError, sqlite3.Error, CatalogDamaged, NotWritten):
                left.append(one.path)
    return left


def keep(file: SqliteFile, reason: Why, *, progress: Progress | None = None) -> None:
    """Copy a file in which something was decided; a daily copy only if it is due. Only reads."""
    if reason == "daily" and not is_due(file.path, now=time.time()):
        return
    with file.reading() as db:
        is_worth_it = db.execute("SELECT 1 FROM decisions").fetchone()
    if is_worth_it:
        make(file.path, reason, progress=progress)


def keep_current(file: SqliteFile, tables: Mapping[str, str]) -> None:
    """Let today's copy of a small file be of its present state, unless a row of `tables` is damaged.

    A large file is copied once a day, as by `keep`.
    """
    copies, now = kept(file.path), time.time()
    today = next((one for one in copies if one.reason == "daily" and now - _A_DAY < one.at), None)
    if today is None or file.path.stat().st_size > COPIED_AT_EACH_END:
        keep(file, "daily")
        return
    changed = max(path.stat().st_mtime_ns for path in file.path.parent.glob(f"{file.path.name}*"))
    with file.reading() as db:
        if changed <= today.path.stat().st_mtime_ns or checksums.wrong(db, tables):
            return
    if make(file.path, "daily"):
        today.path.unlink(missing_ok=True)


def renew(database: Path) -> None:
    """Replace all copies by one of the file as it is now: what was deleted for good is in none of them."""
    if copies := kept(database):
        with _making:
            for one in copies:
                one.path.unlink(missing_ok=True)
            _make(database, "daily", Progress())


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
    """Next to the catalog; each of the memory's files has a folder of its own there."""
    return catalog.parent / FOLDER / ("" if catalog.stem == "catalog" else catalog.stem)


def _make(catalog: Path, reason: Why, progress: Progress) -> CatalogSnapshot | None:
    folder, now = _folder(catalog), int(time.time())
    Disk().make_folder(folder)
    for left in folder.glob(".*.new*"):  # a copy that was cut short
        left.unlink()
    copies = kept(catalog)
    while any(one.at == now for one in copies):  # so that the newest is the last that was made
        now += 1
    path = folder / f"{time.strftime(_WHEN, time.gmtime(now))}-{reason}.sqlite3"
    without = DERIVED if catalog.stat().st_size <= _SMALL else (*DERIVED, VECTORS)
    try:
        if copies:
            _delete_old(catalog, copies[0], progress)  # others may have filled the disk
        _copy(catalog, path, without=without, progress=progress)
        made = CatalogSnapshot(path, now, reason)
        _delete_old(catalog, made, progress)
    except _Stopped:
        return None
    return made


def _copy(source: Path, target: Path, *, without: Collection[str], progress: Progress) -> None:
    """Copy the tables of a catalog, or of a copy of it, but for some; indices and triggers are left out."""
    unfinished = target.with_name(f".{target.name}.new")
    try:
        with contextlib.closing(sqlite3.connect(unfinished.as_uri(), uri=True, isolation_level=None)) as db:
            db.set_progress_handler(lambda: progress.cancelled, _STEPS)
            _fill(db, source, without)
            (fault,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if fault != "ok":
                raise sqlite3.DatabaseError(fault)
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.replace(target)
        Disk().fsync_folders([target.parent])
    except sqlite3.OperationalError as error:
        if progress.cancelled:
            raise _Stopped from None
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            place = source.parent
            raise NotWritten(f"the disk that holds {place} has no room for a copy of the catalog") from error
        raise
    except sqlite3.DatabaseError as error:
        raise CatalogDamaged(
            f"the catalog is damaged ({error}), so no copy of it is kept; doctor says more"
        ) from error
    finally:
        unfinished.unlink(missing_ok=True)


def _fill(db: sqlite3.Connection, source: Path, without: Collection[str]) -> None:
    for pragma in ("journal_mode = OFF", "synchronous = OFF"):  # a copy that is cut short is deleted
        db.execute(f"PRAGMA {pragma}")
    (size,) = db.execute("PRAGMA page_size").fetchone()
    pages = max(1, (shutil.disk_usage(source.parent).free - _SPARE) // size)
    db.execute(f"PRAGMA max_page_count = {pages}")
    db.execute("ATTACH ? AS source", [to_read(source)])
    db.execute("BEGIN")  # the catalog at one moment, while others may write
    tables = db.execute(
        "SELECT s.name, s.sql FROM source.sqlite_schema s JOIN pragma_table_list l "
        "ON l.schema = 'source' AND l.name = s.name AND l.type = 'table' WHERE s.type = 'table'"
    ).fetchall()
    for name, sql in tables:
        if name not in without and name not in _OF_MEMORY and not name.startswith("sqlite_"):
            db.execute(sql)
            db.execute(f"INSERT INTO main.{name} SELECT * FROM source.{name}")
    for name in ("application_id", "user_version"):
        (value,) = db.execute(f"PRAGMA source.{name}").fetchone()
        db.execute(f"PRAGMA main.{name} = {value}")
    db.execute("COMMIT")
    db.execute("DETACH source")


def _size(copies: Sequence[CatalogSnapshot]) -> int:
    return sum(one.path.stat().st_size for one in copies)


def _allowed(catalog: Path, copies: Sequence[CatalogSnapshot]) -> int:
    """How many bytes all copies may have."""
    return (shutil.disk_usage(catalog.parent).free + _size(copies)) // _SHARE


def _delete_old(catalog: Path, newest: CatalogSnapshot, progress: Progress) -> None:
    """Delete old copies: what is more than some of each kind, or than the disk has room for.

    The newest stays in any case, and one of each earlier catalog. Only the newest keeps vectors.
    """
    copies = kept(catalog)
    others = [one for one in copies if one.path != newest.path]
    counts, seen = {newest.reason: 1}, {lineage(newest)}
    left = _allowed(catalog, copies) - newest.path.stat().st_size
    for one in sorted(others, key=lambda one: one.at > newest.at):  # those of a clock set wrong go first
        counts[one.reason] = counts.get(one.reason, 0) + 1
        is_spare = (of := lineage(one)) in seen
        if is_spare and counts[one.reason] > KEPT[one.reason]:
            one.path.unlink(missing_ok=True)
            continue
        _thin(one, progress)
        left -= one.path.stat().st_size
        if is_spare and left < 0:
            one.path.unlink(missing_ok=True)
        seen.add(of)


def _thin(snapshot: CatalogSnapshot, progress: Progress) -> None:
    """Copy an older copy again without what can be computed, if it has that."""
    with contextlib.suppress(sqlite3.Error, CatalogDamaged, NotWritten):  # it stays as it is
        with reading(snapshot) as db:
            tables = {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        if VECTORS in tables:
            _copy(snapshot.path, snapshot.path, without=(*DERIVED, VECTORS), progress=progress)


def restore_rows(
    db: sqlite3.Connection, copies: Sequence[CatalogSnapshot], tables: Mapping[str, str] = TABLES
) -> list[WrongChecksum]:
    """Restore damaged rows, each from the newest copy that has what was written; returns the others."""
    return [one for one in checksums.wrong(db, tables) if not _restore_row(db, one, copies, tables)]


def _restore_row(
    db: sqlite3.Connection, one: WrongChecksum, copies: Sequence[CatalogSnapshot], tables: Mapping[str, str]
) -> bool:
    there = checksums.row(db, one.table, one.key, tables)
    for copy in copies:
        with reading(copy) as old:
            checksums.install(old)
            try:
                row = checksums.row(old, one.table, one.key, tables)
                noted = checksums.recorded(old, one.table, one.key)
            except sqlite3.Error:  # damaged itself, or of an earlier version
                continue
        if row is None or row[1] != noted:  # it was copied when it was damaged
            continue
        is_row = row[1] == one.expected
        if (is_row or (there and row[1] == there[1])) and put_row(db, one, row[0], tables):
            return True
    return False


def put_row(
    db: sqlite3.Connection, one: WrongChecksum, row: sqlite3.Row, tables: Mapping[str, str] = TABLES
) -> bool:
    """Write a row and its checksum in place of the one with its key; False if another row is in its way."""
    names, marks = ", ".join(row.keys()), ", ".join("?" * len(row))
    db.execute("SAVEPOINT row")
    try:
        db.execute(f"DELETE FROM {one.table} WHERE {tables[one.table]} = ?", [one.key])
        db.execute(f"INSERT INTO {one.table} ({names}) VALUES ({marks})", tuple(row))
    except sqlite3.IntegrityError:
        db.execute("ROLLBACK TO row")
        return False
    finally:
        db.execute("RELEASE row")
    return True

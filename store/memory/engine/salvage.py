"""A damaged or lost file of the text memory, made again from what it still says and from its last copy."""

import logging
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from store.catalog import pages, snapshots
from store.catalog.snapshots import DERIVED, CatalogSnapshot
from store.disk.files import Disk
from store.disk.sqlite_identity import identify, is_log, to_inspect
from store.errors import CatalogDamaged, CatalogTooNew, ForeignFile, NotWritten, ReadOnly
from store.memory.engine.database import SUMMED, VERSION, Database, bring_copy_up_to_date
from store.writing.salvage import put_in_place, rebuild, unplaced
from store.writing.surviving_rows import take_copied, take_tables

log = logging.getLogger(__name__)

NOT_TAKEN = {*DERIVED, "checksums", "token_states"}


def restore_if_lost(path: Path) -> None:
    """Make a file that is gone from its last copy; one that was never there is left to be made.

    Raises CatalogDamaged if it was there and has no copy.
    """
    if path.is_symlink() or (path.exists() and (not path.is_file() or path.stat().st_size)):
        return
    if is_lost(path):
        log.warning("%s", salvage(path))
    elif _was_in_use(path):
        raise CatalogDamaged(
            f"{path} is gone, and there is no copy of it; restore it from a backup, or "
            "`memory doctor --repair` begins it empty"
        )


def is_needed(path: Path) -> bool:
    """Whether this file is damaged or gone."""
    return bool(unplaced(path)) or is_lost(path) or _is_damaged(path)


def is_lost(path: Path) -> bool:
    """Whether the file was deleted or emptied while a copy of it exists."""
    if path.exists() and path.stat().st_size:
        return False
    return bool(unplaced(path) or snapshots.kept(path))


def _was_in_use(path: Path) -> bool:
    """Whether the file was there: its log is, or copies of it were."""
    is_copied = (path.parent / snapshots.FOLDER / path.stem).is_dir()
    return is_copied or is_log(path.with_name(f"{path.name}-wal"))


def salvage(path: Path) -> str:
    """Replace the file by one with what can be read of it and of its last copy; returns what was done."""
    if made := unplaced(path):
        return f"{path} was made again; the old one is kept as {put_in_place(path, made)}"
    was_there, version, copy, count = path.exists(), VERSION, None, 0
    with suppress(sqlite3.Error):  # rows of an earlier version fit no tables of today
        version = min(VERSION, ((found := identify(path)) and found.version) or VERSION)

    def fill(db: sqlite3.Connection, _: Path) -> None:
        nonlocal copy, count
        copy = _take(db, path, version)
        (count,) = db.execute("SELECT count(*) FROM history").fetchone()

    kept = rebuild(path, lambda new: Database(new, disk=Disk(), writable=True, version=version), fill)
    source = f"from its copy of {copy.day}" if copy else "from what it still says"
    if not (copy or was_there):
        source = "empty, since there is no copy"
    lost = "; what was stored since that copy may be lost" if copy else ""
    old = f"; the old file is kept as {kept}" if was_there else ""
    state = "damaged" if was_there else "gone"
    return f"{path} was {state}: a new one with {count:,} events of its history was made {source}{lost}{old}"


def _take(db: sqlite3.Connection, broken: Path, version: int) -> CatalogSnapshot | None:
    """Copy every row that can be had; returns the copy that was needed."""
    rows = db.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
    tables = [row[0] for row in rows if row[0] not in NOT_TAKEN and not row[0].startswith("sqlite_")]
    torn = take_tables(db, broken, tables, summed=SUMMED)

    def is_usable(copy: CatalogSnapshot) -> bool:
        bring_copy_up_to_date(copy.path, version)
        return True

    copy = take_copied(db, broken, torn, is_usable=is_usable)
    kinds = "SELECT replace(key, ' model', ' chroma_rebuild'), '1' FROM meta WHERE key GLOB '* model'"
    db.execute(f"INSERT OR REPLACE INTO meta {kinds}")
    return copy


def _is_damaged(path: Path) -> bool:
    if not path.exists() or not path.stat().st_size:
        return _was_in_use(path)
    try:
        if (found := identify(path)) and 0 < found.version < VERSION:
            with closing(sqlite3.connect(to_inspect(path), uri=True)) as db:
                return bool(pages.faults(db, ""))
        with closing(Database(path, disk=Disk(), writable=False)) as database, database.reading() as db:
            return bool(pages.faults(db, ""))
    except (CatalogDamaged, sqlite3.DatabaseError) as error:
        return not isinstance(error, sqlite3.OperationalError)
    except (CatalogTooNew, ForeignFile, NotWritten, ReadOnly):
        return False

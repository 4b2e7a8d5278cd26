"""Rebuild a damaged or lost catalog from what the old one, or else its last snapshot, still has."""

import logging
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from store.catalog import history, pages, rows, snapshots
from store.catalog.catalog import OWNER, VERSION, Catalog, check_is_ours, next_generation
from store.catalog.snapshots import CatalogSnapshot
from store.disk.aside import carry_out_moves, move_aside
from store.disk.files import Disk
from store.disk.layout import Layout
from store.disk.lock import WriterLock
from store.disk.replica import refuse_replica
from store.disk.sqlite_identity import is_log
from store.errors import CatalogDamaged, CatalogTooNew, ForeignFile
from store.vectors import matrix_files
from store.writing.surviving_rows import TABLES, take_rows

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Salvaged:
    """The rows that a new catalog got, by table, and the path of the old one."""

    taken: dict[str, int]
    kept: Path
    copy: CatalogSnapshot | None = None  # what the old one did not say any more is from here
    was_lost: bool = False

    @property
    def summary(self) -> str:
        """A description for people, losses included."""
        kept = f"the old one is kept as {self.kept}"
        if self.was_lost:
            source = f"its copy of {self.copy.day}" if self.copy else "its log alone"
            return (
                f"the catalog was gone: a new one was made from {source}, with "
                f"{self.taken['history']:,} events of its history; what was done since follows from the files"
            )
        if self.copy:
            kept = f"what it did not say any more is from its copy of {self.copy.day}; {kept}"
        if not self.taken["history"]:
            return (
                "the catalog was damaged, and nothing of its history could be read: records and captions are "
                "taken from their files, but who decided what, undo, drafts and saved searches from before "
                f"are gone (a backup has them, if there is one); {kept}"
            )
        return (
            f"the catalog was damaged: a new one took over {self.taken['history']:,} events of its history "
            f"and {self.taken['vectors']:,} vectors; {kept}"
        )


def salvage_if_damaged(layout: Layout) -> Salvaged | None:
    """Salvage the catalog if SQLite finds it damaged. Raises LibraryInUse while another process has it open.

    Raises CatalogTooNew or ForeignFile for one that is not ours; nothing is taken from it. Raises ReadOnly
    for a replica.
    """
    refuse_replica(layout.catalog)
    return salvage(layout) if is_lost(layout) or _is_damaged(layout) else None


def move_foreign_catalog_aside(layout: Layout) -> bool:
    """Move another program's database out of the catalog's place; returns whether there was one."""
    try:
        check_is_ours(layout.catalog)
    except ForeignFile as error:
        what = str(error).partition(";")[0].removeprefix(f"{layout.catalog} is ")
    except (sqlite3.Error, CatalogTooNew):
        return False
    else:
        return False
    lock = WriterLock(layout.lock)
    lock.acquire()
    try:
        names = [f"{layout.catalog.name}{ending}" for ending in ("", "-wal", "-shm", "-journal")]
        move_aside(names, source=layout.memecoins, into=layout.memecoins, what=what, disk=Disk())
        carry_out_moves(layout.memecoins, disk=Disk())  # the new catalog's history is told on opening
        return True
    finally:
        lock.release()


def salvage(layout: Layout) -> Salvaged:
    """Replace the catalog by one with what can be read of it and of its last snapshot.

    Raises LibraryInUse if another process writes to the library.
    """
    lock = WriterLock(layout.lock)
    lock.acquire()
    try:
        return _salvage(layout)
    finally:
        lock.release()


def recover_lost(layout: Layout) -> None:
    """Rebuild a deleted catalog from its last snapshot, if there is one; the caller holds the lock."""
    carry_out_moves(layout.memecoins, disk=Disk())  # before anything of ours is made in their place
    made = _beside(layout, "made")
    if layout.catalog.exists():
        made.unlink(missing_ok=True)
    elif made.exists():  # the power went between the old one's name and the new one's
        Disk().rename(made, layout.catalog)
    elif is_lost(layout):
        log.warning("%s", _salvage(layout).summary)


def is_lost(layout: Layout) -> bool:
    """Whether the catalog was deleted or emptied while a snapshot exists."""
    path = layout.catalog
    if path.exists() and (path.is_dir() or path.stat().st_size):
        return False
    return bool(snapshots.kept(path)) or is_log(path.with_name(f"{path.name}-wal"))


def last_copy(layout: Layout) -> str:
    """When the newest snapshot of the catalog was made."""
    return next((one.day for one in snapshots.kept(layout.catalog)), "none")


def _salvage(layout: Layout) -> Salvaged:
    """Make a new catalog from the old one and its snapshot, and move the old one aside.

    The new one is made beside it and renamed when it is complete, so a power cut cannot leave half of it.
    """
    was_lost, disk = is_lost(layout), Disk()
    unfinished, made = _beside(layout, "unfinished"), _beside(layout, "made")
    for ending in ("", "-wal", "-shm"):
        unfinished.with_name(unfinished.name + ending).unlink(missing_ok=True)
    broken = _beside(layout, f"damaged-{time.time_ns()}")
    catalog = Catalog(unfinished, disk=disk, writable=True)
    with catalog.writing() as db:
        copy = take_rows(db, layout)
        taken = {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES}
        _list_anew(db)
        db.execute("INSERT OR REPLACE INTO meta VALUES ('chroma_rebuild', '1')")
        if layout.catalog.exists() and not (
            taken["history"] or taken["sidecars"]
        ):  # nobody knows whose it was
            what, place = (
                "a catalog that could not be read at all",
                broken.relative_to(layout.root).as_posix(),
            )
            history.record_without_coin(
                db, history.MOVE_ASIDE, place, actor=history.PROGRAM, at=time.time(), reason=what
            )
        # Its generations restart, and Chroma may hold vectors that are lost here: it is kept aside.
        of_the_old = [(key,) for key in (matrix_files.NAMED, OWNER, "chroma_files", "chroma_dirty")]
        db.executemany("DELETE FROM meta WHERE key = ?", of_the_old)
    catalog.close()  # what is in its log comes into the file itself
    disk.rename(unfinished, made)
    disk.fsync_folders([layout.memecoins])
    for ending in ("-wal", "-shm", ""):
        path = layout.catalog.with_name(layout.catalog.name + ending)
        if path.exists():
            disk.rename(path, broken.with_name(broken.name + ending))
    disk.rename(made, layout.catalog)
    disk.fsync_folders([layout.memecoins])
    return Salvaged(taken, broken, copy, was_lost)


def _beside(layout: Layout, ending: str) -> Path:
    return layout.catalog.with_name(f"{layout.catalog.name}.{ending}")


def _is_damaged(layout: Layout) -> bool:
    if layout.catalog.is_dir():
        return True
    if not layout.catalog.exists() or not layout.catalog.stat().st_size:
        return False  # none yet: opening makes it
    try:
        catalog = Catalog(layout.catalog, disk=Disk(), writable=False)
    except CatalogDamaged:
        return True
    try:
        with catalog.reading() as db:
            there = {row["name"] for row in db.execute("SELECT name FROM sqlite_schema")}
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version == VERSION and not there.issuperset(TABLES):
                return True
            return bool(pages.first_fault(db))
    except sqlite3.OperationalError:  # busy, or not permitted: no damage
        return False
    except CatalogDamaged:
        return True
    finally:
        catalog.close()


def _list_anew(db: sqlite3.Connection) -> None:
    """Rebuild the list rows; a record whose sidecar is lost is left to the files."""
    db.execute("DELETE FROM records WHERE sidecar_hash NOT IN (SELECT hash FROM sidecars)")
    for row in db.execute("SELECT * FROM records").fetchall():
        rows.upsert(
            db,
            row["address"],
            rows.state_of(row),
            stats=(row["sidecar_stat"], row["image_stat"]),
            now=row["moved_at"],
            generation=next_generation(db),
            embeddings={},
        )

"""Rebuild a damaged or lost catalog from what the old one, or else its last snapshot, still has."""

import contextlib
import logging
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from store.catalog import checksums, history, pages, rows, snapshots
from store.catalog.catalog import OWNER, Catalog, check_is_ours, next_generation
from store.catalog.snapshots import CatalogSnapshot
from store.disk.aside import carry_out_moves, move_aside
from store.disk.files import Disk
from store.disk.layout import Layout
from store.disk.lock import WriterLock
from store.disk.sqlite import SqliteFile, plain_errors, refuse_replica, to_read
from store.disk.sqlite_identity import is_log
from store.errors import CatalogDamaged, CatalogTooNew, ForeignFile
from store.operations import Operation
from store.vectors import matrix_files

log = logging.getLogger(__name__)

MADE, DAMAGED = "made-", "damaged-"  # the new catalog and the old one, each with the same number


@dataclass(frozen=True, slots=True)
class SalvageReport:
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
            source = f"its copy of {self.copy.day}" if self.copy else "its files"
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


def salvage_if_damaged(layout: Layout) -> SalvageReport | None:
    """Salvage the catalog if SQLite finds it damaged. Raises LibraryInUse while another process has it open.

    Raises CatalogTooNew or ForeignFile for one that is not ours; nothing is taken from it. Raises ReadOnly
    for a replica.
    """
    refuse_replica(layout.catalog)
    is_needed = is_interrupted(layout) or is_lost(layout) or _is_damaged(layout)
    return salvage(layout) if is_needed else None


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
        carry_out_moves(layout.memecoins, disk=Disk())  # the new catalog's history is written on opening
        return True
    finally:
        lock.release()


def salvage(layout: Layout) -> SalvageReport:
    """Replace the catalog by one with what can be read of it and of its last snapshot."""
    lock = WriterLock(layout.lock)
    lock.acquire()
    try:
        if made := unplaced(layout.catalog):
            broken = put_in_place(layout.catalog, made)
            return SalvageReport(_counts(layout.catalog), broken)
        return _salvage(layout)
    finally:
        lock.release()


def recover_lost(layout: Layout) -> None:
    """Finish an interrupted salvage, or make a deleted catalog from its last snapshot, under the lock."""
    carry_out_moves(layout.memecoins, disk=Disk())  # before anything of ours is made in their place
    if made := unplaced(layout.catalog):
        put_in_place(layout.catalog, made)
    elif is_lost(layout):
        log.warning("%s", _salvage(layout).summary)


def is_interrupted(layout: Layout) -> bool:
    """Whether a salvage made a new catalog that is not in its place yet."""
    return unplaced(layout.catalog) is not None


def is_lost(layout: Layout) -> bool:
    """Whether the catalog was deleted or emptied while a snapshot, or its log, exists."""
    path = layout.catalog
    if path.exists() and (path.is_dir() or path.stat().st_size):
        return False
    return bool(snapshots.kept(path)) or is_log(path.with_name(f"{path.name}-wal"))


def last_copy(layout: Layout) -> str:
    """When the newest snapshot of the catalog was made."""
    return next((one.day for one in snapshots.kept(layout.catalog)), "none")


def _salvage(layout: Layout) -> SalvageReport:
    """Make a new catalog from the old one and its snapshot, and move the old one aside."""
    was_lost, copy, taken = is_lost(layout), None, dict[str, int]()

    def fill(db: sqlite3.Connection, broken: Path) -> None:
        nonlocal copy
        copy = take_rows(db, layout)
        taken.update(_count(db))
        _list_anew(db)
        db.execute("INSERT OR REPLACE INTO meta VALUES ('chroma_rebuild', '1')")
        if layout.catalog.exists() and not (taken["history"] or taken["sidecars"]):  # its owner is unknown
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

    kept = rebuild(layout.catalog, lambda path: Catalog(path, disk=Disk(), writable=True), fill)
    return SalvageReport(taken, kept, copy, was_lost)


def rebuild(
    path: Path, make: Callable[[Path], SqliteFile], fill: Callable[[sqlite3.Connection, Path], None]
) -> Path:
    """Exchange a file for a new one, and keep the old one at the path that this returns and `fill` is told.

    The new one is made next to it and renamed when it is complete, so a power cut cannot leave half of it.
    """
    unfinished, number, disk = beside(path, "unfinished"), time.time_ns(), Disk()
    for ending in ("", "-wal", "-shm"):
        unfinished.with_name(unfinished.name + ending).unlink(missing_ok=True)
    # Closed, it has in the file itself what is in its log.
    with closing(make(unfinished)) as file, file.writing() as db:
        fill(db, beside(path, f"{DAMAGED}{number}"))
    made = beside(path, f"{MADE}{number}")
    disk.rename(unfinished, made)
    disk.fsync_folders([path.parent])
    return put_in_place(path, made)


def unplaced(path: Path) -> Path | None:
    """The complete new file of a salvage that was interrupted before it had its place."""
    return next(path.parent.glob(f"{path.name}.made*"), None)


def put_in_place(path: Path, made: Path) -> Path:
    """Move the old file aside with its log, and the new one into its place; may be repeated.

    Returns where the old one is: its number is that of the new one, so that the log of one that was moved
    before a crash stays next to it.
    """
    disk, number = Disk(), made.name.partition(MADE)[2] or time.time_ns()
    broken = beside(path, f"{DAMAGED}{number}")
    for ending in ("-wal", "-shm", ""):
        old = path.with_name(path.name + ending)
        target = broken.with_name(broken.name + ending)
        if old.exists():  # one that was moved before the crash is not replaced by what a reader made since
            disk.rename(
                old, target.with_name(f"{target.name}.{time.time_ns()}") if target.exists() else target
            )
    disk.rename(made, path)
    disk.fsync_folders([path.parent])
    return broken


def beside(path: Path, ending: str) -> Path:
    """The path of a file that belongs to this one."""
    return path.with_name(f"{path.name}.{ending}")


def _counts(path: Path) -> dict[str, int]:
    with closing(Catalog(path, disk=Disk(), writable=False)) as catalog, catalog.reading() as db:
        return _count(db)


def _count(db: sqlite3.Connection) -> dict[str, int]:
    return {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES}


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
        with catalog.reading() as db:  # whose schema was compared on opening
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


# Truth that sidecars do not hold, and of `records` where each was last; all other rows come from these.
TABLES = (
    "records", "meta", "sidecars", "vectors", "journal", "decisions", "history", "drafts", "verdicts",
    "jobs", "job_items",
    "sources", "suggestions", "prompts",
    "taxonomies", "troubles", "inbox",
    "golden", "judgements", "calibrations", "removed", "copilots", "advice",
)  # fmt: skip


def take_rows(db: sqlite3.Connection, layout: Layout) -> CatalogSnapshot | None:
    """Copy the rows of a damaged catalog that SQLite can read, and from a snapshot those that it cannot.

    Returns the snapshot that was needed. The old catalog takes precedence over it.
    """
    made = {row["key"]: row["value"] for row in db.execute("SELECT * FROM meta")}
    db.execute("DELETE FROM meta")  # the old one's count, its secret among them
    torn = take_tables(db, layout.catalog, TABLES, summed=checksums.TABLES)
    secret = db.execute("SELECT value FROM meta WHERE key = 'secret'").fetchone()
    jobs = {row[0] for row in db.execute("SELECT id FROM jobs")}
    copy = take_copied(
        db, layout.catalog, torn,
        is_usable=lambda copy: not secret or snapshots.lineage(copy) == secret[0],
        is_wanted=lambda table, row: table != "journal" or _is_unfinished(db, layout, row, torn),
    )  # fmt: skip
    if copy:
        _remove_outdated(db, jobs)
    db.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", made.items())
    if "golden" in torn:
        db.execute("DELETE FROM meta WHERE key GLOB 'golden file *'")  # opening takes the files in again
    return copy


def take_tables(
    db: sqlite3.Connection, broken: Path, tables: Iterable[str], *, summed: Iterable[str]
) -> list[str]:
    """Copy what can be read of a damaged file, and the checksums of `summed`; returns the torn tables."""
    if not broken.is_file() or not broken.stat().st_size:  # opening it would make SQLite remove its log
        return [*tables]
    with contextlib.closing(sqlite3.connect(to_read(broken), uri=True)) as old:
        old.row_factory = sqlite3.Row
        with contextlib.suppress(sqlite3.Error):
            old.execute("PRAGMA writable_schema = ON")  # one damaged line of the schema costs one table
        torn = [table for table in tables if not _take_table(db, old, table)]
        _take_checksums(db, old, summed, torn)
    return torn


def take_copied(
    db: sqlite3.Connection,
    path: Path,
    torn: Collection[str],
    *,
    is_usable: Callable[[CatalogSnapshot], bool] = lambda copy: True,
    is_wanted: Callable[[str, sqlite3.Row], bool] = lambda table, row: True,
) -> CatalogSnapshot | None:
    """Copy missing rows of torn tables from the newest usable copy of a file; returns that copy.

    `is_usable` may bring a copy up to date, and raise sqlite3.Error for a damaged one, which is passed over.
    """
    for copy in snapshots.kept(path) if torn else ():
        db.execute("SAVEPOINT copy")
        try:
            if not is_usable(copy):
                continue
            there = {row["name"] for row in snapshots.rows(copy, "sqlite_schema")}
            for table in there.intersection(torn):  # one from before an upgrade has fewer
                for row in snapshots.rows(copy, table):
                    if is_wanted(table, row):
                        _insert_named(db, table, row, or_else="IGNORE")
            return copy
        except sqlite3.Error:  # damaged
            db.execute("ROLLBACK TO copy")
        finally:
            db.execute("RELEASE copy")
    return None


def _take_table(db: sqlite3.Connection, old: sqlite3.Connection, table: str) -> bool:
    """Copy the rows before a damaged page, and those after the last one; whether the table is whole."""
    columns = db.execute(f"PRAGMA table_info({table})").fetchall()
    (is_index,) = db.execute("SELECT wr FROM pragma_table_list WHERE name = ?", [table]).fetchone()
    key = sorted((one["pk"], one["name"]) for one in columns if one["pk"]) if is_index else [(1, "rowid")]
    for order in ("ASC", "DESC"):
        by = ", ".join(f"{name} {order}" for _, name in key)
        with contextlib.suppress(sqlite3.Error), plain_errors():
            is_whole = True
            for row in old.execute(f"SELECT * FROM {table} ORDER BY {by}"):
                is_whole &= _insert_named(db, table, row, or_else="REPLACE")
            return is_whole
    return False


def _take_checksums(
    db: sqlite3.Connection, old: sqlite3.Connection, summed: Iterable[str], torn: Collection[str]
) -> None:
    """The checksums of what was read: a damaged row must not get one that matches it."""
    whole = {*summed}.difference(torn)
    with contextlib.suppress(sqlite3.Error), plain_errors():  # unreadable, or from before there were any
        sums = [tuple(row) for row in old.execute("SELECT name, key, sum FROM checksums")]
        db.executemany("DELETE FROM checksums WHERE name = ?", [(table,) for table in whole])
        db.executemany("INSERT INTO checksums VALUES (?, ?, ?)", [one for one in sums if one[0] in whole])
        db.executemany(
            "UPDATE checksums SET sum = ? WHERE name = ? AND key = ?",
            [(sum_, table, key) for table, key, sum_ in sums if table in torn],
        )


def _is_unfinished(db: sqlite3.Connection, layout: Layout, row: sqlite3.Row, torn: list[str]) -> bool:
    """Whether an operation of then still waits: its files are staged, or its history is known to lack it."""
    if any(layout.operations.glob(f"*{row['id']}")):
        return True
    operation = Operation.from_json(row["operation"])
    events = "SELECT 1 FROM history WHERE decision = ? AND address = ?"
    return "history" not in torn and not any(
        db.execute(events, [operation.decision, change.address]).fetchone() for change in operation.changes
    )


def _remove_outdated(db: sqlite3.Connection, known: set[int]) -> None:
    """Remove outdated rows of the snapshot: drafts saved since, jobs that went on."""
    db.execute(
        "DELETE FROM drafts WHERE EXISTS (SELECT 1 FROM history h WHERE h.address = drafts.address "
        "AND h.who = drafts.who AND h.verb = 'caption' AND h.at >= drafts.at)"
    )
    marks = ", ".join("?" * len(known))
    db.execute(
        "UPDATE jobs SET state = 'paused' WHERE state IN ('waiting', 'running', 'interrupted') "
        f"AND id NOT IN ({marks})",
        [*known],
    )


def _insert_named(db: sqlite3.Connection, table: str, row: sqlite3.Row, *, or_else: str) -> bool:
    """By column names, because an earlier version may have fewer columns; whether the row fits."""
    names, marks = ", ".join(row.keys()), ", ".join("?" * len(row))
    with contextlib.suppress(sqlite3.Error):  # a row that was read wrong does not fit
        db.execute(f"INSERT OR {or_else} INTO {table} ({names}) VALUES ({marks})", tuple(row))
        return True
    return False

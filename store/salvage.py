"""A damaged catalog: a new one takes over whatever the old one can still be made to say."""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from store import listing
from store.catalog import Catalog, next_generation
from store.errors import CatalogDamaged
from store.files import Disk, content_hash
from store.layout import Layout
from store.lock import WriterLock
from store.raw_rows import RawRows, Value
from store.search import matrix_files

# Truth that sidecars do not hold, and of `records` where each was last; all other rows come from these.
_TABLES = (
    "records", "meta", "sidecars", "vectors", "journal", "decisions", "history", "drafts", "verdicts",
    "jobs", "job_items",
    "sources", "suggestions", "prompts",
    "taxonomies", "troubles", "inbox",
    "golden", "judgements", "calibrations",
)  # fmt: skip
_TYPES: dict[str, tuple[type, ...]] = {
    "TEXT": (str,), "INTEGER": (int,), "REAL": (int, float), "BLOB": (bytes,),
}  # fmt: skip
_NOT_RAW = "journal"  # a finished operation, found on a page that was given up, must not be applied again
# What tells the rows of tables apart that have columns of the same types.
_TELLS: dict[str, Callable[..., bool]] = {
    "meta": lambda key, value: isinstance(value, str),  # an index holds numbers of rows there
    "sidecars": lambda digest, text: content_hash(text.encode()) == digest,
    "drafts": lambda address, fields, who, at: fields.startswith("{"),
    "inbox": lambda path, stat, reason, at: stat.replace(":", "").isdigit(),
}


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What a new catalog took over, in rows by table, and where the old one lies."""

    taken: dict[str, int]
    kept: Path

    @property
    def told(self) -> str:
        """The same in words, what is lost included."""
        kept = f"the old one is kept as {self.kept}"
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


@dataclass(frozen=True, slots=True)
class _Table:
    """How a row of a table looks on a page."""

    name: str
    types: tuple[tuple[type, ...], ...]
    rowid: bool  # whether its first column is the row's number, which stands outside of the values

    def row(self, rowid: int, values: tuple[Value, ...]) -> tuple[Value, ...] | None:
        """The row if these values can be one of this table."""
        row = (rowid, *values[1:]) if self.rowid and values[0] is None else values
        if not all(isinstance(value, types) for value, types in zip(row, self.types, strict=True)):
            return None
        tells = _TELLS.get(self.name)
        return row if tells is None or tells(*row) else None


def salvage_if_damaged(layout: Layout) -> Salvaged | None:
    """Salvage the catalog if SQLite finds anything wrong with it; LibraryInUse while somebody has it open."""
    return salvage(layout) if _is_damaged(layout) else None


def salvage(layout: Layout) -> Salvaged:
    """Put the catalog aside and begin a new one with what can be read of it."""
    lock = WriterLock(layout.lock)
    lock.acquire()
    try:
        broken = layout.catalog.with_name(f"{layout.catalog.name}.damaged-{time.time_ns()}")
        for ending in ("", "-wal", "-shm"):
            path = layout.catalog.with_name(layout.catalog.name + ending)
            if path.exists():
                path.rename(broken.with_name(broken.name + ending))
        catalog = Catalog(layout.catalog, disk=Disk(), writable=True)
        with catalog.writing() as db:
            taken = _take(db, broken)
            _list_anew(db)
            db.execute("INSERT OR REPLACE INTO meta VALUES ('chroma_rebuild', '1')")
            db.execute("DELETE FROM meta WHERE key = ?", [matrix_files.NAMED])  # its generations begin anew
        catalog.close()
        return Salvaged(taken, broken)
    finally:
        lock.release()


def _is_damaged(layout: Layout) -> bool:
    if not layout.catalog.exists() or not layout.catalog.stat().st_size:
        return False  # none yet: opening makes it
    try:
        catalog = Catalog(layout.catalog, disk=Disk(), writable=False)
    except CatalogDamaged:
        return True
    try:
        with catalog.reading() as db:
            return bool(db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok")
    except sqlite3.OperationalError:  # busy, or not permitted: no damage
        return False
    except CatalogDamaged:
        return True
    finally:
        catalog.close()


def _take(db: sqlite3.Connection, broken: Path) -> dict[str, int]:
    """Table by table while SQLite can, and for the rest row by row from whatever page holds one."""
    old = sqlite3.connect(broken)
    torn = []
    for table in _TABLES:
        try:
            for row in old.execute(f"SELECT * FROM {table}"):
                _insert(db, table, row, or_else="REPLACE")
        except sqlite3.Error:
            torn.append(table)
    old.close()
    if "golden" in torn:
        db.execute("DELETE FROM meta WHERE key GLOB 'golden file *'")  # opening takes the files in again
    if torn:
        _take_raw(db, broken, [table for table in torn if table != _NOT_RAW])
    return {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in _TABLES}


def _take_raw(db: sqlite3.Connection, broken: Path, torn: Iterable[str]) -> None:
    shapes: dict[tuple[str, int], list[_Table]] = {}
    for name in torn:
        columns = db.execute(f"PRAGMA table_info({name})").fetchall()
        (sql,) = db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", [name]).fetchone()
        types = tuple(
            _TYPES.get(column["type"], (str, int, float, bytes))
            + (() if column["notnull"] else (type(None),))
            for column in columns
        )
        rowid = columns[0]["type"] == "INTEGER" and columns[0]["pk"] == 1
        tree = "index" if "WITHOUT ROWID" in sql else "table"
        shapes.setdefault((tree, len(columns)), []).append(_Table(name, types, rowid and tree == "table"))
    for tree, rowid, values in RawRows(broken):
        for table in shapes.get((tree, len(values)), ()):
            if row := table.row(rowid, values):
                _insert(db, table.name, row, or_else="IGNORE")


def _list_anew(db: sqlite3.Connection) -> None:
    """The rows for listing; a record whose sidecar is not known any more is left to the files."""
    db.execute("DELETE FROM records WHERE sidecar_hash NOT IN (SELECT hash FROM sidecars)")
    for row in db.execute("SELECT * FROM records").fetchall():
        listing.put(
            db,
            row["address"],
            listing.state_of(row),
            stats=(row["sidecar_stat"], row["image_stat"]),
            now=row["moved_at"],
            generation=next_generation(db),
            embeddings={},
        )


def _insert(db: sqlite3.Connection, table: str, row: tuple[Value, ...], *, or_else: str) -> None:
    marks = ", ".join("?" * len(row))
    with contextlib.suppress(sqlite3.Error):  # a row that was read wrong does not fit
        db.execute(f"INSERT OR {or_else} INTO {table} VALUES ({marks})", row)

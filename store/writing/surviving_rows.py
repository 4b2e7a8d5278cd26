"""The rows that a damaged catalog and its snapshots still have, copied to a new one."""

import contextlib
import sqlite3
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from store.catalog import checksums, snapshots
from store.catalog.snapshots import CatalogSnapshot
from store.disk.files import content_hash
from store.disk.layout import Layout
from store.disk.sqlite_identity import plain_errors, to_read
from store.disk.sqlite_values import marks
from store.operations import Operation
from store.writing.sqlite_pages import RawRows, Value

# Truth that sidecars do not hold, and of `records` where each was last; all other rows come from these.
TABLES = (
    "records", "meta", "sidecars", "vectors", "journal", "decisions", "history", "drafts", "verdicts",
    "jobs", "job_items",
    "sources", "suggestions", "prompts",
    "taxonomies", "troubles", "inbox",
    "golden", "judgements", "calibrations", "removed",
)  # fmt: skip
_TYPES: dict[str, tuple[type, ...]] = {
    "TEXT": (str,),
    "INTEGER": (int,),
    "REAL": (int, float),
    "BLOB": (bytes,),
}
_NOT_RAW = "journal"  # a finished operation, found on a page that was given up, must not be applied again
# What tells the rows of tables apart that have columns of the same types.
_TELLS: dict[str, Callable[..., bool]] = {
    "meta": lambda key, value: isinstance(value, str),  # an index holds numbers of rows there
    "sidecars": lambda digest, text: content_hash(text.encode()) == digest,
    "drafts": lambda address, fields, actor, at: fields.startswith("{"),
    "inbox": lambda path, stat, reason, at: stat.replace(":", "").isdigit(),
}


@dataclass(frozen=True, slots=True)
class _Table:
    """The form of a table's rows on a page."""

    name: str
    types: tuple[tuple[type, ...], ...]
    rowid: bool  # whether its first column is the row's number, which stands outside of the values

    def row(self, rowid: int, values: tuple[Value, ...]) -> tuple[Value, ...] | None:
        """The row, if these values can be one of this table."""
        row = (rowid, *values[1:]) if self.rowid and values[0] is None else values
        if not all(isinstance(value, types) for value, types in zip(row, self.types, strict=True)):
            return None
        tells = _TELLS.get(self.name)
        return row if tells is None or tells(*row) else None


def take_rows(db: sqlite3.Connection, layout: Layout) -> CatalogSnapshot | None:
    """Copy a damaged catalog's rows: by table while SQLite can, by row from its pages, or from a snapshot.

    Returns the snapshot that was needed. The old catalog takes precedence over it.
    """
    made = {row["key"]: row["value"] for row in db.execute("SELECT * FROM meta")}
    db.execute("DELETE FROM meta")  # the old one's count, its secret among them
    torn = take_tables(db, layout.catalog, TABLES, summed=checksums.TABLES)
    copy = _take_copy(db, layout, torn)
    db.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", made.items())
    if "golden" in torn:
        db.execute("DELETE FROM meta WHERE key GLOB 'golden file *'")  # opening takes the files in again
    return copy


def take_tables(
    db: sqlite3.Connection, broken: Path, tables: Iterable[str], *, summed: Iterable[str]
) -> list[str]:
    """Copy these tables of a damaged file, and the checksums of `summed`; returns those that are torn."""
    torn = [table for table in tables if not _taken_whole(db, broken, table)]
    if torn:
        _take_raw(db, broken, [table for table in torn if table != _NOT_RAW])
    _take_checksums(db, broken, [table for table in summed if table not in torn])
    return torn


def take_copied(db: sqlite3.Connection, copy: CatalogSnapshot, torn: Iterable[str]) -> None:
    """Copy the rows of torn tables that are missing. Raises sqlite3.Error for a damaged copy."""
    there = {row["name"] for row in snapshots.rows(copy, "sqlite_schema")}
    for table in there.intersection(torn):  # one from before an upgrade has fewer
        for row in snapshots.rows(copy, table):
            _insert_named(db, table, row, or_else="IGNORE")


def _taken_whole(db: sqlite3.Connection, broken: Path, table: str) -> bool:
    """Whether all of this table could be read; copies what could."""
    if not broken.is_file() or not broken.stat().st_size:  # opening it would make SQLite remove its log
        return False
    with contextlib.closing(sqlite3.connect(to_read(broken), uri=True)) as old:
        old.row_factory = sqlite3.Row
        try:
            with plain_errors():
                fit = [
                    _insert_named(db, table, row, or_else="REPLACE")
                    for row in old.execute(f"SELECT * FROM {table}")
                ]
        except sqlite3.Error:
            return False
    return all(fit)


def _take_checksums(db: sqlite3.Connection, broken: Path, whole: list[str]) -> None:
    """The checksums of tables that were read whole: a damaged row must not get one that matches it."""
    if not whole or not broken.is_file() or not broken.stat().st_size:
        return
    with (
        contextlib.closing(sqlite3.connect(to_read(broken), uri=True)) as old,
        contextlib.suppress(sqlite3.Error),  # unreadable, or of an earlier version
        plain_errors(),
    ):
        rows = [row for row in old.execute("SELECT * FROM checksums") if row[0] in whole]
        db.executemany("DELETE FROM checksums WHERE name = ?", [(table,) for table in whole])
        db.executemany("INSERT INTO checksums VALUES (?, ?, ?)", rows)


def _take_copy(db: sqlite3.Connection, layout: Layout, torn: list[str]) -> CatalogSnapshot | None:
    """Missing rows of damaged tables, from the newest readable snapshot of this very catalog."""
    secret = db.execute("SELECT value FROM meta WHERE key = 'secret'").fetchone()
    for copy in snapshots.kept(layout.catalog) if torn else ():
        if secret and snapshots.lineage(copy) != secret[0]:
            continue
        known = {row[0] for row in db.execute("SELECT id FROM jobs")}
        db.execute("SAVEPOINT copy")
        try:
            there = {row["name"] for row in snapshots.rows(copy, "sqlite_schema")}
            for table in there.intersection(torn):  # one from before an upgrade has fewer
                for row in snapshots.rows(copy, table):
                    if table != "journal" or _is_unfinished(db, layout, row, torn):
                        _insert_named(db, table, row, or_else="IGNORE")
        except sqlite3.Error:  # damaged
            db.execute("ROLLBACK TO copy")
            continue
        finally:
            db.execute("RELEASE copy")
        _remove_outdated(db, known)
        return copy
    return None


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


def _take_raw(db: sqlite3.Connection, broken: Path, torn: Collection[str]) -> None:
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
    sums: dict[tuple[str, Value], set[int]] = {}
    for tree, rowid, values in RawRows(broken):
        for table in shapes.get((tree, len(values)), ()):
            if row := table.row(rowid, values):
                _insert(db, table.name, row, or_else="IGNORE")
        if tree == "index" and len(values) == 3 and values[0] in torn and isinstance(values[2], int):
            sums.setdefault((str(values[0]), values[1]), set()).add(values[2])
    for (of, key), known in sums.items():  # some of pages that were given up
        put = "UPDATE checksums SET sum = ? WHERE name = ? AND key = ? AND sum NOT IN ({})"
        db.execute(put.format(marks(known)), [min(known), of, key, *known])


def _insert_named(db: sqlite3.Connection, table: str, row: sqlite3.Row, *, or_else: str) -> bool:
    """By column names, because an earlier version may have fewer columns; whether the row fits."""
    names, marks = ", ".join(row.keys()), ", ".join("?" * len(row))
    with contextlib.suppress(sqlite3.Error):  # a row that was read wrong does not fit
        db.execute(f"INSERT OR {or_else} INTO {table} ({names}) VALUES ({marks})", tuple(row))
        return True
    return False


def _insert(db: sqlite3.Connection, table: str, row: tuple[Value, ...], *, or_else: str) -> None:
    marks = ", ".join("?" * len(row))
    with contextlib.suppress(sqlite3.Error):  # a row that was read wrong does not fit
        db.execute(f"INSERT OR {or_else} INTO {table} VALUES ({marks})", row)

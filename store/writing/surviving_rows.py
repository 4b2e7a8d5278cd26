"""The rows that a damaged catalog and its snapshots still have, copied to a new one."""

import contextlib
import sqlite3
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from store.catalog import checksums, snapshots
from store.catalog.snapshots import CatalogSnapshot
from store.disk.layout import Layout
from store.disk.sqlite import plain_errors, to_read
from store.operations import Operation

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

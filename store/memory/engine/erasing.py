"""Leave no byte of deleted rows in the memory's file, without rewriting all of it.

`secure_delete` overwrites a deleted row where it is. When SQLite moves rows between pages it also leaves
copies of them in unused parts of pages. So the tables that had such rows are made again, which overwrites
every page of the old ones; the tables of other kinds stay as they are.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from store.catalog import snapshots
from store.memory.engine.database import Database, bring_copy_up_to_date
from store.memory.engine.kind import MemoryKind
from store.memory.engine.vectors import delete_unused

# Tables of all kinds with rows that say, or are named by, what a kind's entries are.
_SHARED = ("changes", "history", "pending", "recall", "adopted", "queried", "checksums")
_SCHEMA = "SELECT name, type, sql FROM sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL"


def erase_deleted(database: Database, kind: MemoryKind) -> None:
    """Delete vectors of texts that are gone, make the tables again that had rows of the kind, empty the log.

    Raises NotWritten while another process is reading.
    """
    with database.writing() as db:
        indexes = [
            row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE sql LIKE '%USING fts5%'")
        ]
        delete_unused(db, kind)
        for table in (*kind.tables, kind.vectors, *_SHARED):
            database.step("make again")
            _make_again(db, table)
        for index in (name for name in indexes if name.removesuffix("_words") in kind.tables):
            (sql,) = db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", [index]).fetchone()
            db.execute(f"DROP TABLE {index}")
            db.execute(sql)
            db.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")
    database.follow_again()
    database.empty_log()


def erase_copied(path: Path, kind: MemoryKind) -> None:
    """Leave nothing of this kind in any copy of the file; the other kinds stay. A damaged copy goes."""
    for one in snapshots.kept(path):
        try:
            bring_copy_up_to_date(one.path)
            with closing(sqlite3.connect(one.path, isolation_level=None)) as db:
                db.row_factory = sqlite3.Row
                db.execute("PRAGMA secure_delete = 1")
                db.execute("BEGIN")
                there = {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
                gone = (*kind.tables, kind.vectors)
                for table in there.intersection(gone):
                    db.execute(f"DROP TABLE {table}")
                for table in there.intersection(_SHARED) - {"checksums"}:
                    _make_again(db, table, without=f"kind = '{kind.name}'")
                named = ", ".join(f"'{table}'" for table in gone)
                of_kind = f"""name IN ({named}) OR key GLOB '["{kind.name}",*'"""
                _make_again(db, "checksums", without=of_kind)
                db.execute("COMMIT")
            os.utime(one.path, (one.at, one.at))  # of before what the file says by now
        except sqlite3.Error:
            one.path.unlink(missing_ok=True)


def _make_again(db: sqlite3.Connection, table: str, *, without: str = "FALSE") -> None:
    parts = db.execute(_SCHEMA, [table]).fetchall()
    columns = [row["name"] for row in db.execute(f"PRAGMA table_info({table})")]
    (is_index,) = db.execute("SELECT wr FROM pragma_table_list WHERE name = ?", [table]).fetchone()
    if not is_index and not _has_number(db, table):
        columns.insert(0, "rowid")  # full text names rows by it
    counted = None
    if db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").fetchone():
        counted = db.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", [table]).fetchone()
    names = ", ".join(columns)
    sql = next(one["sql"] for one in parts if one["type"] == "table")
    db.execute(sql.replace(table, "spare", 1))
    db.execute(f"INSERT INTO spare ({names}) SELECT {names} FROM {table} WHERE NOT ({without})")
    db.execute(f"DROP TABLE {table}")
    db.execute("PRAGMA legacy_alter_table = ON")  # triggers of other tables may name this one
    db.execute(f"ALTER TABLE spare RENAME TO {table}")
    db.execute("PRAGMA legacy_alter_table = OFF")
    for one in parts:
        if one["type"] != "table":
            db.execute(one["sql"])
    if counted:
        db.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", [counted[0], table])
        if not db.execute("SELECT 1 FROM sqlite_sequence WHERE name = ?", [table]).fetchone():
            db.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", [table, counted[0]])


def _has_number(db: sqlite3.Connection, table: str) -> bool:
    keys = [row for row in db.execute(f"PRAGMA table_info({table})") if row["pk"]]
    return len(keys) == 1 and keys[0]["type"] == "INTEGER"

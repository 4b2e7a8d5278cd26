"""Delete for good, and leave no byte of deleted rows in the memory's file, without rewriting all of it.

`secure_delete` overwrites a deleted row where it is. When SQLite moves rows between pages it also leaves
copies of them in unused parts of pages. So the tables that had such rows are made again, which overwrites
every page of the old ones; the tables of other kinds stay as they are.
"""

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from store.catalog import snapshots
from store.catalog.catalog import count_up
from store.catalog.history import FORGET
from store.memory.engine.change import BESIDE, PENDING, MemoryChange, refuse_agents
from store.memory.engine.database import ERASING, Database, bring_copy_up_to_date
from store.memory.engine.entries import Entries
from store.memory.engine.inputs import UnknownEntry
from store.memory.engine.kind import EPOCH, MemoryKind
from store.writing.salvage import DAMAGED

# Tables of all kinds with rows that say, or are named by, what a kind's entries are.
_SHARED = ("changes", "history", "pending", "recall", "adopted", "queried", "checksums")
_SCHEMA = "SELECT name, type, sql FROM sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL"


def erase(entries: Entries, column: str, value: str, *, actor: str = "", decision: str | None = None) -> int:
    """Delete entries for good: texts, vectors, full-text rows, history, counts of questions.

    Cannot be undone. Call `finish_erasing` afterwards; after a crash the next opening does. Raises
    UnknownEntry if there is nothing of it, unless it is the same `decision` again: then there was none.
    """
    refuse_agents(entries.actor, "delete for good")
    is_begun = entries.decided(decision) is not None
    try:
        with entries.database.writing() as db:
            return _erase(entries.begin(db, FORGET, actor=actor, decision=decision), column, value)
    except UnknownEntry:
        if not is_begun:
            raise
        return 0


def erase_traces(entries: Entries, purge: Callable[[], None]) -> bool:
    """Make the kind's tables again and `purge` what was derived, if there is need; returns whether."""
    if not entries.database.meta(ERASING):
        return False
    path = entries.database.path
    _erase_deleted(entries.database, entries.kind)
    _erase_copied(path, entries.kind)
    for old in path.parent.glob(f"*.{DAMAGED}*"):
        old.unlink()  # a new file was made of it
    ids = {row[0] for row in entries.database.rows(f"SELECT id FROM {entries.kind.table}")}
    entries._retrievals.keep_only(ids, scopes={"", *(entries.counts() if entries.kind.scope else ())})
    purge()
    entries.database.set_meta(ERASING, "")
    return True


def _erase(change: MemoryChange, column: str, value: str) -> int:
    """Delete rows with all traces of them; the rest stays. Raises UnknownEntry if there is nothing."""
    db, kind = change.db, change.kind
    gone = f"SELECT id FROM {kind.table} WHERE {column} = ?"
    past = "SELECT id FROM history WHERE tbl = ? AND json_extract(before, ?) = ?"
    ids = [row[0] for row in db.execute(f"{gone} UNION {past}", [value, kind.table, f"$.{column}", value])]
    waiting = _waiting(change, column, value, ids)
    if not ids and not waiting:
        raise UnknownEntry(f"there is nothing of {value!r} in {kind.name}")
    count = db.execute(f"SELECT count(*) FROM {kind.table} WHERE {column} = ?", [value]).fetchone()[0]
    db.execute(f"DELETE FROM {kind.table} WHERE {column} = ?", [value])
    places = [(kind.name, id) for id in (*ids, *waiting)]
    decided = set[int]()
    for place in places:
        found = db.execute("SELECT DISTINCT decision FROM history WHERE kind = ? AND id = ?", place)
        decided.update(row[0] for row in found)
    for table in ("history", *BESIDE):
        db.executemany(f"DELETE FROM {table} WHERE kind = ? AND id = ?", places)
    for table in (*kind.tables, *BESIDE):
        db.executemany(f"DELETE FROM changes WHERE kind = ? AND id = ? AND tbl = '{table}'", places)
    db.executemany(
        "DELETE FROM decisions WHERE number = ?1 AND NOT EXISTS (SELECT 1 FROM history WHERE decision = ?1)",
        [(number,) for number in decided],
    )
    db.execute("DELETE FROM queried WHERE kind = ? AND scope = ?", [kind.name, value])
    count_up(db, kind.key(EPOCH))
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, '1')", [kind.key(ERASING)])
    change.record_final("entries", "", {}, count=count)  # that it happened, and nothing of what it was
    return int(count)


def _waiting(change: MemoryChange, column: str, value: str, ids: Sequence[str]) -> list[str]:
    """The ids of what waits, or waited, to become an entry of this value or to change one of these."""
    db, kind, inside = change.db, change.kind.name, f"$.{column}"
    found = db.execute(
        "SELECT id FROM pending WHERE kind = ? AND json_extract(row, ?) = ? UNION SELECT id FROM history "
        "WHERE kind = ? AND tbl = ? AND json_extract(json_extract(before, '$.row'), ?) = ?",
        [kind, inside, value, kind, PENDING, inside, value],
    ).fetchall()
    named = (
        "SELECT id FROM pending WHERE kind = ? AND target = ? UNION "
        "SELECT id FROM history WHERE kind = ? AND tbl = ? AND json_extract(before, '$.target') = ?"
    )
    rows = [row for id in ids for row in db.execute(named, [kind, id, kind, PENDING, id])]
    return list({row[0] for row in (*found, *rows)})


def _erase_deleted(database: Database, kind: MemoryKind) -> None:
    """Delete vectors of texts that are gone, make the kind's tables again, empty the log."""
    with database.writing() as db:
        indexes = [
            row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE sql LIKE '%USING fts5%'")
        ]
        kind.delete_unused_vectors(db)
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


def _erase_copied(path: Path, kind: MemoryKind) -> None:
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

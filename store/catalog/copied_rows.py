"""Rows whose checksum fails, given back from the copies of their file."""

import sqlite3
from collections.abc import Mapping, Sequence

from store.catalog import checksums, snapshots
from store.catalog.checksums import TABLES, WrongChecksum
from store.catalog.snapshots import CatalogSnapshot


def restore_row(
    db: sqlite3.Connection,
    one: WrongChecksum,
    copies: Sequence[CatalogSnapshot],
    tables: Mapping[str, str] = TABLES,
) -> bool:
    """Restore this row from the newest copy that has what was written; False if none has."""
    there = checksums.row(db, one.table, one.key, tables)
    for copy in copies:
        with snapshots.reading(copy) as old:
            checksums.install(old)
            try:
                row = checksums.row(old, one.table, one.key, tables)
                noted = checksums.recorded(old, one.table, one.key)
            except sqlite3.Error:  # damaged itself, or of an earlier version
                continue
        if row is None or row[1] != noted:  # it was copied when it was damaged
            continue
        is_row = row[1] == one.expected
        if (is_row or (there and row[1] == there[1])) and put(db, one, row[0], tables):
            return True
    return False


def put(
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

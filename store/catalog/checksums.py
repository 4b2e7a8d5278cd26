"""A checksum for each row that could not be verified otherwise, maintained by triggers of the catalog.

Sidecars are named by their hash, and the rows behind lists follow from sidecars. Decisions and typed texts
have nothing to be compared with, so a flipped bit in them would stay unnoticed.
"""

import sqlite3
import zlib
from collections.abc import Mapping
from typing import NamedTuple

# Each table with what tells its rows apart (SQL). Not jobs, whose rows change all the time and end soon.
TABLES = {
    "meta": "key",
    "decisions": "number",
    "history": "id",
    "verdicts": "id",
    "drafts": "json_array(address, who)",
    "sources": "json_array(decision, address, facet)",
    "suggestions": "id",
    "prompts": "json_array(name, version)",
    "taxonomies": "number",
    "golden": "line",
    "judgements": "json_array(line, address)",
}


class WrongChecksum(NamedTuple):
    """A row that does not match its checksum, or a checksum without its row."""

    table: str
    key: int | str
    expected: int | None  # None: it has no checksum


def install(db: sqlite3.Connection) -> None:
    """Register the function that the triggers call; SQLite refuses to write without it."""
    db.create_function("row_sum", -1, row_sum, deterministic=True)


def row_sum(*values: bytes | str | float | None) -> int:
    """CRC-32 of a row; detects every burst error of up to 32 bits."""
    return zlib.crc32(repr(values).encode())


def begin(db: sqlite3.Connection, tables: Mapping[str, str]) -> None:
    """Make the checksums of all rows of these tables, in a file other than the catalog."""
    db.execute(
        "CREATE TABLE IF NOT EXISTS checksums (name TEXT NOT NULL, key ANY NOT NULL, sum INTEGER NOT NULL, "
        "PRIMARY KEY (name, key)) STRICT, WITHOUT ROWID"
    )
    db.execute("DELETE FROM checksums")
    for table, key in tables.items():
        db.execute(f"INSERT INTO checksums SELECT '{table}', {key}, {sum_of(db, table)} FROM {table}")


def follow(db: sqlite3.Connection, tables: Mapping[str, str]) -> None:
    """Let this connection keep the checksums of these tables, by triggers of its own."""
    for table, key in tables.items():
        forget = f"DELETE FROM checksums WHERE name = '{table}' AND key ="
        new, old = (f"{forget} {_of(key, side)};" for side in ("new", "old"))
        add = f"INSERT INTO checksums VALUES ('{table}', {_of(key, 'new')}, {sum_of(db, table, 'new')});"
        for verb, does in (("INSERT", new + add), ("UPDATE", old + new + add), ("DELETE", old)):
            name = f"{table}_{verb.lower()}_sum"
            db.execute(
                f"CREATE TEMP TRIGGER IF NOT EXISTS {name} AFTER {verb} ON main.{table} BEGIN {does} END"
            )


def wrong(db: sqlite3.Connection, tables: Mapping[str, str] = TABLES) -> list[WrongChecksum]:
    """The rows that do not match their checksums, lost rows included."""
    found = []
    for table, key in tables.items():
        rows = db.execute(
            f"SELECT {_of(key, 't')} AS key, c.sum FROM {table} t LEFT JOIN checksums c "
            f"ON c.name = '{table}' AND c.key = {_of(key, 't')} WHERE c.sum IS NOT {sum_of(db, table, 't')}"
        )
        found += [WrongChecksum(table, row[0], row[1]) for row in rows]
        gone = db.execute(
            f"SELECT key, sum FROM checksums WHERE name = '{table}' "
            f"AND key NOT IN (SELECT {key} FROM {table})"
        )
        found += [WrongChecksum(table, row[0], row[1]) for row in gone]
    return found


def first_fault(db: sqlite3.Connection) -> str:
    """A row that does not match its checksum, in words; "" if all do."""
    return next((f"row {one.key} of {one.table} is not what was written" for one in wrong(db)), "")


def row(
    db: sqlite3.Connection, table: str, key: int | str, tables: Mapping[str, str] = TABLES
) -> tuple[sqlite3.Row, int] | None:
    """The row with this key and the checksum of its content; None if there is none."""
    found: sqlite3.Row | None = db.execute(
        f"SELECT * FROM {table} WHERE {tables[table]} = ?", [key]
    ).fetchone()
    if found is None:
        return None
    checksum = db.execute(f"SELECT {sum_of(db, table)} FROM {table} WHERE {tables[table]} = ?", [key])
    return found, int(checksum.fetchone()[0])


def recorded(db: sqlite3.Connection, table: str, key: int | str) -> int | None:
    """The checksum stored for this row; None if there is none."""
    found = db.execute("SELECT sum FROM checksums WHERE name = ? AND key = ?", [table, key]).fetchone()
    return int(found[0]) if found else None


def sum_of(db: sqlite3.Connection, table: str, side: str = "") -> str:
    """SQL for a row's checksum. Texts are passed as bytes, because damaged ones may not be valid UTF-8."""
    prefix = f"{side}." if side else ""
    columns = db.execute(f"SELECT name, type FROM pragma_table_info('{table}') ORDER BY cid").fetchall()
    values = (
        f"{prefix}{name}" if kind in ("INTEGER", "REAL", "BLOB") else f"CAST({prefix}{name} AS BLOB)"
        for name, kind in columns
    )
    return f"row_sum({', '.join(values)})"


def _of(key: str, side: str) -> str:
    if not key.startswith("json_array"):
        return f"+{side}.{key}"  # without its affinity, with which the index would not be used
    names = key.removeprefix("json_array(").removesuffix(")").split(", ")
    return f"json_array({', '.join(f'{side}.{name}' for name in names)})"

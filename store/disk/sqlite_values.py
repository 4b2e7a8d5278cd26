"""Values for SQLite's statements: their marks, many rows at once, and the integers that it can store."""

import sqlite3
from collections.abc import Sequence, Sized
from typing import Any, TypeGuard

_AT_ONCE = 1_000  # rows of one statement


def marks(values: Sized) -> str:
    """A question mark for each of these values, as in `IN (?, ?, ?)`."""
    return ", ".join("?" * len(values))


def insert_rows(
    db: sqlite3.Connection,
    table: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    verb: str = "INSERT",
) -> None:
    """Insert many rows in few statements: full text writes a segment for each, which has to be merged."""
    one = f"({marks(columns)})"
    for start in range(0, len(rows), _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        db.execute(
            f"{verb} INTO {table} ({', '.join(columns)}) VALUES {', '.join([one] * len(part))}",
            [value for row in part for value in row],
        )


def is_integer(value: object) -> TypeGuard[int]:
    """Whether this is an integer that SQLite can store."""
    return type(value) is int and -(1 << 63) <= value < 1 << 63

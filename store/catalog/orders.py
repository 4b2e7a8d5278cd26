"""The orders of lists: all records by row number, and where a changed one belongs."""

import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.records import TIERS

Numbers = NDArray[np.int32]  # of rows in `records`


@dataclass(frozen=True, slots=True)
class _Order:
    column: str
    terms: str  # of the index that begins with the tier
    key: Callable[[sqlite3.Row], Any]  # of the column, as the terms sort it


_ORDERS: Mapping[str, _Order] = {
    "newest": _Order("created_at", "created_at DESC, address", lambda row: -row["created_at"]),
    "oldest": _Order("created_at", "created_at, address", lambda row: row["created_at"]),
    "name": _Order("name", "name COLLATE NOCASE, address", lambda row: row["name"].encode().lower()),
    "moved": _Order("moved_at", "moved_at DESC, address", lambda row: -row["moved_at"]),
}
SORTS = tuple(_ORDERS)


def in_order(sort: str) -> str:
    """A query for the row numbers of all records in this order: SQLite merges the tiers' indexes."""
    order = _ORDERS[sort]
    tiers = (f"SELECT id, {order.column}, address FROM records WHERE tier = '{tier}'" for tier in TIERS)
    return f"SELECT id FROM ({' UNION ALL '.join(tiers)} ORDER BY {order.terms})"


def moved(db: sqlite3.Connection, known: Numbers, changed: list[int], sort: str) -> Numbers:
    """The order with these records, changed or new, where they belong now."""
    order = _ORDERS[sort]
    left = known[~np.isin(known, changed)]
    query = f"SELECT {order.column}, address FROM records WHERE id = ?"

    def key(number: int) -> tuple[Any, str]:
        row = db.execute(query, [int(number)]).fetchone()
        return order.key(row), row["address"]

    ordered = sorted(changed, key=key)
    return np.insert(left, [bisect_left(left, key(number), key=key) for number in ordered], ordered)

"""Fields of an adopted entry without a column of their own, so that an export can give them back."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from store.disk.sqlite_values import marks
from store.memory.engine.change import MemoryChange

TABLE = "adopted"
_SCHEMA = f"CREATE TABLE IF NOT EXISTS {TABLE} (id TEXT PRIMARY KEY, metadata TEXT NOT NULL) STRICT"


def create(db: sqlite3.Connection) -> None:
    """Make the table, unless it is there."""
    db.execute(_SCHEMA)


def store(change: MemoryChange, id: str, metadata: Mapping[str, Any]) -> None:
    """Store the metadata with this entry, as a part of the change."""
    create(change.db)
    change.upsert({"id": id, "metadata": json.dumps(metadata)}, table=TABLE)


def of(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The metadata of those of these entries that came with some."""
    if not exists(db) or not ids:
        return {}
    rows = db.execute(f"SELECT id, metadata FROM {TABLE} WHERE id IN ({marks(ids)})", [*ids])
    return {id: json.loads(text) for id, text in rows}


def delete(db: sqlite3.Connection, ids: Sequence[str]) -> None:
    """Delete the metadata of entries that are deleted for good."""
    if exists(db):
        db.executemany(f"DELETE FROM {TABLE} WHERE id = ?", [(id,) for id in ids])


def exists(db: sqlite3.Connection) -> bool:
    """Whether any entry of this kind was adopted with metadata."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return db.execute(query, [TABLE]).fetchone() is not None

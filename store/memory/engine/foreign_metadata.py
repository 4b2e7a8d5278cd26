"""Fields of an adopted entry without a column of their own, so that an export can give them back."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from store.disk.sqlite_values import marks
from store.memory.engine.change import ADOPTED, MemoryChange
from store.memory.engine.kind import MemoryKind


def store(change: MemoryChange, id: str, metadata: Mapping[str, Any]) -> None:
    """Store the metadata with this entry, as a part of the change."""
    change.upsert({"id": id, "metadata": json.dumps(metadata)}, table=ADOPTED)


def of(db: sqlite3.Connection, kind: MemoryKind, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The metadata of those of these entries that came with some."""
    query = f"SELECT id, metadata FROM adopted WHERE kind = ? AND id IN ({marks(ids)})"
    return {id: json.loads(text) for id, text in db.execute(query, [kind.name, *ids])}

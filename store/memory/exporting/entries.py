"""The entries of one kind with their vectors, batch by batch, as an export needs them."""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from store.memory.documents.documents import metadata as document_metadata
from store.memory.engine.entries import Entries
from store.memory.engine.foreign import kept_fields
from store.memory.engine.inputs import for_chroma
from store.memory.engine.vectors import joined, with_any_vector

_BATCH = 500


@dataclass(frozen=True, slots=True)
class ExportEntry:
    """One entry: its row, what came with it, and its vector by the model asked for."""

    row: dict[str, Any]
    metadata: dict[str, Any]
    vector: bytes | None


def batches(entries: Entries, *, model: str = "", table: str = "") -> Iterator[list[ExportEntry]]:
    """All entries in the order in which they were written; vectors by `model`, "" for the kind's own."""
    kind, model, last = entries.kind, model or entries.version, -1
    source = f"SELECT *, NULL AS asked FROM (SELECT rowid AS rowid_, * FROM {table} WHERE ? <> '') p"
    if table in ("", kind.table):
        source = f"SELECT p.*, v.vector AS asked FROM {with_any_vector(kind)} p {joined(kind, model='?')}"
    while True:
        with entries.database.reading() as db:
            query = f"{source} WHERE p.rowid_ > ? ORDER BY p.rowid_ LIMIT ?"
            rows = db.execute(query, [model, last, _BATCH]).fetchall()
            if not rows:
                return
            last = rows[-1]["rowid_"]
            came_with = kept_fields(db, kind, [row["id"] for row in rows])
        yield [ExportEntry(_plain(row), came_with.get(row["id"], {}), row["asked"]) for row in rows]


def metadata_of(kind: str, entry: ExportEntry) -> dict[str, Any]:
    """The metadata as the references keep them, with what came along."""
    return for_chroma(_metadata(kind, entry))


def _metadata(kind: str, entry: ExportEntry) -> dict[str, Any]:
    row = entry.row
    if kind == "memories":
        return {"timestamp": row["timestamp"], "tags": ",".join(json.loads(row["tags"])), **entry.metadata}
    if kind == "world_lore":
        return {**json.loads(row["metadata"]), "world_id": row["world_id"]}
    if kind == "session_memory":
        return {"session_id": row["session_id"], **entry.metadata}
    return entry.metadata or document_metadata(row)


def _plain(row: sqlite3.Row) -> dict[str, Any]:
    return {name: row[name] for name in row.keys() if name not in ("rowid_", "number", "asked")}  # noqa: SIM118

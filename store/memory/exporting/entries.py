"""The entries of one kind with their vectors, batch by batch, as an export needs them."""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from store.memory.documents.documents import metadata as document_metadata
from store.memory.engine import foreign_metadata
from store.memory.engine.inputs import for_chroma
from store.memory.engine.kind import MemoryKind
from store.memory.engine.passages import Passages
from store.memory.engine.vector_cache import text_hash

_BATCH = 500


@dataclass(frozen=True, slots=True)
class ExportEntry:
    """One entry: its row, what came with it, and its vector by the model asked for."""

    row: dict[str, Any]
    metadata: dict[str, Any]
    vector: bytes | None


def entries(passages: Passages, *, model: str = "", table: str = "") -> Iterator[list[ExportEntry]]:
    """All entries in the order in which they were written; vectors by `model`, "" for the kind's own."""
    table, model, last = table or passages.kind.table, model or passages.model, -1
    while True:
        with passages.database.reading() as db:
            rows = db.execute(
                f"SELECT rowid AS rowid_, * FROM {table} WHERE rowid > ? ORDER BY rowid LIMIT ?",
                [last, _BATCH],
            ).fetchall()
            if not rows:
                return
            last = rows[-1]["rowid_"]
            came_with = foreign_metadata.of(db, passages.kind, [row["id"] for row in rows])
            has_vectors = table == passages.kind.table
            batch = [
                ExportEntry(
                    _plain(row),
                    came_with.get(row["id"], {}),
                    _vector(db, passages.kind, row, model=model) if has_vectors else None,
                )
                for row in rows
            ]
        yield batch


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


def _vector(db: sqlite3.Connection, kind: MemoryKind, row: sqlite3.Row, *, model: str) -> bytes | None:
    if row["vector"] is not None and row["embedding_model"] == model:
        return bytes(row["vector"])
    kept = db.execute(
        "SELECT vector FROM kept_vectors WHERE kind = ? AND id = ? AND model = ? AND text_hash = ?",
        [kind.name, row["id"], model, text_hash(row[kind.text])],
    ).fetchone()
    return bytes(kept[0]) if kept else None


def _plain(row: sqlite3.Row) -> dict[str, Any]:
    return {name: row[name] for name in row.keys() if name not in ("rowid_", "number")}  # noqa: SIM118

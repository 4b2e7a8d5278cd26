"""Vectors of earlier models, stored with a hash of their text, reused, and never lost.

Embedding may have cost money, so a vector is stored here before another model replaces it.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from hashlib import sha256

from store.embedding import embedding_cache
from store.embedding.embedding_cache import ModelVectors
from store.memory.engine.kind import MemoryKind

UNKNOWN = "unknown"  # the model of a vector that came without a name


def store(
    db: sqlite3.Connection, kind: MemoryKind, ids: Iterable[str] | None = None, *, model: str = ""
) -> None:
    """Store the vectors of these entries (or of all), except those of this model."""
    columns = f"id, {kind.text} AS text, vector, coalesce(embedding_model, '{UNKNOWN}') AS model"
    query = f"SELECT {columns} FROM {kind.table} WHERE vector IS NOT NULL AND embedding_model IS NOT ?"
    if ids is None:
        rows: Iterable[sqlite3.Row] = db.execute(query, [model])
    else:
        rows = (row for id in ids for row in db.execute(f"{query} AND id = ?", [model, id]).fetchall())
    db.executemany(
        "INSERT OR REPLACE INTO kept_vectors VALUES (?, ?, ?, ?, ?)",
        ((kind.name, row["id"], row["model"], text_hash(row["text"]), row["vector"]) for row in rows),
    )


def store_new(db: sqlite3.Connection, kind: MemoryKind, *, model: str) -> None:
    """Store what a change to this model has embedded so far."""
    db.execute(
        "INSERT OR REPLACE INTO kept_vectors SELECT kind, id, ?, text_hash, vector FROM new_vectors "
        "WHERE kind = ?",
        [model, kind.name],
    )


def store_foreign(
    db: sqlite3.Connection, kind: MemoryKind, id: str, text_hash: str, vector: bytes, *, model: str
) -> None:
    """Store a vector that came with an entry and is of another model than the kind's."""
    db.execute(
        "INSERT OR REPLACE INTO kept_vectors VALUES (?, ?, ?, ?, ?)",
        [kind.name, id, model, text_hash, vector],
    )


def known(
    db: sqlite3.Connection, kind: MemoryKind, texts: Mapping[str, str], *, model: str, dimensions: int
) -> dict[str, bytes]:
    """Vectors that this model made of these very texts (id → text) before, by id."""
    found, short = {}, model.removeprefix("litellm:")  # as other programs name the same model
    for id, text in texts.items():
        row = db.execute(
            "SELECT vector FROM kept_vectors WHERE kind = ? AND id = ? AND model IN (?, ?) AND text_hash = ? "
            "UNION ALL "
            f"SELECT vector FROM {kind.table} WHERE id = ? AND embedding_model IN (?, ?) AND {kind.text} = ?",
            [kind.name, id, model, short, text_hash(text), id, model, short, text],
        ).fetchone()
        if row and row[0] is not None and len(row[0]) == 4 * dimensions:
            found[id] = bytes(row[0])
    return found


def delete_used(db: sqlite3.Connection, kind: MemoryKind) -> None:
    """Delete stored vectors that the entries themselves have again."""
    db.execute(
        "DELETE FROM kept_vectors WHERE kind = ? AND "
        f"EXISTS (SELECT 1 FROM {kind.table} p WHERE p.id = kept_vectors.id "
        "AND p.embedding_model = kept_vectors.model AND p.vector = kept_vectors.vector)",
        [kind.name],
    )


def by_model(db: sqlite3.Connection, kind: MemoryKind, *, model: str) -> list[ModelVectors]:
    """Every model that has vectors, the one in use first."""
    vectors = (
        f"(SELECT coalesce(embedding_model, '{UNKNOWN}') AS model, vector FROM {kind.table} "
        "WHERE vector IS NOT NULL UNION ALL "
        f"SELECT model, vector FROM kept_vectors WHERE kind = '{kind.name}')"
    )
    return embedding_cache.by_model(db, model=model, vectors=vectors)


def delete(db: sqlite3.Connection, kind: MemoryKind, model: str) -> None:
    """Delete every vector of this model; the entries stay, without one."""
    gone = f"embedding_model IS ? OR (? = '{UNKNOWN}' AND embedding_model IS NULL)"
    ids = db.execute(f"SELECT id FROM {kind.table} WHERE vector IS NOT NULL AND ({gone})", [model, model])
    changed = [row[0] for row in ids.fetchall()]
    follow_again(db, kind, changed)
    db.executemany(
        f"UPDATE {kind.table} SET vector = NULL, embedding_model = NULL WHERE id = ?",
        [(id,) for id in changed],
    )
    db.execute("DELETE FROM kept_vectors WHERE kind = ? AND model = ?", [kind.name, model])
    db.execute(
        f"UPDATE history SET vector = NULL WHERE vector IS NOT NULL AND tbl = '{kind.table}' "
        f"AND coalesce(json_extract(before, '$.embedding_model'), '{UNKNOWN}') = ?",
        [model],
    )
    if model == next_model(db, kind):
        drop_new(db, kind)


def next_model(db: sqlite3.Connection, kind: MemoryKind) -> str:
    """The model of a change that is not complete; "" if there is none."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", [kind.key("next_model")]).fetchone()
    return str(row[0]) if row else ""


def drop_new(db: sqlite3.Connection, kind: MemoryKind) -> None:
    """End a change of model: its vectors are in their entries, or given up."""
    db.execute("DELETE FROM new_vectors WHERE kind = ?", [kind.name])
    db.execute("DELETE FROM meta WHERE key = ?", [kind.key("next_model")])


def follow_again(db: sqlite3.Connection, kind: MemoryKind, ids: Iterable[str]) -> None:
    """Let Chroma and the resident vectors read these entries again; for undo their state is the same."""
    db.executemany(
        "INSERT OR REPLACE INTO changes (kind, tbl, id, version) "
        "SELECT kind, tbl, id, version FROM changes WHERE tbl = ? AND id = ?",
        [(kind.table, id) for id in ids],
    )


def text_hash(text: str) -> str:
    """SHA-256 of a text (UTF-8), hexadecimal."""
    return sha256(text.encode()).hexdigest()

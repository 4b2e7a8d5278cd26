"""Another model for one kind of memory: all embedded beside the old vectors, then exchanged at once."""

import sqlite3
from hashlib import sha256
from itertools import accumulate
from typing import TYPE_CHECKING

from store.embedding import Embedder
from store.progress import Progress

if TYPE_CHECKING:
    from store.memory.passages import Passages

_BATCH = 64
_MOST = 30_000  # characters of a batch: between two, a stop is heard and the progress moves


def embed_all(passages: "Passages", embedder: Embedder, *, progress: Progress) -> bool:
    """Embed what lacks a vector of this model; True once all have one and it is this kind's model."""
    if embedder.name == passages.model:
        return _fill(passages, embedder, progress, what="vector IS NULL OR embedding_model IS NOT :model")
    with passages.database.writing() as db:
        row = db.execute("SELECT value FROM meta WHERE key = 'next_model'").fetchone()
        if not row or row[0] != embedder.name:  # vectors of yet another model, given up halfway
            db.execute("DELETE FROM new_vectors")
            db.execute("INSERT OR REPLACE INTO meta VALUES ('next_model', ?)", [embedder.name])
    while True:
        while rows := _without_new_vector(passages):
            if progress.cancelled:
                return False
            _embed_beside(passages, embedder, rows)
            progress.done += len(rows)
        if _exchange(passages, embedder):
            return True


def embed_new(passages: "Passages", *, progress: Progress) -> bool:
    """Embed what has no vector at all; what another model embedded stays as it is. False when cancelled."""
    return _fill(passages, passages.embedder, progress, what="vector IS NULL")


def _fill(passages: "Passages", embedder: Embedder, progress: Progress, *, what: str) -> bool:
    """The model stays: vectors go straight to the rows that lack them, a batch in each transaction."""
    table, text = passages.kind.table, passages.kind.text
    while True:
        if progress.cancelled:
            return False
        with passages.database.reading() as db:
            rows = db.execute(
                f"SELECT id, {text} AS text FROM {table} WHERE {what} LIMIT :batch",
                {"model": embedder.name, "batch": _BATCH},
            ).fetchall()
            rows = _bearable(rows)
        if not rows:
            return True
        vectors = passages.embed([row["text"] for row in rows])
        with passages.database.writing() as db:
            for row, vector in zip(rows, vectors, strict=True):
                db.execute(
                    f"UPDATE {table} SET vector = ?, embedding_model = ? WHERE id = ? AND {text} = ?",
                    [vector, embedder.name, row["id"], row["text"]],
                )
                db.execute(  # a new number for Chroma; for undo the row is in the state it was in
                    "INSERT OR REPLACE INTO changes (tbl, id, version) "
                    "SELECT tbl, id, version FROM changes WHERE tbl = ? AND id = ?",
                    [table, row["id"]],
                )
        progress.done += len(rows)


def _without_new_vector(passages: "Passages") -> list[sqlite3.Row]:
    table, text = passages.kind.table, passages.kind.text
    with passages.database.reading() as db:
        return _bearable(
            db.execute(
                f"SELECT id, {text} AS text FROM {table} "
                "WHERE id NOT IN (SELECT id FROM new_vectors) LIMIT ?",
                [_BATCH],
            ).fetchall()
        )


def _bearable(rows: list[sqlite3.Row]) -> list[sqlite3.Row]:
    """As many of the first as are embedded within seconds; at least one."""
    lengths = accumulate(len(row["text"]) for row in rows)
    return rows[: max(1, sum(length <= _MOST for length in lengths))]


def _embed_beside(passages: "Passages", embedder: Embedder, rows: list[sqlite3.Row]) -> None:
    vectors = embedder.embed_texts([row["text"] for row in rows])
    with passages.database.writing() as db:
        db.executemany(
            "INSERT OR REPLACE INTO new_vectors VALUES (?, ?, ?)",
            [
                (row["id"], _hash(row["text"]), vector.tobytes())
                for row, vector in zip(rows, vectors, strict=True)
            ],
        )


def _exchange(passages: "Passages", embedder: Embedder) -> bool:
    """In one transaction; False where texts were written meanwhile, which have to be embedded first."""
    table, text = passages.kind.table, passages.kind.text
    with passages.database.writing() as db:
        stale = [
            (row["id"],)
            for row in db.execute(
                f"SELECT p.id, p.{text} AS text, n.text_hash FROM {table} p "
                "LEFT JOIN new_vectors n ON n.id = p.id"
            )
            if row["text_hash"] != _hash(row["text"])
        ]
        if stale:
            db.executemany("DELETE FROM new_vectors WHERE id = ?", stale)
            return False
        db.execute(
            f"UPDATE {table} SET embedding_model = ?, "
            f"vector = (SELECT vector FROM new_vectors n WHERE n.id = {table}.id)",
            [embedder.name],
        )
        db.execute("DELETE FROM new_vectors")
        db.execute("DELETE FROM meta WHERE key = 'next_model'")
        db.execute("INSERT OR REPLACE INTO meta VALUES ('model', ?)", [embedder.name])
        db.execute("INSERT OR REPLACE INTO meta VALUES ('chroma_rebuild', '1')")
        db.execute("UPDATE meta SET value = value + 1 WHERE key = 'epoch'")
    return True


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()

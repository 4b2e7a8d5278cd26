"""Switch one kind of memory to another model: embed everything, keeping the old vectors, then exchange."""

import sqlite3
from itertools import accumulate

from store.embedding.embedding_cache import embed_texts
from store.embedding.protocol import Embedder
from store.errors import NotWritten
from store.memory.engine import vector_cache
from store.memory.engine.passages import Passages
from store.memory.engine.vector_cache import text_hash
from store.progress import Progress

_BATCH = 64
_MOST = 30_000  # characters of a batch: between two, a stop is noticed and the progress moves


def reembed(
    passages: Passages, embedder: Embedder | None = None, *, progress: Progress | None = None
) -> bool:
    """Embed what has no vector of this model, then make it this kind's model; False if cancelled.

    Without `embedder` it is the kind's own. New vectors wait alongside the old until all are there, so a
    crash loses neither. Raises NotWritten if another process chooses another model meanwhile.
    """
    passages.database.check_writable()
    embedder = embedder or passages.embedder
    done = _embed_all(passages, embedder, progress=progress or Progress())
    if done:
        passages.use(embedder)
    return done


def _embed_all(passages: Passages, embedder: Embedder, *, progress: Progress) -> bool:
    """True once all entries have a vector of this model, and the file names it as this kind's."""
    if embedder.name == passages.model:
        return _fill(passages, embedder, progress, what="vector IS NULL OR embedding_model IS NOT :model")
    with passages.database.writing() as db:
        row = db.execute("SELECT value FROM meta WHERE key = 'next_model'").fetchone()
        if not row or row[0] != embedder.name:  # vectors of yet another model, given up halfway
            if row:
                vector_cache.store_new(db, model=row[0])
            db.execute("DELETE FROM new_vectors")
            db.execute("INSERT OR REPLACE INTO meta VALUES ('next_model', ?)", [embedder.name])
    while passages.model != embedder.name:  # else: another process came to an end with the same model
        while rows := _without_new_vector(passages):
            if passages.model == embedder.name:
                return True
            if progress.cancelled:
                return False
            _embed_beside(passages, embedder, rows)
            progress.done += len(rows)
        if _exchange(passages, embedder):
            break
    return True


def embed_new(passages: Passages, *, progress: Progress | None = None) -> bool:
    """Embed what has no vector at all; vectors of other models stay. False if cancelled."""
    passages.database.check_writable()
    done = _fill(passages, passages.embedder, progress or Progress(), what="vector IS NULL")
    passages.changed()
    return done


def _fill(passages: Passages, embedder: Embedder, progress: Progress, *, what: str) -> bool:
    """Keep the model: write vectors to the rows that lack them, a batch in each transaction."""
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
        vectors = _vectors(passages, embedder, rows)
        with passages.database.writing() as db:
            vector_cache.store(db, passages.kind, (row["id"] for row in rows), model=embedder.name)
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


def _without_new_vector(passages: Passages) -> list[sqlite3.Row]:
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
    """As many of the first rows as are embedded within seconds; at least one."""
    lengths = accumulate(len(row["text"]) for row in rows)
    return rows[: max(1, sum(length <= _MOST for length in lengths))]


def _vectors(passages: Passages, embedder: Embedder, rows: list[sqlite3.Row]) -> list[bytes]:
    """The vectors of these rows in this order.

    Texts that this model embedded before are not embedded again.
    """
    texts = {row["id"]: row["text"] for row in rows}
    with passages.database.reading() as db:
        found = vector_cache.known(
            db, passages.kind, texts, model=embedder.name, dimensions=embedder.dimensions
        )
    new = [id for id in texts if id not in found]
    found |= zip(new, embed_texts([texts[id] for id in new], embedder), strict=True)
    return [found[row["id"]] for row in rows]


def _embed_beside(passages: Passages, embedder: Embedder, rows: list[sqlite3.Row]) -> None:
    vectors = _vectors(passages, embedder, rows)
    with passages.database.writing() as db:
        if not _is_next(db, embedder):
            return
        db.executemany(
            "INSERT OR REPLACE INTO new_vectors VALUES (?, ?, ?)",
            [(row["id"], text_hash(row["text"]), vector) for row, vector in zip(rows, vectors, strict=True)],
        )


def _is_next(db: sqlite3.Connection, embedder: Embedder) -> bool:
    """Whether the vectors that wait are this model's; False if another process has made it the kind's model.

    Raises NotWritten if another process has begun with another model since.
    """
    found = dict(db.execute("SELECT key, value FROM meta WHERE key IN ('model', 'next_model')").fetchall())
    if found.get("next_model") == embedder.name:
        return True
    if found.get("model") == embedder.name and "next_model" not in found:
        return False
    other = found.get("next_model") or found.get("model")
    raise NotWritten(f"the change to {embedder.name} was given up, since another process chose {other}")


def _exchange(passages: Passages, embedder: Embedder) -> bool:
    """Exchange the vectors in one transaction.

    False if texts were written meanwhile and must be embedded first.
    """
    table, text = passages.kind.table, passages.kind.text
    with passages.database.writing() as db:
        if not _is_next(db, embedder):
            return True
        stale = [
            (row["id"],)
            for row in db.execute(
                f"SELECT p.id, p.{text} AS text, n.text_hash FROM {table} p "
                "LEFT JOIN new_vectors n ON n.id = p.id"
            )
            if row["text_hash"] != text_hash(row["text"])
        ]
        if stale:
            vector_cache.store_new(db, model=embedder.name)
            db.executemany("DELETE FROM new_vectors WHERE id = ?", stale)
            return False
        vector_cache.store(db, passages.kind, model=embedder.name)
        db.execute(
            f"UPDATE {table} SET embedding_model = ?, "
            f"vector = (SELECT vector FROM new_vectors n WHERE n.id = {table}.id)",
            [embedder.name],
        )
        vector_cache.delete_used(db, passages.kind)
        db.execute("DELETE FROM new_vectors")
        db.execute("DELETE FROM meta WHERE key = 'next_model'")
        db.execute("INSERT OR REPLACE INTO meta VALUES ('model', ?)", [embedder.name])
        db.execute("INSERT OR REPLACE INTO meta VALUES ('chroma_rebuild', '1')")
        db.execute("UPDATE meta SET value = value + 1 WHERE key = 'epoch'")
    return True

"""Switch one kind of memory to another model: embed everything, keeping the old vectors, then exchange."""

import sqlite3
from itertools import accumulate

from store.catalog.catalog import count_up
from store.embedding.embedding_cache import embed_texts
from store.embedding.protocol import Embedder
from store.errors import NotWritten
from store.memory.engine import vector_cache
from store.memory.engine.kind import MemoryKind
from store.memory.engine.passages import Passages
from store.memory.engine.resident import EPOCH
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
    kind = passages.kind
    if embedder.name == passages.model:
        return _fill(passages, embedder, progress, what="vector IS NULL OR embedding_model IS NOT :model")
    with passages.database.writing() as db:
        given_up = vector_cache.next_model(db, kind)
        if given_up != embedder.name:
            if given_up:
                vector_cache.store_new(db, kind, model=given_up)
            vector_cache.drop_new(db, kind)
            db.execute("INSERT INTO meta VALUES (?, ?)", [kind.key("next_model"), embedder.name])
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
            vector_cache.follow_again(db, passages.kind, (row["id"] for row in rows))
        progress.done += len(rows)


def _without_new_vector(passages: Passages) -> list[sqlite3.Row]:
    table, text = passages.kind.table, passages.kind.text
    with passages.database.reading() as db:
        return _bearable(
            db.execute(
                f"SELECT id, {text} AS text FROM {table} "
                "WHERE id NOT IN (SELECT id FROM new_vectors WHERE kind = ?) LIMIT ?",
                [passages.kind.name, _BATCH],
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
        if not _is_next(db, passages.kind, embedder):
            return
        db.executemany(
            "INSERT OR REPLACE INTO new_vectors VALUES (?, ?, ?, ?)",
            [
                (passages.kind.name, row["id"], text_hash(row["text"]), vector)
                for row, vector in zip(rows, vectors, strict=True)
            ],
        )


def _is_next(db: sqlite3.Connection, kind: MemoryKind, embedder: Embedder) -> bool:
    """Whether the vectors that wait are this model's; False if another process has made it the kind's model.

    Raises NotWritten if another process has begun with another model since.
    """
    following = vector_cache.next_model(db, kind)
    (model,) = db.execute("SELECT value FROM meta WHERE key = ?", [kind.key("model")]).fetchone()
    if following == embedder.name:
        return True
    if model == embedder.name and not following:
        return False
    other = following or model
    raise NotWritten(f"the change to {embedder.name} was given up, since another process chose {other}")


def _exchange(passages: Passages, embedder: Embedder) -> bool:
    """Exchange the vectors in one transaction.

    False if texts were written meanwhile and must be embedded first.
    """
    kind = passages.kind
    table, text = kind.table, kind.text
    with passages.database.writing() as db:
        if not _is_next(db, kind, embedder):
            return True
        stale = [
            (row["id"],)
            for row in db.execute(
                f"SELECT p.id, p.{text} AS text, n.text_hash FROM {table} p "
                "LEFT JOIN new_vectors n ON n.kind = ? AND n.id = p.id",
                [kind.name],
            )
            if row["text_hash"] != text_hash(row["text"])
        ]
        if stale:
            vector_cache.store_new(db, kind, model=embedder.name)
            db.executemany(f"DELETE FROM new_vectors WHERE kind = '{kind.name}' AND id = ?", stale)
            return False
        vector_cache.store(db, kind, model=embedder.name)
        db.execute(
            f"UPDATE {table} SET embedding_model = ?, "
            f"vector = (SELECT vector FROM new_vectors n WHERE n.kind = ? AND n.id = {table}.id)",
            [embedder.name, kind.name],
        )
        vector_cache.delete_used(db, kind)
        vector_cache.drop_new(db, kind)
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [kind.key("model"), embedder.name])
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, '1')", [kind.key("chroma_rebuild")])
        count_up(db, kind.key(EPOCH))
    return True

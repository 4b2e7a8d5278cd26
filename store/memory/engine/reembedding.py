"""Embed the entries of one kind: those without a vector, or all by another model before it is switched to."""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection

from store.catalog.catalog import count_up
from store.embedding.embedding_cache import EmbeddingSource, embed_missing
from store.embedding.protocol import Embedder
from store.errors import NotWritten
from store.memory.engine.entries import Entries
from store.memory.engine.kind import EPOCH, NEXT_MODEL, MemoryKind
from store.progress import Progress


def reembed(entries: Entries, embedder: Embedder | None = None, *, progress: Progress | None = None) -> bool:
    """Embed what has no vector of this model, then use it; False if cancelled. Raises NotWritten."""
    return _change(entries, embedder or entries.embedder, progress=progress or Progress())


def embed_new(entries: Entries, *, progress: Progress | None = None) -> bool:
    """Embed what has no vector of this kind's model, nor waits with another's; False if cancelled."""
    leaves_others = entries.kind.keeps_models
    return _change(entries, entries.embedder, progress=progress or Progress(), leaves_others=leaves_others)


def is_outdated(entries: Entries) -> bool:
    """Whether another version of the model made the vectors in use than the one of this program."""
    return entries.version_of(entries.embedder) != entries.version


def _change(entries: Entries, embedder: Embedder, *, progress: Progress, leaves_others: bool = False) -> bool:
    """Embed what is lacking, then use this model, if it is another or of another version."""
    version, kind = entries.version_of(embedder), entries.kind
    if version == entries.version:
        return _embed(entries, embedder, version, progress=progress, leaves_others=leaves_others)
    entries.database.set_meta(NEXT_MODEL, version)
    model, following = kind.key("model"), kind.key(NEXT_MODEL)

    def check(db: sqlite3.Connection) -> None:
        meta = dict(db.execute("SELECT key, value FROM meta WHERE key IN (?, ?)", [model, following]))
        if (other := meta.get(following) or meta[model]) != version:
            raise NotWritten(f"the change to {version} was given up, since another process chose {other}")

    def switch(db: sqlite3.Connection) -> None:
        check(db)
        if entries.model == embedder.name:  # states of words have the model's own name
            db.execute("DELETE FROM token_states WHERE model = ?", [embedder.name])
        values = {model: version, following: "", kind.key("chroma_rebuild"): "1"}
        db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())
        count_up(db, kind.key(EPOCH))

    done = _embed(
        entries, embedder, version, check=check, switch=switch, progress=progress,
        leaves_others=leaves_others,
    )  # fmt: skip
    if done:
        entries.use(embedder)
    return done


def _embed(
    entries: Entries,
    embedder: Embedder,
    version: str,
    *,
    progress: Progress,
    check: Callable[[sqlite3.Connection], None] = lambda db: None,
    switch: Callable[[sqlite3.Connection], None] = lambda db: None,  # the model stays
    leaves_others: bool = False,
) -> bool:
    kind = entries.kind
    ids = defaultdict[str, list[str]](list)  # the entries that each key stands for
    epoch, seen = "", 0  # as of `ids`
    lacking = f"{kind.table} p {kind.joined(model=':model')} WHERE length(v.vector) IS NOT :size"
    if leaves_others:
        lacking = (
            f"{kind.with_any_vector()} p {kind.joined(model=':model')} "
            "WHERE v.key IS NULL AND coalesce(p.embedding_model, :name) = :name"
        )

    def missing(db: sqlite3.Connection) -> list[EmbeddingSource]:
        nonlocal epoch, seen
        epoch, seen = _state(db, kind)
        ids.clear()
        sources = dict[str, EmbeddingSource]()
        values = {"model": version, "name": embedder.name, "size": 4 * embedder.dimensions}
        query = f"SELECT p.id, p.{kind.text}, {kind.vector_key(':model')} FROM {lacking}"
        for id, text, key in db.execute(query, values):
            sources[key] = EmbeddingSource(key, text)
            ids[key].append(id)
        return [*sources.values()]

    def before_each(db: sqlite3.Connection, keys: Collection[str]) -> bool:
        nonlocal seen
        check(db)
        kind.note_version(db, embedder)
        if _state(db, kind)[0] != epoch:  # texts may have been deleted for good meanwhile
            return False
        db.executemany(f"DELETE FROM {kind.vectors} WHERE key = ?", zip(keys))  # those of another length
        if version == entries.version:
            query = (
                f"SELECT p.id, {kind.vector_key('?')} FROM changes c "
                f"JOIN {kind.table} p ON p.id = c.id WHERE +c.tbl = ? AND c.number > ?"
            )
            for id, key in db.execute(query, [version, kind.table, seen]).fetchall():
                ids[key].append(id)  # another process stored the same text meanwhile
            db.executemany(  # Chroma and the resident vectors read them again; undo sees no change
                "INSERT OR REPLACE INTO changes (kind, tbl, id, version) "
                "SELECT kind, tbl, id, version FROM changes WHERE tbl = ? AND id = ?",
                [(kind.table, id) for key in keys for id in ids[key]],
            )
            _, seen = _state(db, kind)
        return True

    return embed_missing(
        entries.database, embedder, missing=missing, switch=switch, progress=progress,
        table=kind.vectors, model=version, before_each=before_each,
    )  # fmt: skip


def _state(db: sqlite3.Connection, kind: MemoryKind) -> tuple[str, int]:
    """The kind's epoch, and the last change of all."""
    query = "SELECT (SELECT value FROM meta WHERE key = ?), (SELECT max(number) FROM changes)"
    epoch, number = db.execute(query, [kind.key(EPOCH)]).fetchone()
    return epoch or "", number or 0

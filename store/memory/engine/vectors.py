"""The vectors of one kind's entries, each under a key of its model and its text, of all models together.

An entry names no vector. Its vector is the one of its text by the kind's model, so a text that comes back has
it again, and a change of model is the change of one name. Nothing throws a vector away but
`memory delete-vectors`, and the deletion of its text for good.

A model's name stands for its first version that made vectors of the kind, whose fingerprint `meta` has. Later
versions, which make other numbers of the same text, are other models here (`version_name`).
"""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from store.embedding import embedding_cache
from store.embedding.active_model import version_name, without_version
from store.embedding.embedding_cache import EmbeddingSource
from store.embedding.protocol import OFFLINE, Embedder
from store.memory.engine.kind import MemoryKind

UNKNOWN = "unknown"  # the model of a vector that came without a name
NEXT_MODEL = "next_model"  # in `meta`: the model of a change that is not complete


@dataclass(frozen=True, slots=True)
class NewVectors:
    """Vectors that a model made of new texts, to be stored with the entries that say them."""

    model: str  # its version, see `version`
    by_key: Mapping[str, bytes]  # float32
    embedder: Embedder | None = None  # None for vectors that came with their texts


def install(db: sqlite3.Connection) -> None:
    """Register the functions that make keys and names in SQL."""
    db.create_function("vector_key", 2, _vector_key, deterministic=True)
    db.create_function("without_version", 1, lambda name: name and without_version(name), deterministic=True)


def version(db: sqlite3.Connection, kind: MemoryKind, embedder: Embedder) -> str:
    """What a kind's table of vectors calls this version of a model."""
    (first,) = db.execute(f"SELECT {_first(kind)}", _named(kind, embedder)).fetchone()
    return embedder.name if first == embedder.fingerprint else version_name(embedder)


def note_version(db: sqlite3.Connection, kind: MemoryKind, embedder: Embedder) -> None:
    """Let the model's name stand for this version, if it is the first that makes vectors of this kind."""
    db.execute(f"INSERT OR IGNORE INTO meta VALUES (:key, {_first(kind)})", _named(kind, embedder))


def _first(kind: MemoryKind) -> str:
    """SQL: the fingerprint of the version that a model's name stands for.

    Of vectors that were stored before there were fingerprints only those of OFFLINE are of an earlier one.
    """
    stored = f"SELECT 1 FROM {kind.vectors} WHERE model ="
    is_earlier = f"EXISTS ({stored} :version) OR (:name = '{OFFLINE}' AND EXISTS ({stored} :name))"
    return f"coalesce((SELECT value FROM meta WHERE key = :key), iif({is_earlier}, '', :fingerprint))"


def _named(kind: MemoryKind, embedder: Embedder) -> dict[str, str]:
    key = kind.key(f"fingerprint {embedder.name}")
    return {
        "key": key, "name": embedder.name, "version": version_name(embedder),
        "fingerprint": embedder.fingerprint,
    }  # fmt: skip


def source(model: str, text: str) -> EmbeddingSource:
    """A text with the key of its vector by this model."""
    return EmbeddingSource(_vector_key(model, text.encode()) or "", text=text)


def joined(kind: MemoryKind, *, model: str = "") -> str:
    """SQL after the entries as `p`: as `v` their vectors by a model (SQL), as a rule the kind's."""
    return f"LEFT JOIN {kind.vectors} v ON v.key = {key(kind, model)}"


def with_any_vector(kind: MemoryKind, *names: str) -> str:
    """SQL to select from: the entries with `embedding_model` and `vector`, or one of these `names` alone.

    The vector is another model's where their own model has none.
    """
    models = f"SELECT json_group_array(DISTINCT model) FROM {kind.vectors}"
    found = {
        name: f"coalesce(v.{column}, (SELECT o.{column} FROM json_each(({models})) m "
        f"CROSS JOIN {kind.vectors} o ON o.key = {key(kind, 'm.value')} LIMIT 1))"
        for name, column in (("embedding_model", "model"), ("vector", "vector"))
    }
    found["embedding_model"] = f"without_version({found['embedding_model']})"
    listed = ", ".join(f"{found[name]} AS {name}" for name in names or found)
    return f"(SELECT p.rowid AS rowid_, p.*, {listed} FROM {kind.table} p {joined(kind)})"


def delete_unused(db: sqlite3.Connection, kind: MemoryKind) -> None:
    """Delete the vectors of texts that no entry has, and none had as far as the history knows."""
    past = "SELECT before ->> ? FROM history WHERE kind = ? AND tbl = ? AND before IS NOT NULL"
    db.execute(
        f"DELETE FROM {kind.vectors} WHERE key NOT IN (SELECT vector_key(m.model, CAST(t.text AS BLOB)) "
        f"FROM (SELECT DISTINCT model FROM {kind.vectors}) m, "
        f"(SELECT {kind.text} AS text FROM {kind.table} UNION {past}) t WHERE t.text IS NOT NULL)",
        [f"$.{kind.text}", kind.name, kind.table],
    )


def key(kind: MemoryKind, model: str = "") -> str:
    """SQL: the key of an entry's vector, as a rule by the kind's model."""
    model = model or f"(SELECT value FROM meta WHERE key = '{kind.key('model')}')"
    return f"vector_key({model}, CAST(p.{kind.text} AS BLOB))"  # a damaged text may not be UTF-8


def _vector_key(model: str | None, content: bytes | str | None) -> str | None:
    """The key for a text in UTF-8, or for the SHA-256 of one; as a picture's, it is made of a hash."""
    if model is None or content is None:
        return None
    hashed = content if isinstance(content, str) else sha256(content).hexdigest()
    return embedding_cache.content_key(model, "text", hashed)

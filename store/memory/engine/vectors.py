"""The vectors of one kind's entries, each under a key of its model and its text, of all models together.

An entry names no vector. Its vector is the one of its text by the kind's model, so a text that comes back has
it again, and a change of model is the change of one name. Nothing throws a vector away but
`memory delete-vectors`, and the deletion of its text for good.

A model's name stands for its first version that made vectors of the kind, whose fingerprint `meta` has. Later
versions, which make other numbers of the same text, are other models here (`version_name`).

Searches are exact, in memory (`ResidentEntries`): matrices as the library's, with one facet.
"""

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import cast

import numpy as np
from numpy.typing import NDArray

from store.embedding import embedding_cache
from store.embedding.active_model import version_name, without_version
from store.embedding.embedding_cache import EmbeddingSource
from store.embedding.protocol import OFFLINE, Embedder, Vector, are_unit, unit
from store.memory.engine.kind import MemoryKind
from store.records import Facet
from store.vectors.blocks import VectorSnapshot
from store.vectors.matrices import Matrices, Vectors, load

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


def delete_unused(db: sqlite3.Connection, kind: MemoryKind) -> None:
    """Delete the vectors of texts that no entry has, and none had as far as the history knows."""
    past = "SELECT before ->> ? FROM history WHERE kind = ? AND tbl = ? AND before IS NOT NULL"
    db.execute(
        f"DELETE FROM {kind.vectors} WHERE key NOT IN (SELECT vector_key(m.model, CAST(t.text AS BLOB)) "
        f"FROM (SELECT DISTINCT model FROM {kind.vectors}) m, "
        f"(SELECT {kind.text} AS text FROM {kind.table} UNION {past}) t WHERE t.text IS NOT NULL)",
        [f"$.{kind.text}", kind.name, kind.table],
    )


def _vector_key(model: str | None, content: bytes | str | None) -> str | None:
    """The key for a text in UTF-8, or for the SHA-256 of one; as a picture's, it is made of a hash."""
    if model is None or content is None:
        return None
    hashed = content if isinstance(content, str) else sha256(content).hexdigest()
    return embedding_cache.content_key(model, "text", hashed)


EPOCH = "epoch"  # in `meta`: one more whenever all has to be read again
TEXT = cast(Facet, "text")  # the one facet of an entry, which no coin has
_READ_AT_ONCE = 1024  # rows read together
_NONE = VectorSnapshot(dimensions=0)


@dataclass(frozen=True, slots=True)
class EntryScores:
    """Every entry's cosine, and whether it passes the filters; rows in no order."""

    ids: Sequence[str]
    cosines: Vector  # (n,)
    passing: NDArray[np.bool_]  # (n,)

    def best(self, n: int, *, floor: float | None = None) -> dict[str, float]:
        """The n entries that pass with the highest cosines; ties by id, so that answers are reproducible."""
        keep = self.passing if floor is None else self.passing & (self.cosines >= floor)
        rows = np.flatnonzero(keep)
        if len(rows) > n:  # everything at least as good as the nth, so that ties are settled below
            threshold = np.partition(self.cosines[rows], len(rows) - n)[len(rows) - n]
            rows = rows[self.cosines[rows] >= threshold]
        found = [(-float(self.cosines[row]), self.ids[row]) for row in rows.tolist()]
        return {id: -score for score, id in sorted(found)[:n]}


class ResidentEntries:
    """Read at the first request, then updated from `changes`; entries without a vector are not here."""

    def __init__(self, kind: MemoryKind, *, model: str) -> None:
        self._kind = kind
        self._model = model
        self._lock = threading.Lock()
        self._epoch = ""
        self._known = 0  # the last line of `changes` that is in here
        self._matrices: Matrices | None = None  # once an entry has a vector

    def snapshot(self, db: sqlite3.Connection) -> VectorSnapshot:
        """The vectors as they are now, read by a connection that sees one moment."""
        with self._lock:
            row = db.execute("SELECT value FROM meta WHERE key = ?", [self._kind.key(EPOCH)]).fetchone()
            if (epoch := row[0] if row else "") != self._epoch:
                self._epoch, self._known, self._matrices = epoch, 0, None
            (newest,) = db.execute("SELECT coalesce(max(number), 0) FROM changes").fetchone()
            if newest != self._known:
                self._apply_changes(db, newest)
            return self._matrices.snapshot() if self._matrices else _NONE

    def _apply_changes(self, db: sqlite3.Connection, newest: int) -> None:
        if self._matrices:
            self._matrices.update(self._changed(db, 4 * self._matrices.dimensions), generation=newest)
        elif size := self._size(db):
            rows = ((id, vectors) for id, vectors in self._changed(db, size) if vectors)
            self._matrices = load(rows, dimensions=size // 4, facets=[TEXT], generation=newest)
        self._known = newest

    def _size(self, db: sqlite3.Connection) -> int:
        """How many bytes the first vector has; 0 if there is none."""
        row = self._read(db, "length(v.vector)", "AND v.vector IS NOT NULL LIMIT 1").fetchone()
        return int(row[0]) if row else 0

    def _changed(self, db: sqlite3.Connection, size: int) -> Iterator[tuple[str, Vectors | None]]:
        """The unit vector of each entry that changed; None for one that is gone or has none.

        A wrong length is damage, or of an older model by the same name: doctor counts these.
        """
        changed = self._read(db, "c.id, v.vector")
        while rows := changed.fetchmany(_READ_AT_ONCE):
            fitting = {id: vector for id, vector in rows if vector and len(vector) == size}
            ids, matrix = [*fitting], np.frombuffer(b"".join(fitting.values()), "<f4").reshape(-1, size // 4)
            for at in np.flatnonzero(~are_unit(matrix)).tolist():  # adopted ones are stored as they came
                fitting[ids[at]] = unit(matrix[at : at + 1]).tobytes()
            yield from ((id, {TEXT: fitting[id]} if id in fitting else None) for id, _ in rows)

    def _read(self, db: sqlite3.Connection, columns: str, more: str = "") -> sqlite3.Cursor:
        return db.execute(
            f"SELECT {columns} FROM changes c LEFT JOIN {self._kind.table} p ON p.id = c.id "
            f"{self._kind.joined(model='?')} "
            f"WHERE +c.tbl = ? AND c.number > ? {more}",  # by number: the index of tables reads all of one
            [self._model, self._kind.table, self._known],
        )

"""The vectors of one kind in memory, for exact search: matrices as the library's, with one facet."""

import sqlite3
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from store.embedding.protocol import Vector, are_unit, unit
from store.memory.engine.kind import MemoryKind
from store.memory.engine.vectors import joined
from store.records import Facet
from store.vectors.blocks import VectorSnapshot
from store.vectors.matrices import Matrices, Vectors, load

Value = str | int | float
Where = Mapping[str, Value | Collection[Value]]  # column → what it has to be, or one of several
EPOCH = "epoch"  # in `meta`: one more whenever all has to be read again
TEXT = cast(Facet, "text")  # the one facet of an entry, which no coin has
_AT_ONCE = 1024  # rows read together
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
        while rows := changed.fetchmany(_AT_ONCE):
            fitting = {id: vector for id, vector in rows if vector and len(vector) == size}
            ids, matrix = [*fitting], np.frombuffer(b"".join(fitting.values()), "<f4").reshape(-1, size // 4)
            for at in np.flatnonzero(~are_unit(matrix)).tolist():  # adopted ones are stored as they came
                fitting[ids[at]] = unit(matrix[at : at + 1]).tobytes()
            yield from ((id, {TEXT: fitting[id]} if id in fitting else None) for id, _ in rows)

    def _read(self, db: sqlite3.Connection, columns: str, more: str = "") -> sqlite3.Cursor:
        return db.execute(
            f"SELECT {columns} FROM changes c LEFT JOIN {self._kind.table} p ON p.id = c.id "
            f"{joined(self._kind, model='?')} "
            f"WHERE +c.tbl = ? AND c.number > ? {more}",  # by number: the index of tables reads all of one
            [self._model, self._kind.table, self._known],
        )

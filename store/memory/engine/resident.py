"""The vectors of one kind in memory, for exact search with filters."""

import sqlite3
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.embedding.protocol import are_unit, unit
from store.memory.engine.errors import InvalidInput
from store.memory.engine.kind import MemoryKind
from store.memory.engine.vectors import joined

Value = str | int | float
Where = Mapping[str, Value | Collection[Value]]  # column → what it has to be, or one of several
Vector = NDArray[np.float32]
EPOCH = "epoch"  # in `meta`: one more whenever all has to be read again
_FIRST = 1024  # rows made room for at first; doubled when full
_AT_ONCE = 1024  # rows read together


@dataclass(frozen=True, slots=True)
class EntryMatch:
    """An entry and its cosine with the query."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class EntryScores:
    """Every entry's cosine, and whether it passes the filters; rows in no order."""

    ids: Sequence[str]
    cosines: Vector  # (n,)
    passing: NDArray[np.bool_]  # (n,)

    def best(self, n: int, *, floor: float | None = None) -> list[EntryMatch]:
        """The n entries that pass with the highest cosine; ties by id, so that answers are reproducible."""
        keep = self.passing if floor is None else self.passing & (self.cosines >= floor)
        rows = np.flatnonzero(keep)
        if len(rows) > n:  # everything at least as good as the nth, so that ties are settled below
            threshold = np.partition(self.cosines[rows], len(rows) - n)[len(rows) - n]
            rows = rows[self.cosines[rows] >= threshold]
        found = [EntryMatch(self.ids[row], float(self.cosines[row])) for row in rows.tolist()]
        return sorted(found, key=lambda hit: (-hit.score, hit.id))[:n]


class ResidentEntries:
    """Updated from `changes`; entries without a row or a vector are dropped."""

    def __init__(self, kind: MemoryKind, *, model: str) -> None:
        self.model = model
        self._kind = kind
        self._lock = threading.Lock()
        self._epoch = ""
        self._clear()

    def __len__(self) -> int:
        return len(self._ids)

    def refresh(self, db: sqlite3.Connection) -> None:
        """Read what changed since the last call, by a connection that sees one moment."""
        with self._lock:
            row = db.execute("SELECT value FROM meta WHERE key = ?", [self._kind.key(EPOCH)]).fetchone()
            if (epoch := row[0] if row else "") != self._epoch:
                self._clear()
                self._epoch = epoch
            self._apply_changes(db)

    def scores(self, vector: Vector, where: Where, *, only: Collection[str] | None = None) -> EntryScores:
        """Every entry's cosine with this unit vector; with `only`, no other entries pass.

        Raises InvalidInput if the vector has another length than the model's.
        """
        with self._lock:
            count = len(self._ids)
            if count == 0:
                return EntryScores((), np.zeros(0, np.float32), np.zeros(0, np.bool_))
            if vector.shape != self._matrix.shape[1:]:
                raise InvalidInput(f"a vector of {len(vector)} numbers was not made by {self.model}")
            passing = self._passing(where)
            if only is not None:
                passing &= np.fromiter((id in only for id in self._ids), np.bool_, count)
            return EntryScores(tuple(self._ids), self._matrix[:count] @ vector, passing)

    def vectors(self, ids: Iterable[str]) -> dict[str, Vector]:
        """Copies of these entries' vectors; those without one are left out."""
        with self._lock:
            return {id: self._matrix[self._row_of[id]].copy() for id in ids if id in self._row_of}

    def copied(self) -> tuple[list[str], Vector]:
        """Every id with its vector, as of now."""
        with self._lock:
            return list(self._ids), self._matrix[: len(self._ids)].copy()

    def _clear(self) -> None:
        self._known = 0  # the last line of `changes` that is in here
        self._ids: list[str] = []
        self._row_of: dict[str, int] = {}
        self._matrix = np.zeros((0, 0), np.float32)
        self._codes = {column: np.zeros(0, np.int32) for column in self._kind.filters}
        self._values: dict[str, dict[Value, int]] = {column: {} for column in self._kind.filters}

    def _apply_changes(self, db: sqlite3.Connection) -> None:
        columns = ", ".join(("v.vector", *(f"p.{column}" for column in self._kind.filters)))
        changed = db.execute(
            f"SELECT c.number AS change_, c.id AS id_, {columns} FROM changes c "
            f"LEFT JOIN {self._kind.table} p ON p.id = c.id {joined(self._kind, model='?')} "
            "WHERE +c.tbl = ? AND c.number > ?",  # by number: an index of tables would read all of one
            [self.model, self._kind.table, self._known],
        )
        while rows := changed.fetchmany(_AT_ONCE):  # an entry has one line in `changes`
            self._known = max(self._known, *(row["change_"] for row in rows))
            embedded = [row for row in rows if row["vector"]]
            if not self._ids and embedded:
                self._matrix = np.zeros((0, len(embedded[0]["vector"]) // 4), np.float32)
            # A wrong length is damage, or of an older model by the same name: doctor counts these.
            size = self._matrix.itemsize * self._matrix.shape[1]
            usable = [row for row in embedded if len(row["vector"]) == size]
            for id in {row["id_"] for row in rows}.difference(row["id_"] for row in usable):
                self._remove(id)
            if usable:
                self._put(usable)

    def _put(self, rows: Sequence[sqlite3.Row]) -> None:
        for row in rows:
            if row["id_"] not in self._row_of:
                self._row_of[row["id_"]] = len(self._ids)
                self._ids.append(row["id_"])
        self._make_room()
        places = [self._row_of[row["id_"]] for row in rows]
        vectors = np.frombuffer(b"".join(row["vector"] for row in rows), "<f4").reshape(len(rows), -1)
        if not (are_units := are_unit(vectors)).all():  # adopted ones are stored as they came
            vectors = np.where(are_units[:, None], vectors, unit(vectors))
        self._matrix[places] = vectors
        for column in self._kind.filters:
            known = self._values[column]
            self._codes[column][places] = [known.setdefault(row[column], len(known)) for row in rows]

    def _remove(self, id: str) -> None:
        place = self._row_of.pop(id, None)
        if place is None:
            return
        last = len(self._ids) - 1
        if place != last:  # the last row moves into the gap
            self._matrix[place] = self._matrix[last]
            for codes in self._codes.values():
                codes[place] = codes[last]
            self._ids[place] = self._ids[last]
            self._row_of[self._ids[place]] = place
        self._ids.pop()

    def _make_room(self) -> None:
        before = len(self._matrix)
        if len(self._ids) <= before:
            return
        rows = max(_FIRST, 2 * before, len(self._ids))
        matrix = np.zeros((rows, self._matrix.shape[1]), np.float32)
        matrix[:before] = self._matrix
        self._matrix = matrix
        for column, codes in self._codes.items():
            self._codes[column] = np.concatenate([codes, np.zeros(rows - before, np.int32)])

    def _passing(self, where: Where) -> NDArray[np.bool_]:
        count = len(self._ids)
        passing = np.ones(count, np.bool_)
        for column, wanted in where.items():
            if column not in self._values:
                raise InvalidInput(
                    f"{self._kind.name} can be filtered by {', '.join(self._kind.filters)}, not {column}"
                )
            values = [wanted] if isinstance(wanted, str | int | float) else wanted
            codes = [self._values[column][value] for value in values if value in self._values[column]]
            passing &= np.isin(self._codes[column][:count], codes)
        return passing

"""The vectors of all records' pictures in memory: similar pictures, and orders by picture.

Derived from the catalog's vectors. The first caller waits until all are read and compared; later ones only
for what changed.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from store.catalog.catalog import current_generation
from store.embedding import embedding_cache
from store.embedding.arrays import Vector
from store.embedding.protocol import Embedder
from store.records import Tier
from store.search.cosine_bounds import CosineBounds, Half, floats, halves
from store.search.picture_scores import PictureScores, Rows, Scores

Order = Literal["like", "approved", "unlike"]
ORDERS: tuple[Order, ...] = get_args(Order)

_APPROVED: tuple[Tier, ...] = ("approved", "library")  # what was approved, and stands
_CHUNK = 1024  # rows multiplied at once: as many as the processor keeps at hand …
_OTHERS = 512  # … with so many others


@dataclass(frozen=True, slots=True)
class Ordered:
    """Records in an order by picture; those without a vector yet are last."""

    addresses: list[str]
    unseen: int


class PictureIndex:
    """The pictures' vectors of one model; thread-safe."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._lock = threading.Lock()
        self._key: Callable[[str], str] = embedding_cache.picture_keys(embedder)
        self._generation = self._newest = -1
        self._row: dict[str, int] = {}
        self._missing: dict[str, dict[str, Tier]] = {}  # key of a vector not there yet → its records
        self._vectors = np.empty((0, embedder.dimensions), np.uint16)
        self._addresses: list[str] = []
        self._tiers: list[Tier | None] = []  # None: another row is the record's by now
        self._close: dict[bytes, Scores] = {}  # the cosines of all with one vector; of the last one asked
        self._bounds = CosineBounds()
        self._compared = PictureScores()

    def refresh(self, db: sqlite3.Connection) -> None:
        """Update everything from the catalog."""
        with self._lock:
            generation = current_generation(db)
            newest = int(db.execute("SELECT coalesce(max(rowid), 0) FROM vectors").fetchone()[0])
            if generation != self._generation:
                db.create_function("picture_key", 1, self._key, deterministic=True)
                rows = db.execute(
                    "SELECT r.address, r.tier, r.key, v.vector FROM (SELECT *, picture_key(image_hash) AS "
                    "key FROM records WHERE generation > ?) r LEFT JOIN vectors v ON v.key = r.key",
                    [self._generation],
                )
                self._take(rows)
            if newest != self._newest and self._missing:
                self._take_late(db.execute("SELECT key, vector FROM vectors WHERE rowid > ?", [self._newest]))
            self._generation, self._newest = generation, newest

    def ordered(self, addresses: Sequence[str], order: Order, *, like: Vector | None = None) -> Ordered:
        """Sort these records, best first; ties keep their order.

        `like`: by the cosine with this vector (d,) of length 1. `approved`: by the sum, over all approved
        pictures, of the cosine to the power of 8, so that many near ones count and far ones
        hardly. `unlike`: by the distance to the nearest picture of the library.
        """
        with self._lock:
            rows = np.fromiter((self._row.get(address, -1) for address in addresses), np.intp, len(addresses))
            scores = self._scores(order, like, np.unique(rows[rows >= 0]))
        by_record = np.where(rows < 0, -np.inf, scores[rows] if len(scores) else -np.inf)
        best = np.argsort(-by_record, kind="stable")
        return Ordered([addresses[at] for at in best.tolist()], int((rows < 0).sum()))

    def vector(self, address: str) -> Vector | None:
        """The stored vector of a record's picture; None if there is none yet."""
        with self._lock:
            row = self._row.get(address)
            return None if row is None else floats(self._vectors[row])

    def near(self, vector: Vector, *, least: float) -> dict[str, float]:
        """Records whose pictures have at least this cosine with the vector (d,) of length 1."""
        with self._lock:
            rows = self._bounds.possible(self._vectors[: len(self._tiers)], vector, least=least)
            near: dict[str, float] = {}
            for start in range(0, len(rows), _CHUNK):
                some = rows[start : start + _CHUNK]
                cosines = np.vecdot(floats(self._vectors[some]), vector)
                for place in np.flatnonzero(cosines >= least).tolist():
                    if self._tiers[some[place]]:
                        near[self._addresses[some[place]]] = float(cosines[place])
            return near

    def near_many(self, addresses: Iterable[str], *, least: float) -> dict[str, dict[str, float]]:
        """For each of these records, the others whose pictures have at least this cosine with its own."""
        with self._lock:
            known = {address: self._row[address] for address in addresses if address in self._row}
            own = floats(self._vectors[list(known.values())])
            found: dict[str, dict[str, float]] = {address: {} for address in known}
            names = list(known)
            for start in range(0, len(self._tiers), _CHUNK):
                end = min(start + _CHUNK, len(self._tiers))
                cosines = own @ floats(self._vectors[start:end]).T
                for mine, place in zip(*np.nonzero(cosines >= least), strict=True):
                    row = start + int(place)
                    if self._tiers[row] and row != known[names[mine]]:
                        found[names[mine]][self._addresses[row]] = float(cosines[mine, place])
            return found

    def _scores(self, order: Order, like: Vector | None, rows: Rows) -> Scores:
        """One score for each row; only those of these rows are up to date."""
        if order == "like":
            assert like is not None
            return self._cosines(like)
        approved = {row for row, tier in enumerate(self._tiers) if tier in _APPROVED}
        library = {row for row in approved if self._tiers[row] == "library"}
        count = len(self._tiers)
        self._compared.add_rows(self._products, rows, count=count, approved=approved, library=library)
        if order == "approved":
            return self._compared.closeness.astype(np.float32)
        return -self._compared.nearest

    def _cosines(self, vector: Vector) -> Scores:
        key = np.asarray(vector, np.float32).tobytes()
        known = self._close.get(key)
        if known is None or len(known) != len(self._tiers):
            known = np.empty(len(self._tiers), np.float32)
            for start in range(0, len(known), _CHUNK):
                rows = self._vectors[start : min(start + _CHUNK, len(known))]
                known[start : start + len(rows)] = np.vecdot(floats(rows), vector)
            self._close = {key: known}
        return known

    def _products(self, rows: Rows, others: Rows) -> Iterator[tuple[Rows, Rows, Scores]]:
        """The cosines of rows with others in blocks: (n,) and (m,) rows, (n, m) cosines."""
        for start in range(0, len(rows) if len(others) else 0, _CHUNK):
            some = rows[start : start + _CHUNK]
            own = floats(self._vectors[some])
            for at in range(0, len(others), _OTHERS):
                part = others[at : at + _OTHERS]
                yield some, part, own @ floats(self._vectors[part]).T

    def _take(self, rows: Iterable[sqlite3.Row]) -> None:
        for row in rows:
            address, known = row["address"], self._row.get(row["address"])
            vector = self._read(row["vector"])
            if vector is None:
                self._missing.setdefault(row["key"], {})[address] = row["tier"]
                self._remove(address)
            elif known is not None and np.array_equal(self._vectors[known], vector):
                self._tiers[known] = row["tier"]
            else:
                self._remove(address)
                self._append(address, row["tier"], vector)

    def _take_late(self, rows: Iterable[sqlite3.Row]) -> None:
        for row in rows:
            vector = self._read(row["vector"])
            if vector is not None:
                for address, tier in self._missing.pop(row["key"], {}).items():
                    if address not in self._row:
                        self._append(address, tier, vector)

    def _read(self, content: bytes | None) -> Half | None:
        """The vector; None if there is none or its length is wrong, which doctor reports."""
        if content is None or len(content) != 4 * self.embedder.dimensions:
            return None
        return halves(np.frombuffer(content, "<f4"))

    def _remove(self, address: str) -> None:
        row = self._row.pop(address, None)
        if row is not None:
            self._tiers[row] = None

    def _append(self, address: str, tier: Tier, vector: Half) -> None:
        row = len(self._tiers)
        if row == len(self._vectors):
            grown = np.empty((max(1024, row + row // 4), self._vectors.shape[1]), np.uint16)
            grown[:row] = self._vectors
            self._vectors = grown
        self._vectors[row] = vector
        self._addresses.append(address)
        self._tiers.append(tier)
        self._row[address] = row

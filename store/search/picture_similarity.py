"""Pictures by a library's model: vectors, orders and neighbours. Derived from the catalog's vectors.

    PictureSimilarity   the pictures of every tier's records, read and compared at the first request
    PictureIndex        their vectors in memory; the first caller waits until all are read and compared,
                        later ones only for what changed
    PictureScores       how close each picture is to all approved ones, and to the nearest one in the library
    CosineBounds        which of many vectors can have a given cosine with another one

Vectors of pictures have a few large numbers, the same in all. With x = (a, b), a being these and b the rest,
x·y ≤ a·a' + ‖b‖‖b'‖ by Cauchy and Schwarz, so that most vectors are excluded without reading b. Of the demo's
pictures with the built-in model, 128 of 768 numbers leave 2 % for a cosine of 0.9.
"""

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.catalog.catalog import Catalog, current_generation
from store.embedding import embedding_cache
from store.embedding.active_model import ActiveModel
from store.embedding.embedding_cache import EmbeddingSource, embed, picture_vector
from store.embedding.protocol import Embedder, Vector
from store.errors import ModelUnavailable
from store.lru import LruCache
from store.records import Record, Tier
from store.search.samples import Sample, sampled
from store.vectors.rows import products, quantise, quantised

Half = NDArray[np.uint16]  # the upper halves of float32 numbers
_LARGEST = 128  # numbers of each vector that are read
_SAMPLE = 1024  # vectors by which they are chosen
_CHUNK = 1024  # rows multiplied at once: as many as the processor keeps at hand
_ROUNDING = 1e-4  # of a sum of float32 products, for vectors of a length near 1
_CANCELLED = np.float32(1e-6)  # of the difference of two such sums, so that no length is too small


class CosineBounds:
    """The largest numbers of each row of a matrix that only grows, as bytes."""

    def __init__(self) -> None:
        self._columns = np.empty(0, np.intp)
        self._count = 0
        self._codes = np.empty((0, 0), np.int8)
        self._lengths = np.empty((3, 0), np.float32)  # a step of the codes, their error, what is not in them

    def possible(self, rows: Half, vector: Vector, *, least: float) -> NDArray[np.intp]:
        """The numbers of all rows that have at least this cosine with the vector, and of some others."""
        self._add(rows)
        if not len(rows):
            return np.empty(0, np.intp)
        head = quantised(vector[self._columns])
        rest = np.float32(np.linalg.norm(np.delete(vector, self._columns)))
        steps, errors, rests = self._lengths[:, : len(rows)]
        bounds = products(self._codes[: len(rows)], head).astype(np.float32)
        bounds *= steps * np.float32(head.step)
        bounds += errors * np.float32(head.error_slope()) + rests * rest
        return np.flatnonzero(bounds >= least - head.error_floor() - _ROUNDING)

    def _add(self, rows: Half) -> None:
        if not self._count and len(rows):
            power = np.square(floats(rows[:_SAMPLE])).mean(axis=0)
            self._columns = np.sort(np.argsort(-power)[:_LARGEST])
            self._codes = np.empty((0, len(self._columns)), np.int8)
        if len(rows) > len(self._codes):
            room = len(rows) + len(rows) // 4
            codes, lengths = np.empty((room, len(self._columns)), np.int8), np.empty((3, room), np.float32)
            codes[: self._count] = self._codes[: self._count]
            lengths[:, : self._count] = self._lengths[:, : self._count]
            self._codes, self._lengths = codes, lengths
        for start in range(self._count, len(rows), _CHUNK):
            some = floats(rows[start : start + _CHUNK])
            here = slice(start, start + len(some))
            head = some[:, self._columns]
            made = quantise(head)
            others = np.sqrt(np.maximum(np.vecdot(some, some) - np.vecdot(head, head), 0) + _CANCELLED)
            self._codes[here], self._lengths[:, here] = made.codes, (made.steps, made.errors, others)
        self._count = len(rows)


def halves(numbers: Vector) -> Half:
    """float32 → its upper halves, of the same shape; precise enough for orders, 77 MB for 50,000 × 768."""
    return ((numbers.view(np.uint32) + 0x8000) >> 16).astype(np.uint16)


def floats(numbers: Half) -> Vector:
    """Upper halves → float32 of the same shape; calculations are six times as fast as with float16."""
    wide = numbers.astype(np.uint32)
    wide <<= 16
    return wide.view(np.float32)


Rows = NDArray[np.intp]
Scores = NDArray[np.float32]
Products = Callable[[Rows, Rows], Iterator[tuple[Rows, Rows, Scores]]]

_NEAR = 1e-3  # cosines this close to the nearest may have been it


class PictureScores:
    """Two scores for each row asked for so far; adding or removing a picture costs one product."""

    def __init__(self) -> None:
        self.closeness = np.empty(0, np.float64)  # Σ cosine⁸ over what was approved
        self.nearest = np.empty(0, np.float32)  # the largest cosine with one of the library; -1 without any
        self._known = np.empty(0, np.bool_)
        self._approved: set[int] = set()
        self._library: set[int] = set()

    def add_rows(
        self, products: Products, rows: Rows, *, count: int, approved: set[int], library: set[int]
    ) -> None:
        """Compute both scores of these rows, of `count` in all, against these sets."""
        more = count - len(self._known)
        self.closeness = np.concatenate([self.closeness, np.zeros(more)])
        self.nearest = np.concatenate([self.nearest, np.full(more, -1, np.float32)])
        self._known = np.concatenate([self._known, np.zeros(more, np.bool_)])
        known, new = np.flatnonzero(self._known), rows[~self._known[rows]]
        self._add(products, known, approved - self._approved, library - self._library)
        self._take_away(products, known, self._approved - approved)
        self._lower(products, known, self._library - library, left=library)
        self._add(products, new, approved, library)
        self._known[new] = True
        self._approved, self._library = approved, library

    def _add(self, products: Products, rows: Rows, approved: set[int], library: set[int]) -> None:
        of_approved, of_library = (self._marked(chosen) for chosen in (approved, library))
        for some, others, cosines in products(rows, _numbers(approved | library)):
            if of_approved[others].any():
                self.closeness[some] += _close(cosines[:, of_approved[others]])
            if of_library[others].any():
                nearest = cosines[:, of_library[others]].max(axis=1)
                self.nearest[some] = np.maximum(self.nearest[some], nearest)

    def _take_away(self, products: Products, rows: Rows, gone: set[int]) -> None:
        for some, _, cosines in products(rows, _numbers(gone)):
            self.closeness[some] -= _close(cosines)

    def _lower(self, products: Products, rows: Rows, gone: set[int], *, left: set[int]) -> None:
        """Recompute the rows whose nearest picture may be gone."""
        bereft = [
            some[(cosines >= self.nearest[some, None] - _NEAR).any(axis=1)]
            for some, _, cosines in products(rows, _numbers(gone))
        ]
        if bereft:
            again = np.unique(np.concatenate(bereft))
            self.nearest[again] = -1
            self._add(products, again, set(), left)

    def _marked(self, chosen: set[int]) -> NDArray[np.bool_]:
        marked = np.zeros(len(self._known), np.bool_)
        marked[_numbers(chosen)] = True
        return marked


def _close(cosines: Scores) -> NDArray[np.float64]:
    """The sum of the cosines to the power of 8."""
    near = np.maximum(cosines, 0)
    for _ in range(3):
        near *= near
    return np.asarray(near.sum(axis=1, dtype=np.float64))


def _numbers(chosen: Iterable[int]) -> Rows:
    return np.array(sorted(chosen), np.intp)


Order = Literal["like", "approved", "unlike"]
ORDERS: tuple[Order, ...] = get_args(Order)

_APPROVED: tuple[Tier, ...] = ("approved", "library")  # approved, and not undone
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

    def sampled(self, addresses: Sequence[str], sample: Sample, *, seed: int) -> Ordered:
        """These records in the order of a sample (`store/search/samples.py`)."""
        with self._lock:
            seen = [address for address in addresses if address in self._row]
            rows = np.fromiter((self._row[address] for address in seen), np.intp, len(seen))
            order = sampled(len(seen), lambda some: floats(self._vectors[rows[some]]), sample, seed=seed)
        unseen = [address for address in addresses if address not in self._row]
        return Ordered([*(seen[at] for at in order.tolist()), *unseen], len(unseen))

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


_KEPT = 64  # vectors of pictures that are not in the library yet


class PictureSimilarity:
    """The pictures of every tier's records; read and compared at the first request."""

    def __init__(self, catalog: Catalog, model: ActiveModel, *, picture: Callable[[str], Path]) -> None:
        self._catalog = catalog
        self._model = model
        self._picture = picture  # where the picture of an address lies at this moment
        self._lock = threading.Lock()
        self._index: PictureIndex | None = None
        self._made: LruCache[str, Vector] = LruCache(_KEPT)

    @property
    def embedder(self) -> Embedder:
        """The library's model. Raises ModelUnavailable if it cannot be used."""
        return self._model.embedder

    def index(self) -> PictureIndex:
        """All pictures as they are now. Raises ModelUnavailable if the model cannot be used."""
        embedder = self.embedder
        with self._lock:
            if self._index is None or self._index.embedder is not embedder:
                self._index = PictureIndex(embedder)
            index = self._index
        with self._catalog.reading() as db:
            index.refresh(db)
        return index

    def stored(self, record: Record) -> Vector | None:
        """The stored vector of one picture; None if there is none yet. Raises ModelUnavailable."""
        with self._catalog.reading() as db:
            return picture_vector(db, record.address, embedder=self.embedder)

    def vector(self, record: Record) -> Vector | None:
        """The stored vector, or one computed now and cached for a while; None for a text-only model."""
        embedder = self.embedder
        if (found := self.stored(record)) is not None:
            return found
        key = f"{embedder.fingerprint} {record.image_hash}"
        if (vector := self._made.get(key)) is None:
            with contextlib.suppress(ModelUnavailable, OSError):
                source = EmbeddingSource(key, picture=self._picture(record.address))
                vector = np.frombuffer(embed([source], embedder)[key], "<f4")
                self._made[key] = vector
        return vector

    def ordered(self, addresses: Sequence[str], order: Order, *, like: Record | None) -> Ordered:
        """Sort records by their pictures: by `order`, or likeness to `like`. Raises ModelUnavailable."""
        vector = self.vector(like) if like else None
        if like and vector is None:
            raise ModelUnavailable(
                f"{self._model.name} cannot see the picture of {like.address}; choose another order"
            )
        return self.index().ordered(addresses, order, like=vector)

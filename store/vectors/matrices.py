"""Vectors in memory, for search: the library's, or those of one kind of text; `update` follows changes.

Rows are in blocks, and are written once. A changed record gets a new row, and a removed one is only missing
from the next snapshot. A reader takes a snapshot (one attribute, replaced as a whole) and needs no lock,
because the writer never changes a row that the snapshot has. Once more than half of a block's rows are dead,
its live rows are copied to the end and the block is dropped. So memory stays below twice the live data, and a
change costs at most one block, however large the library is.

A text query with the usual weights compares the same vector with four facets, and the sum of four products is
the product with their sum. This sum, `combined`, is stored as well, so that the most frequent query reads one
row of bytes (`rows.py`) for each record instead of four.
"""

import mmap
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from store.embedding.protocol import Vector, are_unit
from store.errors import UnknownRecord
from store.progress import Progress, batches
from store.records import FACETS, Facet
from store.vectors.rows import Codes, Direction, Quantised, ReadAhead, products, quantise
from store.vectors.weights import DEFAULT_WEIGHTS

_Made = TypeVar("_Made")


Mask = NDArray[np.bool_]

_USUAL = np.array([DEFAULT_WEIGHTS["text"][facet] for facet in FACETS])
USUAL: NDArray[np.float64] = _USUAL / _USUAL.sum()  # (5,): the share of each facet in `combined`


@dataclass(eq=False)
class Segment:
    """Rows of a matrix for each facet, side by side, filled from the top; the first `sealed` rows are final.

    Facets that no coin has are always compared in full: they have no codes, nor a part in `combined`.
    """

    addresses: list[str]
    vectors: dict[Facet, Vector]  # (rows, d) each
    codes: dict[Facet, Codes]
    present: Mask  # (facets, rows)
    steps: Vector  # (5, rows)
    errors: Vector  # (rows,): the largest of the five facets
    combined: (
        Quantised  # of each row's facets added up by their usual shares, nothing in a missing one's place
    )
    sums: NDArray[np.float64]  # (facets, d): of all sealed rows
    sealed: int = 0
    read_ahead: Mapping[Facet, ReadAhead] = field(default_factory=dict)  # of the files that it lies in …
    first: int = 0  # … from this row on
    dead: set[int] = field(default_factory=set)  # the writer's own; snapshots have `SegmentView.rows`
    number: int = 0  # the writer's own

    @classmethod
    def empty(cls, *, rows: int, dimensions: int, facets: Sequence[Facet] = FACETS) -> "Segment":
        """A segment with room for this many rows."""
        return cls(
            addresses=[],
            vectors={facet: np.zeros((rows, dimensions), np.float32) for facet in facets},
            codes={facet: np.zeros((rows, dimensions), np.int8) for facet in facets if facet in FACETS},
            present=np.zeros((len(facets), rows), np.bool_),
            steps=np.zeros((len(FACETS), rows), np.float32),
            errors=np.zeros(rows, np.float32),
            combined=Quantised(
                np.zeros((rows, dimensions), np.int8), np.zeros(rows, np.float32), np.zeros(rows, np.float32)
            ),
            sums=np.zeros((len(facets), dimensions)),
        )

    @property
    def is_mapped(self) -> bool:
        """Whether it lies in files, so that the operating system may take its memory back."""
        return bool(self.read_ahead)

    @property
    def is_full(self) -> bool:
        """Whether it has no more room."""
        return len(self.addresses) == len(self.errors)

    def seal(self) -> None:
        """Quantise the new rows; they must be final now."""
        new = slice(self.sealed, len(self.addresses))
        if new.start == new.stop:
            return
        for number, matrix in enumerate(self.vectors.values()):
            self.sums[number] += matrix[new].sum(axis=0, dtype=np.float64)
        if self.codes:
            self._quantise(new)
        self.sealed = new.stop

    def _quantise(self, new: slice) -> None:
        combined = np.zeros((new.stop - new.start, self.sums.shape[1]), np.float32)
        for number, (facet, codes) in enumerate(self.codes.items()):
            rows = self.vectors[facet][new]
            made = quantise(rows)
            codes[new], self.steps[number, new] = made.codes, made.steps
            np.maximum(self.errors[new], made.errors, out=self.errors[new])
            if USUAL[number]:
                combined += rows * np.float32(USUAL[number])
        own, made = self.combined, quantise(combined)
        own.codes[new], own.steps[new], own.errors[new] = made.codes, made.steps, made.errors

    def ask(self, rows: NDArray[np.intp], facet: Facet) -> None:
        """Begin to read a facet's vectors of these rows (ascending) from the disk, if they lie there."""
        if self.is_mapped:
            self.read_ahead[facet].ask(self.first + rows)

    def own(self, row: int) -> dict[Facet, Vector]:
        """The vectors of one row by facet, float32; facets that it lacks are left out."""
        return {
            facet: matrix[row]
            for number, (facet, matrix) in enumerate(self.vectors.items())
            if self.present[number, row]
        }


@dataclass(frozen=True)
class SegmentView:
    """A snapshot's view of a block, shared until that changes: its first `count` rows, or `rows`."""

    segment: Segment
    count: int
    rows: NDArray[np.intp] | None
    sums: NDArray[np.float64]  # (facets, d): of its rows

    @property
    def size(self) -> int:
        """How many rows are visible."""
        return self.count if self.rows is None else len(self.rows)

    @property
    def living(self) -> slice | NDArray[np.intp]:
        """The positions of the visible rows."""
        return slice(self.count) if self.rows is None else self.rows

    @cached_property
    def addresses(self) -> list[str]:
        """The record of each visible row."""
        own = self.segment.addresses[: self.count]
        return own if self.rows is None else [own[row] for row in self.rows.tolist()]

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The visible row of each record."""
        return dict(zip(self.addresses, range(self.size), strict=True))

    def of(self, matrix: NDArray[Any]) -> NDArray[Any]:
        """Its part of a matrix of the block, along the last axis."""
        return matrix[..., self.living]


_MANY_NAMED = 1_000  # addresses; of fewer each is looked for
_SAMPLE = 256  # rows; the fixed sample of a snapshot
_WORTH_THREADS = 20_000  # rows; below, starting them takes longer than they save


@dataclass(frozen=True)
class VectorSnapshot:
    """The matrices at one moment; immutable."""

    dimensions: int
    generation: int = 0
    segments: tuple[SegmentView, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return int(self._starts[-1])

    @cached_property
    def addresses(self) -> tuple[str, ...]:
        """The record of each row."""
        return tuple(chain.from_iterable(view.addresses for view in self.segments))

    @cached_property
    def present(self) -> Mask:
        """(5, N): whether the record has the facet, in the order of FACETS."""
        none = np.empty((len(FACETS), 0), np.bool_)
        return np.concatenate([none, *(view.of(view.segment.present) for view in self.segments)], axis=1)

    @cached_property
    def errors(self) -> Vector:
        """(N,): the largest error of each record's quantised facets."""
        none = np.empty(0, np.float32)
        return np.concatenate([none, *(view.of(view.segment.errors) for view in self.segments)])

    @cached_property
    def combined_errors(self) -> Vector:
        """(N,): the error of each record's quantised combined vector."""
        none = np.empty(0, np.float32)
        return np.concatenate([none, *(view.of(view.segment.combined.errors) for view in self.segments)])

    @cached_property
    def means(self) -> NDArray[np.float64]:
        """(5, d): the mean vector of each facet over the records that have it; NaN if none has."""
        sums = np.zeros((len(FACETS), self.dimensions))
        for view in self.segments:
            sums += view.sums
        counts = self.present.sum(axis=1)[:, None]
        means = np.full_like(sums, np.nan)
        np.divide(sums, counts, out=means, where=counts > 0)
        return means

    @cached_property
    def sample(self) -> tuple[NDArray[np.intp], Vector]:
        """Rows that tell how far apart cosines lie, and their vectors (5, n, d)."""
        rows = np.unique(np.linspace(0, len(self), _SAMPLE, endpoint=False).astype(np.intp))[: len(self)]
        return rows, np.stack([self.rows(rows, facet) for facet in FACETS])

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        return np.cumsum([0, *(view.size for view in self.segments)], dtype=np.intp)

    def products(self, facet: Facet, direction: Vector, *, out: Vector) -> None:
        """Write to `out` (N,) the dot product of each record's facet with a direction; 0 without it."""

        def work(view: SegmentView, out: Vector) -> None:
            # Row by row, as fast as a matrix product (memory is the limit), whose last digits depend on where
            # a row is: copies of one picture would be ranked by chance.
            matrix = view.segment.vectors[facet][: view.count]
            if view.rows is None:
                np.vecdot(matrix, direction, out=out)
            else:
                out[:] = np.vecdot(matrix, direction)[view.rows]

        self._each(work, out)

    def approximate(self, facet: Facet, direction: Direction, *, out: Vector) -> None:
        """`products` within ± `errors` · error_slope() + error_floor() of the direction, but much faster."""

        number = FACETS.index(facet)
        self._scan(direction, lambda block: (block.codes[facet], block.steps[number]), out)

    def approximate_combined(self, direction: Direction, *, out: Vector) -> None:
        """`approximate` for the usual weighted sum of a record's facets (`combined_errors`)."""
        self._scan(direction, lambda block: (block.combined.codes, block.combined.steps), out)

    def _scan(self, direction: Direction, of: Callable[[Segment], tuple[Codes, Vector]], out: Vector) -> None:
        def work(view: SegmentView, out: Vector) -> None:
            codes, steps = of(view.segment)
            found = products(codes[: view.count], direction)
            found *= steps[: view.count] * np.float32(direction.step)
            out[:] = found if view.rows is None else found[view.rows]

        self._each(work, out)

    def products_of(self, rows: NDArray[np.intp], facet: Facet, direction: Vector) -> Vector:
        """`products` of these rows (ascending), bit for bit the same."""
        found: Vector = np.vecdot(self.rows(rows, facet), direction)
        return found

    def rows(self, rows: NDArray[np.intp], facet: Facet) -> Vector:
        """(n, d): a facet's vectors of these rows (ascending); zeros if the record lacks it."""
        found = np.empty((len(rows), self.dimensions), np.float32)
        bounds = np.searchsorted(rows, self._starts)
        parts = []
        for view, start, first, last in zip(self.segments, self._starts, bounds, bounds[1:], strict=False):
            own = rows[first:last] - start
            parts.append((view.segment, own if view.rows is None else view.rows[own], found[first:last]))
            view.segment.ask(parts[-1][1], facet)
        began = time.perf_counter()
        for segment, own, out in parts:
            segment.vectors[facet].take(own, axis=0, out=out, mode="clip")  # into `out` without a copy
        took = time.perf_counter() - began
        for ahead in {segment.read_ahead[facet] for segment, own, _ in parts if segment.is_mapped}:
            ahead.came(len(rows), took)
        return found

    def _each(self, work: Callable[[SegmentView, Vector], None], out: Vector) -> None:
        """Run the work for each view with its part of `out`, on all cores if that pays."""
        parts = [out[start:end] for start, end in zip(self._starts, self._starts[1:], strict=False)]
        pieces = list(zip(self.segments, parts, strict=True))
        others = (os.cpu_count() or 1) - 1 if len(self) >= _WORTH_THREADS else 0

        def share(number: int) -> None:
            for view, part in pieces[number :: others + 1]:
                work(view, part)

        futures = [_threads(os.getpid()).submit(share, number) for number in range(1, others + 1)]
        share(0)  # this thread has a core of its own
        for future in futures:
            future.result()

    def vectors(self, address: str) -> dict[Facet, Vector]:
        """The stored vectors of one record. Raises UnknownRecord if the library does not have it."""
        for view in self.segments:
            if (row := view.row_of.get(address)) is not None:
                return view.segment.own(row if view.rows is None else int(view.rows[row]))
        raise UnknownRecord(f"{address} is not in the library; only promoted records have stored vectors")

    def of(self, addresses: Iterable[str], facet: Facet) -> dict[str, Vector]:
        """A facet's vectors of those of these records that are here."""
        found = sorted(self.rows_of(addresses))
        matrix = self.rows(np.array([row for row, _ in found], np.intp), facet)
        return dict(zip((address for _, address in found), matrix, strict=True))

    def rows_of(self, addresses: Iterable[str]) -> list[tuple[int, str]]:
        """The row of each of these addresses that is in the library, with the address."""
        places = [(int(start), view.row_of) for start, view in zip(self._starts, self.segments, strict=False)]
        return [(start + of[one], one) for one in addresses for start, of in places if one in of]

    def mask(self, addresses: Collection[str]) -> Mask:
        """(N,): true for the rows of these addresses; unknown ones are skipped."""
        if len(addresses) > _MANY_NAMED:
            return np.fromiter(map(set(addresses).__contains__, self.addresses), np.bool_, len(self))
        found = np.zeros(len(self), np.bool_)
        found[[row for row, _ in self.rows_of(addresses)]] = True
        return found

    def read(self, *, progress: Progress) -> None:
        """Read from the disk what every search reads, and list what it needs; counts rows."""
        for view in self.segments:
            codes = view.segment.combined.codes
            codes.reshape(-1)[:: mmap.PAGESIZE].max(initial=0)
            _ = view.row_of
            progress.done += view.size
        _ = self.addresses, self.present, self.errors, self.combined_errors, self.means


def in_background(work: Callable[[], _Made]) -> "Future[_Made]":
    """Begin this work in another thread."""
    return _threads(os.getpid()).submit(work)


@lru_cache(maxsize=1)
def _threads(process: int) -> ThreadPoolExecutor:
    """The thread pool of this process; a forked child has none of its parent's threads."""
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="memedex-scan")


_PLACES = 1 << 32  # rows that a block could have
Vectors = Mapping[Facet, Vector | bytes | None]

SEGMENT_ROWS = 4096  # 15.7 MB for each facet at 768 dimensions; untouched rows take no memory


class Matrices:
    """The vectors of many records, for each facet; one writer at a time, any number of readers."""

    def __init__(
        self,
        *,
        dimensions: int,
        facets: Sequence[Facet] = FACETS,
        block_rows: int = SEGMENT_ROWS,
        blocks: Iterable[Segment] = (),
        generation: int = 0,
    ) -> None:
        """Start empty, or with full blocks that are final."""
        self.dimensions = dimensions
        self._facets = facets
        self.unusable: list[tuple[str, Facet]] = []  # left out: wrong length, not finite, not unit
        self._block_rows = block_rows
        self._lock = threading.Lock()
        self._blocks: dict[int, Segment] = {}  # by number
        self._place: dict[str, int] = {}  # each record's row in its block, plus _PLACES times its number
        for block in blocks:
            self._add(block)
        self._snapshot = VectorSnapshot(dimensions)
        self._publish(generation)

    def snapshot(self) -> VectorSnapshot:
        """The matrices as they are now; stays valid for as long as the caller keeps it."""
        return self._snapshot

    def update(self, changes: Iterable[tuple[str, Vectors | None]], *, generation: int | None = None) -> None:
        """Replace or (None) remove records; readers see all of the changes or none.

        Vectors that cannot be used are left out, as in `load`. `generation` is the catalog's generation after
        these changes; by default one more than before.
        """
        rows = dict(changes)
        new = [(address, vectors) for address, vectors in rows.items() if vectors is not None]
        whole = len(new) - len(new) % self._block_rows
        with self._lock:
            for address in rows:
                self._tombstone(address)
            for start in range(0, whole, self._block_rows):
                self._seal(self._filled(new[start : start + self._block_rows]))
            for address, vectors in new[whole:]:
                self._append(address, self._usable(address, vectors))
            for block in [
                block for block in self._blocks.values() if 2 * len(block.dead) > len(block.errors)
            ]:
                self._move_out(block)
            self._publish(self._snapshot.generation + 1 if generation is None else generation)

    def _usable(self, address: str, vectors: Vectors) -> dict[Facet, Vector]:
        usable = dict[Facet, Vector]()
        for facet, own in vectors.items():
            if self._fits(own) and are_unit(row := np.frombuffer(bytes(own), "<f4")):
                usable[facet] = row
            elif own is not None:
                self.unusable.append((address, facet))
        return usable

    def _fits(self, vector: Vector | bytes | None) -> TypeGuard[Vector | bytes]:
        size = 4 * self.dimensions if isinstance(vector, bytes) else self.dimensions
        return vector is not None and len(vector) == size

    def _tombstone(self, address: str) -> None:
        place = self._place.pop(address, None)
        if place is not None:
            number, row = divmod(place, _PLACES)
            self._blocks[number].dead.add(row)

    def _append(self, address: str, vectors: Mapping[Facet, Vector]) -> None:
        block = self._last
        if block is None or block.is_full:
            block = self._add(self._empty())
        row = len(block.addresses)
        for number, (facet, matrix) in enumerate(block.vectors.items()):
            if (vector := vectors.get(facet)) is not None:
                matrix[row] = vector
                block.present[number, row] = True
        block.addresses.append(address)
        self._place[address] = _PLACES * block.number + row

    def _empty(self) -> Segment:
        return Segment.empty(rows=self._block_rows, dimensions=self.dimensions, facets=self._facets)

    def _filled(self, rows: Sequence[tuple[str, Vectors]]) -> Segment:
        """A new block of records that are not there yet: at once, which takes a fraction of the time."""
        block = self._empty()
        block.addresses += [address for address, _ in rows]
        for number, (facet, matrix) in enumerate(block.vectors.items()):
            found = [
                (row, own) for row, (_, vectors) in enumerate(rows) if (own := vectors.get(facet)) is not None
            ]
            fitting = {row: bytes(own) for row, own in found if self._fits(own)}
            self.unusable += [(block.addresses[row], facet) for row, _ in found if row not in fitting]
            places = [*fitting]
            matrix[places] = np.frombuffer(b"".join(fitting.values()), "<f4").reshape(-1, self.dimensions)
            block.present[number, places] = True
        return self._add(block)

    @property
    def _last(self) -> Segment | None:
        return next(reversed(self._blocks.values()), None)

    def _add(self, block: Segment) -> Segment:
        block.number = max(self._blocks, default=-1) + 1
        self._blocks[block.number] = block
        start = _PLACES * block.number
        self._place.update(zip(block.addresses, range(start, start + len(block.addresses)), strict=True))
        return block

    def _move_out(self, block: Segment) -> None:
        del self._blocks[block.number]
        for row, address in enumerate(block.addresses):
            if row not in block.dead:
                self._append(address, block.own(row))

    def _seal(self, block: Segment) -> None:
        """Leave out rows that are not of unit length, and quantise the rest."""
        count = len(block.addresses)
        for number, (facet, matrix) in enumerate(block.vectors.items()):
            rows = matrix[:count]
            for row in np.flatnonzero(block.present[number, :count] & ~are_unit(rows)).tolist():
                self.unusable.append((block.addresses[row], facet))
                block.present[number, row] = False
                rows[row] = 0
        block.seal()

    def _publish(self, generation: int) -> None:
        for block in self._blocks.values():
            block.seal()
        known = {id(view.segment): view for view in self._snapshot.segments}
        views = tuple(_view(block, known.get(id(block))) for block in self._blocks.values())
        if [id(view) for view in views] == [id(view) for view in self._snapshot.segments]:
            same = copy(self._snapshot)  # with the same `views`, by which a search knows that nothing changed
            object.__setattr__(same, "generation", generation)
            self._snapshot = same
        else:
            self._snapshot = VectorSnapshot(self.dimensions, generation, views)


def load(
    rows: Iterable[tuple[str, Vectors]],
    *,
    dimensions: int,
    facets: Sequence[Facet] = FACETS,
    generation: int = 0,
    block_rows: int = SEGMENT_ROWS,
) -> Matrices:
    """Make matrices of all these records; a vector that cannot be used is left out and listed in `unusable`.

    Vectors are the little-endian float32 bytes of the catalog, or arrays. A damaged vector must not keep a
    library from opening: its record is found by its other facets until `doctor` repairs it.
    """
    matrices = Matrices(dimensions=dimensions, facets=facets, block_rows=block_rows)
    # Reading and quantising take about as long as each other: side by side, on two cores.
    with ThreadPoolExecutor(1) as pool:
        settling = []
        for some in batches(rows, block_rows):
            settling.append(pool.submit(matrices._seal, matrices._filled(some)))
        for settled in settling:
            settled.result()
    matrices._publish(generation)
    return matrices


def _view(block: Segment, known: SegmentView | None) -> SegmentView:
    count = len(block.addresses)
    if known is not None and known.size == count - len(block.dead) and known.count == count:
        return known
    if not block.dead:
        return SegmentView(block, count, None, block.sums.copy())
    living, dead = np.ones(count, np.bool_), sorted(block.dead)
    living[dead] = False
    for facet in block.vectors:
        block.ask(np.array(dead), facet)
    gone = [matrix[dead].sum(axis=0, dtype=np.float64) for matrix in block.vectors.values()]
    return SegmentView(block, count, np.flatnonzero(living), block.sums - gone)

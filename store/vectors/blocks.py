"""Blocks of rows of the matrices, as float32 and as bytes with a bound, and a snapshot of all of them.

    Quantised, Direction    vectors as bytes, with a bound on the error of their dot products
    ReadAhead               rows of a mapped matrix, asked for together
    Segment, SegmentView    a block, in memory or in mapped files (`matrices`), and what a snapshot sees of it
    VectorSnapshot          the matrices at one moment: all blocks that have rows of records

A scan is as fast as memory is read, and bytes are a quarter of float32. A vector x is first rotated by a
fixed orthogonal matrix (random signs, then a Hadamard matrix on each group of its numbers), which changes no
dot product and leaves no number much larger than the others. Then x ≈ step · codes, with codes from -127 to
127, and the length of the remainder, ‖x - step · codes‖, is stored as its `error`. By Cauchy and Schwarz, for
a direction q treated alike,

    |q·x - step_q · step_x · codes_q·codes_x|  ≤  ‖q‖ · error_x + error_q · (‖x‖ + error_x)

so an approximation plus this bound proves which records cannot be among the best. A scan reads the bytes of
all records, and float32 rows only where the result must be exact.

A text query with the usual weights compares the same vector with four facets, and the sum of four products is
the product with their sum. This sum, `combined`, is stored as well, so that the most frequent query reads one
row of bytes for each record instead of four.

Float32 rows that are not in memory are asked for together (`ReadAhead`): otherwise each is a wait of its own,
in which the system reads megabytes around it. 600 rows took 0.7 s, and take 10 ms; asking for one that is in
memory takes a microsecond, which is why it is not done where the last ones were there.
"""

import math
import mmap
import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from store.embedding.protocol import Vector
from store.errors import UnknownRecord
from store.progress import Progress
from store.records import FACETS, Facet
from store.vectors.weights import DEFAULT_WEIGHTS

_Made = TypeVar("_Made")
_SMALL = 64_000_000  # bytes of a matrix that is asked for as a whole: a call for each row takes longer
_AGAIN = 10.0  # seconds after which is asked again, since the system may have dropped what was there
_FROM_MEMORY = 2e-6  # seconds for a row at most; one from a disk takes 5 and more


class ReadAhead:
    """Asks the operating system for rows of one matrix, unless they lately came without waiting."""

    def __init__(self, matrix: NDArray[Any]) -> None:
        """The matrix lies, whole rows one after the other, in a file that NumPy mapped."""
        base: Any = matrix
        while not isinstance(base, mmap.mmap):
            base = base.base
        self._map = base
        self._start = matrix.ctypes.data - np.frombuffer(base, np.uint8).ctypes.data
        self._size = matrix.itemsize * matrix.shape[1]
        self._bytes = matrix.nbytes
        self._there_until = -math.inf

    def ask(self, rows: NDArray[np.intp]) -> None:
        """Begin to read these rows (ascending), without waiting for them."""
        if not len(rows) or not hasattr(mmap, "MADV_WILLNEED"):  # Windows has nothing like it
            return
        if time.monotonic() < self._there_until:
            return
        if self._bytes <= _SMALL:
            self._there_until = time.monotonic() + _AGAIN
            self._ask(0, self._bytes)
            return
        breaks = np.flatnonzero(np.diff(rows) != 1) + 1
        firsts = rows[np.concatenate([[0], breaks])]
        lasts = rows[np.concatenate([breaks - 1, [len(rows) - 1]])]
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
            self._ask(first * self._size, (last + 1) * self._size)

    def came(self, rows: int, seconds: float) -> None:
        """Note how long it took to copy so many rows that were asked for."""
        is_there = seconds < _FROM_MEMORY * rows
        self._there_until = time.monotonic() + _AGAIN if is_there else -math.inf

    def _ask(self, first: int, end: int) -> None:
        start = self._start + first
        start -= start % mmap.PAGESIZE
        self._map.madvise(mmap.MADV_WILLNEED, start, self._start + end - start)


Codes = NDArray[np.int8]

LARGEST = 127
ROUNDING = 1e-5  # float32 dot products and rotations of unit vectors differ by less from the true ones
_GROUP = 256  # numbers that one Hadamard matrix mixes
_ROWS = 512  # turned at once: little enough to stay in the processor's cache


@dataclass(frozen=True, slots=True)
class Quantised:
    """Rows of one matrix: (n, d) codes, (n,) steps and (n,) errors; a row of zeros has step and error 0."""

    codes: Codes
    steps: Vector
    errors: Vector


@dataclass(frozen=True, slots=True)
class Direction:
    """A query vector, as floats and as codes."""

    exact: Vector  # (d,)
    codes: Codes  # (1, d)
    step: float
    length: float
    error: float

    def error_slope(self) -> float:
        """The factor on a row's error in the bound of an approximate product."""
        return self.length + self.error

    def error_floor(self) -> float:
        """The part of the bound that does not depend on the row; assumes lengths up to 1.001."""
        return 1.001 * self.error + ROUNDING * max(1.0, self.length)


def quantise(rows: Vector) -> Quantised:
    """Quantise every row of (n, d) on its own, whichever other rows there are."""
    count, dimensions = rows.shape
    codes = np.empty((count, dimensions), np.int8)
    steps, errors = np.empty(count, np.float32), np.empty(count, np.float32)
    for start in range(0, count, _ROWS):
        some = slice(start, start + _ROWS)
        rotated = _rotated(rows[some])
        step = np.abs(rotated).max(axis=1, initial=0) / np.float32(LARGEST)
        scaled = rotated / np.where(step, step, 1)[:, None]
        codes[some] = rounded = np.rint(scaled, out=scaled)
        rounded *= step[:, None]
        rotated -= rounded
        steps[some], errors[some] = step, np.linalg.norm(rotated, axis=1)
    return Quantised(codes, steps, errors)


def direction(vector: Vector) -> Direction:
    """Prepare a query vector of any length."""
    own = quantise(vector[None])
    return Direction(
        vector, own.codes, float(own.steps[0]), float(np.linalg.norm(vector)), float(own.errors[0])
    )


def products(codes: Codes, direction: Direction) -> NDArray[np.float64]:
    """The integer dot products of all rows' codes with the direction's; multiply by both steps."""
    import numkong  # uses what the processor has for bytes; NumPy does not, and is ten times slower

    return np.asarray(numkong.cdist(direction.codes, codes, "dot"))[0] if len(codes) else np.empty(0)


def _rotated(rows: Vector) -> Any:
    group, signs, matrix = _rotation(rows.shape[1])
    rotated = (rows * signs).reshape(-1, group) @ matrix
    return rotated.reshape(rows.shape)


@lru_cache(maxsize=8)
def _rotation(dimensions: int) -> tuple[int, Vector, Vector]:
    """Signs and Hadamard matrix (Sylvester's construction). Must never change, because codes are stored."""
    group = math.gcd(dimensions, _GROUP)
    matrix = np.ones((1, 1), np.float32)
    while len(matrix) < group:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    signs = np.random.RandomState(5).randint(0, 2, dimensions) * 2 - 1  # RandomState's numbers never change
    return group, signs.astype(np.float32), matrix / np.float32(math.sqrt(group))


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
    """A snapshot's view of a block: its first `count` rows, or only `rows` of them.

    Snapshots share it until the block changes, with what it has listed.
    """

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
        """Write to `out` (N,) the dot product of each record's facet with a direction.

        0 without the facet.
        """

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
        """`approximate` for the weighted sum of a record's facets with the usual weights.

        See `combined_errors`.
        """
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

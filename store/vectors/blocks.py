"""Rows of vectors in blocks, and snapshots of them.

Beside each float32 row is its form from `quantised`, a quarter as large: a scan of all records reads that,
and float32 rows only where the result must be exact. A text query with the usual weights compares the same
vector with four facets, and the sum of four products is the product with their sum. This sum, the `blend`, is
stored as well, so that the most frequent query reads one row of bytes for each record instead of four. Blocks
are in memory or in mapped files (`matrix_files`).
"""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.embedding.arrays import Vector
from store.errors import UnknownRecord
from store.records import FACETS, Facet
from store.vectors import quantised
from store.vectors.quantised import Codes, Direction, Quantised
from store.vectors.weights import DEFAULT_WEIGHTS

Mask = NDArray[np.bool_]

_USUAL = np.array([DEFAULT_WEIGHTS["text"][facet] for facet in FACETS])
USUAL: NDArray[np.float64] = _USUAL / _USUAL.sum()  # (5,): the share of each facet in the blend

_WORTH_THREADS = 20_000  # rows; below, starting them takes longer than they save


@dataclass(eq=False)
class Segment:
    """Rows of five matrices side by side, filled from the top; the first `settled` rows are final."""

    addresses: list[str]
    vectors: dict[Facet, Vector]  # (rows, d) each
    codes: dict[Facet, Codes]
    present: Mask  # (5, rows)
    steps: Vector  # (5, rows)
    errors: Vector  # (rows,): the largest of the five facets
    combined: (
        Quantised  # of each row's facets added up by their usual shares, nothing in a missing one's place
    )
    sums: NDArray[np.float64]  # (5, d): of all settled rows
    sealed: int = 0
    is_mapped: bool = False  # the operating system may take its memory back
    dead: set[int] = field(default_factory=set)  # the writer's own; snapshots have `SegmentView.rows`

    @classmethod
    def empty(cls, *, rows: int, dimensions: int) -> "Segment":
        """A segment with room for this many rows."""
        return cls(
            addresses=[],
            vectors={facet: np.zeros((rows, dimensions), np.float32) for facet in FACETS},
            codes={facet: np.zeros((rows, dimensions), np.int8) for facet in FACETS},
            present=np.zeros((len(FACETS), rows), np.bool_),
            steps=np.zeros((len(FACETS), rows), np.float32),
            errors=np.zeros(rows, np.float32),
            combined=Quantised(
                np.zeros((rows, dimensions), np.int8), np.zeros(rows, np.float32), np.zeros(rows, np.float32)
            ),
            sums=np.zeros((len(FACETS), dimensions)),
        )

    @property
    def is_full(self) -> bool:
        """Whether it has no more room."""
        return len(self.addresses) == len(self.errors)

    def seal(self) -> None:
        """Quantise the new rows; they must be final now."""
        new = slice(self.sealed, len(self.addresses))
        if new.start == new.stop:
            return
        blended = np.zeros((new.stop - new.start, self.sums.shape[1]), np.float32)
        for number, facet in enumerate(FACETS):
            rows = self.vectors[facet][new]
            made = quantised.quantise(rows)
            self.codes[facet][new], self.steps[number, new] = made.codes, made.steps
            np.maximum(self.errors[new], made.errors, out=self.errors[new])
            self.sums[number] += rows.sum(axis=0, dtype=np.float64)
            if USUAL[number]:
                blended += rows * np.float32(USUAL[number])
        made = quantised.quantise(blended)
        self.combined.codes[new], self.combined.steps[new], self.combined.errors[new] = (
            made.codes,
            made.steps,
            made.errors,
        )
        self.sealed = new.stop

    def own(self, row: int) -> dict[Facet, Vector]:
        """The vectors of one row by facet, float32; facets that it lacks are left out."""
        return {
            facet: self.vectors[facet][row]
            for number, facet in enumerate(FACETS)
            if self.present[number, row]
        }


@dataclass(frozen=True, slots=True)
class SegmentView:
    """A snapshot's view of a block: its first `count` rows, or only `rows` of them."""

    segment: Segment
    count: int
    rows: NDArray[np.intp] | None
    sums: NDArray[np.float64]  # (5, d): of its rows

    @property
    def size(self) -> int:
        """How many rows are visible."""
        return self.count if self.rows is None else len(self.rows)

    @property
    def living(self) -> slice | NDArray[np.intp]:
        """The positions of the visible rows."""
        return slice(self.count) if self.rows is None else self.rows

    @property
    def addresses(self) -> list[str]:
        """The record of each visible row."""
        own = self.segment.addresses[: self.count]
        return own if self.rows is None else [own[row] for row in self.rows.tolist()]

    def of(self, matrix: NDArray[Any]) -> NDArray[Any]:
        """Its part of a matrix of the block, along the last axis."""
        return matrix[..., self.living]


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
        """(N,): the error of each record's quantised blend."""
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
    def _starts(self) -> NDArray[np.intp]:
        return np.cumsum([0, *(view.size for view in self.segments)], dtype=np.intp)

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {address: row for row, address in enumerate(self.addresses)}

    def products(self, facet: Facet, direction: Vector, *, out: Vector) -> None:
        """Write to `out` (N,) the dot product of each record's facet with a direction.

        0 without the facet.
        """

        def work(view: SegmentView, out: Vector) -> None:
            # Row by row, as fast as a matrix product (memory is the limit), whose last digits depend on where
            # a row stands: copies of one picture would be ranked by chance.
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
            found = quantised.products(codes[: view.count], direction)
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
        for view, start, first, last in zip(self.segments, self._starts, bounds, bounds[1:], strict=False):
            own = rows[first:last] - start
            found[first:last] = view.segment.vectors[facet][own if view.rows is None else view.rows[own]]
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
        row = self._row_of.get(address)
        if row is None:
            raise UnknownRecord(f"{address} is not in the library; only promoted records have stored vectors")
        for view in self.segments:
            if row < view.size:
                return view.segment.own(row if view.rows is None else int(view.rows[row]))
            row -= view.size
        raise AssertionError("a row beyond the last view")

    def rows_of(self, addresses: Iterable[str]) -> list[tuple[int, str]]:
        """The row of each of these addresses that is in the library, with the address."""
        return [(row, one) for one in addresses if (row := self._row_of.get(one)) is not None]

    def mask(self, addresses: Iterable[str]) -> Mask:
        """(N,): true for the rows of these addresses; unknown ones are skipped."""
        found = np.zeros(len(self), np.bool_)
        rows = [self._row_of.get(address, -1) for address in addresses]
        found[[row for row in rows if row >= 0]] = True
        return found


@lru_cache(maxsize=1)
def _threads(process: int) -> ThreadPoolExecutor:
    """The thread pool of this process; a forked child has none of its parent's threads."""
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="memedex-scan")

"""The matrices at one moment: all blocks that have rows of the library's records."""

import mmap
import os
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from store.embedding.arrays import Vector
from store.errors import UnknownRecord
from store.progress import Progress
from store.records import FACETS, Facet
from store.vectors import quantised
from store.vectors.quantised import Codes, Direction
from store.vectors.segments import Mask, Segment, SegmentView

_MANY_NAMED = 1_000  # addresses; of fewer each is looked for
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
    def _starts(self) -> NDArray[np.intp]:
        return np.cumsum([0, *(view.size for view in self.segments)], dtype=np.intp)

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
        owns = []
        for view, start, first, last in zip(self.segments, self._starts, bounds, bounds[1:], strict=False):
            own = rows[first:last] - start
            owns.append(own if view.rows is None else view.rows[own])
            view.segment.ask(owns[-1], facet)
        for view, own, first, last in zip(self.segments, owns, bounds, bounds[1:], strict=False):
            found[first:last] = view.segment.vectors[facet][own]
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


@lru_cache(maxsize=1)
def _threads(process: int) -> ThreadPoolExecutor:
    """The thread pool of this process; a forked child has none of its parent's threads."""
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="memedex-scan")

"""The cosines of one query with every record of the library: approximate first, exact where it counts."""

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from store import quantised
from store.blocks import Mask, Snapshot, Vector
from store.records import FACETS, Facet

Rows = NDArray[np.intp]

FEW = 16_384  # rows; all of so few are compared exactly at once, in a few ms, and sliders are quickest then
_MANY = 4096  # rows from which reading all of them in order may be quicker than these alone


class Similarities:
    """No weight is in them, so one serves every position of the sliders.

    A facet is scanned when a weight first asks for it, by its quantised rows, each cosine with a proven bound
    on how wrong it is; `settle` makes rows exact, for good. Whoever calls more than one method holds `lock`.
    """

    def __init__(self, snapshot: Snapshot, directions: Mapping[Facet, Vector]) -> None:
        self.addresses = snapshot.addresses
        self.lock = threading.RLock()
        self._snapshot = snapshot
        self._asked = {FACETS.index(facet): quantised.direction(own) for facet, own in directions.items()}
        speaks = np.array([number in self._asked for number in range(len(FACETS))])
        self.present: Mask = (
            snapshot.present & speaks[:, None]
        )  # (5, N): it has it, and the query speaks of it
        self.spoken = [bool(has.any()) for has in self.present]  # of each facet, whether any record has it …
        self.complete = [bool(has.all()) for has in self.present]  # … and whether every record
        self.means = np.full(
            len(FACETS), np.nan
        )  # (5,): the neutral values, NaN where no record has the facet
        for number, asked in self._asked.items():
            if self.spoken[number]:  # the mean of the products is the product with the mean
                self.means[number] = snapshot.means[number] @ asked.exact.astype(np.float64)
        self._filled = np.zeros((len(FACETS), len(self.addresses)), np.float32)
        self._scanned: set[int] = set()
        self._exact = np.zeros(len(self.addresses), np.bool_)

    @property
    def values(self) -> Vector:
        """(N, 5): every cosine, exact, NaN where missing."""
        with self.lock:
            self.settle(np.arange(len(self.addresses)))
            return np.where(self.present, self._filled, np.float32(np.nan)).T

    @cached_property
    def everything(self) -> NDArray[np.float64] | None:
        """(5, N): every cosine, exact, a missing one at its mean; None for more than FEW records."""
        if len(self.addresses) > FEW:
            return None
        rows = np.arange(len(self.addresses))
        self.settle(rows)
        return self.settled(rows)

    def cosines(self, rows: Rows) -> Vector:
        """(n, 5): exact cosines of these rows alone, NaN where missing."""
        with self.lock:
            self.settle(rows)
            return np.where(self.present[:, rows], self._filled[:, rows], np.float32(np.nan)).T

    def approximate(self, gains: Sequence[float]) -> tuple[Vector, Vector]:
        """Σ gain · cosine of each row, a missing one at its mean; how far from the truth it is at most."""
        scores = np.zeros(len(self.addresses), np.float32)
        scratch = np.empty_like(scores)
        slope = offset = 0.0
        for number, gain in enumerate(gains):
            if gain:
                self._scan(number)
                scores += np.multiply(self._filled[number], np.float32(gain), out=scratch)
                slope += gain * self._asked[number].slope()
                offset += gain * self._asked[number].offset()
        wrong = np.multiply(self._snapshot.errors, np.float32(slope), out=scratch)
        wrong += np.float32(offset)
        wrong[self._exact] = quantised.ROUNDING * sum(gains) + 1e-6
        return scores, wrong

    def settle(self, rows: Rows) -> None:
        """Make these rows, in ascending order, exact in every facet."""
        rows = rows[~self._exact[rows]]
        everything = len(rows) > _MANY and 8 * len(rows) > len(self.addresses)
        if everything:
            rows = np.arange(len(self.addresses))
        for number, asked in self._asked.items():
            if everything:
                found = np.empty(len(rows), np.float32)
                self._snapshot.products(FACETS[number], asked.exact, out=found)
            else:
                found = self._snapshot.products_of(rows, FACETS[number], asked.exact)
            self._filled[number, rows] = self._with_means(number, found, rows)
        self._exact[rows] = True

    def settled(self, rows: Rows) -> NDArray[np.float64]:
        """(5, n): the cosines of rows that were settled, a missing one at its mean."""
        means = np.nan_to_num(self.means)[:, None]
        return np.where(self.present[:, rows], self._filled[:, rows].astype(np.float64), means)

    def _scan(self, number: int) -> None:
        if number in self._scanned:
            return
        found = np.empty(len(self.addresses), np.float32)
        self._snapshot.approximate(FACETS[number], self._asked[number], out=found)
        rough = ~self._exact
        filled = self._with_means(number, found, slice(None))
        np.copyto(self._filled[number], filled, where=rough)
        self._scanned.add(number)

    def _with_means(self, number: int, found: Vector, rows: Rows | slice) -> Vector:
        return np.where(self.present[number, rows], found, np.float32(np.nan_to_num(self.means[number])))


NONE = Similarities(Snapshot(dimensions=1), {})

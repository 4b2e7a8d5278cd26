"""How close each picture is to all that was approved, and to the nearest one in the library."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
Scores = NDArray[np.float32]
Products = Callable[[Rows, Rows], Iterator[tuple[Rows, Scores]]]

_NEAR = 1e-3  # cosines this close to the nearest may have been it


class Compared:
    """Two figures for each row; a row that comes or goes costs one product with all others."""

    def __init__(self) -> None:
        self.closeness = np.empty(0, np.float64)  # Σ cosine⁸ over what was approved
        self.nearest = np.empty(0, np.float32)  # the largest cosine with one of the library; -1 without any
        self._approved: set[int] = set()
        self._library: set[int] = set()

    def bring_up(self, products: Products, count: int, *, approved: set[int], library: set[int]) -> None:
        """Make both figures those of `count` rows and of these sets; what is already in them stays."""
        new = np.arange(len(self.nearest), count)
        self.closeness = np.concatenate([self.closeness, np.zeros(len(new))])
        self.nearest = np.concatenate([self.nearest, np.full(len(new), -1, np.float32)])
        self._approve(products, new, self._approved, sign=1)
        self._raise(products, new, self._library)
        everything = np.arange(count)
        self._approve(products, everything, approved - self._approved, sign=1)
        self._approve(products, everything, self._approved - approved, sign=-1)
        self._raise(products, everything, library - self._library)
        self._lower(products, everything, self._library - library, left=library)
        self._approved, self._library = approved, library

    def _approve(self, products: Products, rows: Rows, others: set[int], *, sign: int) -> None:
        for some, cosines in products(rows, _rows(others)):
            near = np.maximum(cosines, 0)
            for _ in range(3):
                near *= near
            self.closeness[some] += sign * near.sum(axis=1)

    def _raise(self, products: Products, rows: Rows, others: set[int]) -> None:
        for some, cosines in products(rows, _rows(others)):
            self.nearest[some] = np.maximum(self.nearest[some], cosines.max(axis=1))

    def _lower(self, products: Products, rows: Rows, gone: set[int], *, left: set[int]) -> None:
        """Look again for those whose nearest may have gone."""
        bereft = [
            some[(cosines >= self.nearest[some, None] - _NEAR).any(axis=1)]
            for some, cosines in products(rows, _rows(gone))
        ]
        if bereft:
            again = np.unique(np.concatenate(bereft))
            self.nearest[again] = -1
            self._raise(products, again, left)


def _rows(chosen: Iterable[int]) -> Rows:
    return np.array(sorted(chosen), np.intp)

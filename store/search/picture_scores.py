"""How close each picture is to all approved ones, and to the nearest one in the library."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

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
        for some, others, cosines in products(rows, _rows(approved | library)):
            if of_approved[others].any():
                self.closeness[some] += _close(cosines[:, of_approved[others]])
            if of_library[others].any():
                nearest = cosines[:, of_library[others]].max(axis=1)
                self.nearest[some] = np.maximum(self.nearest[some], nearest)

    def _take_away(self, products: Products, rows: Rows, gone: set[int]) -> None:
        for some, _, cosines in products(rows, _rows(gone)):
            self.closeness[some] -= _close(cosines)

    def _lower(self, products: Products, rows: Rows, gone: set[int], *, left: set[int]) -> None:
        """Recompute the rows whose nearest picture may be gone."""
        bereft = [
            some[(cosines >= self.nearest[some, None] - _NEAR).any(axis=1)]
            for some, _, cosines in products(rows, _rows(gone))
        ]
        if bereft:
            again = np.unique(np.concatenate(bereft))
            self.nearest[again] = -1
            self._add(products, again, set(), left)

    def _marked(self, chosen: set[int]) -> NDArray[np.bool_]:
        marked = np.zeros(len(self._known), np.bool_)
        marked[_rows(chosen)] = True
        return marked


def _close(cosines: Scores) -> NDArray[np.float64]:
    """The sum of the cosines to the power of 8."""
    near = np.maximum(cosines, 0)
    for _ in range(3):
        near *= near
    return np.asarray(near.sum(axis=1, dtype=np.float64))


def _rows(chosen: Iterable[int]) -> Rows:
    return np.array(sorted(chosen), np.intp)

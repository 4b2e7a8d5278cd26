"""Similarities of coins to each other, and the inverse that ridge regression on them needs."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_RIDGE = 1.0  # added to the diagonal, in units of a unit vector's similarity with itself


@dataclass(frozen=True, slots=True)
class Kernel:
    """Of vectors (n, d) of unit length; no vector is its own neighbour."""

    vectors: Floats
    similarities: Floats  # (n, n), -∞ on the diagonal
    inverse: Floats  # (n, n): of the similarities plus the ridge
    changed: int = 0  # vectors that came or went since all was computed from nothing

    @classmethod
    def of(cls, vectors: Floats) -> Self:
        """Computed from nothing."""
        own = vectors @ vectors.T
        return cls(vectors, _without_own(own), _inverted(own))

    def renewed(self, kept: NDArray[np.intp], others: Floats) -> "Kernel":
        """That of the vectors at these places and of others after them, at the cost of what came and went.

        Once more changed than stayed it is computed from nothing, so that errors of rounding do not add up.
        """
        gone = np.delete(np.arange(len(self.vectors)), kept)
        changed = self.changed + len(gone) + len(others)
        if changed > len(kept):
            return Kernel.of(np.concatenate([self.vectors[kept], others]) if len(kept) else others)
        own, cross = others @ others.T, self.vectors[kept] @ others.T
        # The inverse without some rows and columns, then with more, by blocks (Schur complements).
        inside, border = self.inverse[np.ix_(kept, kept)], self.inverse[np.ix_(kept, gone)]
        inside -= border @ np.linalg.solve(self.inverse[np.ix_(gone, gone)], border.T)
        reach = inside @ cross
        corner = _inverted(own - cross.T @ reach)
        side = -reach @ corner
        similar = self.similarities[np.ix_(kept, kept)]
        return Kernel(
            np.concatenate([self.vectors[kept], others]),
            np.block([[similar, cross], [cross.T, _without_own(own)]]),
            np.block([[inside - side @ reach.T, side], [side.T, corner]]),
            changed,
        )


def _without_own(similarities: Floats) -> Floats:
    return similarities - np.diag(np.full(len(similarities), np.inf))


def _inverted(similarities: Floats) -> Floats:
    return np.asarray(np.linalg.inv(similarities + _RIDGE * np.eye(len(similarities))), dtype=np.float64)

"""The vectors behind a map: those of one facet, or of all facets together ("fused")."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.embedding.arrays import Vector
from store.errors import InvalidRecord
from store.records import FACETS, Facet
from store.vectors.blocks import VectorSnapshot
from store.vectors.weights import DEFAULT_WEIGHTS

Space = Facet | Literal["fused"]
SPACES: tuple[Space, ...] = (*FACETS, "fused")

SAMPLE = 4_000  # rows that the directions of a space are taken from
IN_CACHE = 256  # rows at a time, where all are read: what is made of them stays in the processor's cache


def space_of(name: str) -> Space:
    """A facet's name or "fused". Raises InvalidRecord for any other."""
    if name not in SPACES:
        raise InvalidRecord(f"{name} is not a map; there are: {', '.join(SPACES)}")
    return name


def rows_with(snapshot: VectorSnapshot, space: Space) -> NDArray[np.intp]:
    """The rows of the records that have the facet."""
    has = snapshot.present.any(axis=0) if space == "fused" else snapshot.present[FACETS.index(space)]
    return np.flatnonzero(has)


def names(snapshot: VectorSnapshot, rows: NDArray[np.intp]) -> tuple[str, ...]:
    """The addresses of these rows."""
    return tuple(map(snapshot.addresses.__getitem__, rows.tolist()))


def vectors(snapshot: VectorSnapshot, space: Space, rows: NDArray[np.intp]) -> Vector:
    """(n, d): the vectors of these rows.

    Of all facets together, their usual weighted sum, a missing one at its mean.
    """
    if space != "fused":
        return snapshot.rows(rows, space)
    found = np.zeros((len(rows), snapshot.dimensions), np.float32)
    for number, facet in enumerate(FACETS):
        if not np.isnan(snapshot.means[number]).any():
            own = snapshot.rows(rows, facet)
            has = snapshot.present[number, rows][:, None]
            filled = np.where(has, own, snapshot.means[number].astype(np.float32))
            found += np.float32(DEFAULT_WEIGHTS["like"][facet]) * filled
    found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), np.float32(1e-9))
    return found


def sample(snapshot: VectorSnapshot, space: Space) -> Vector:
    """(n, d): evenly spaced rows, as many as the directions need."""
    rows = rows_with(snapshot, space)
    if len(rows) > SAMPLE:
        rows = rows[np.linspace(0, len(rows) - 1, SAMPLE).astype(np.intp)]
    return vectors(snapshot, space, rows)


def principal(rows: Vector) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(n, d) centred rows → (d,) deviations along each axis, largest first, and the (d, d) axes, float64."""
    # By the covariance, d × d: the singular values of thousands of rows would take seconds.
    each = rows.astype(np.float64)
    squares, axes = np.linalg.eigh(each.T @ each / len(each))
    return np.sqrt(np.maximum(squares[::-1], 0)), axes.T[::-1]

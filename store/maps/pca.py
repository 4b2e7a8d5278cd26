"""PCA maps: records by their coordinates along the two directions in which a space's vectors differ most."""

import numpy as np
from numpy.typing import NDArray

from store.embedding.arrays import Vector
from store.maps import spaces
from store.maps.chart import Placement, check_count
from store.maps.spaces import Space
from store.vectors.blocks import VectorSnapshot

_ALIKE = 1e-4  # deviation of unit vectors that rounding alone makes


def directions(snapshot: VectorSnapshot, space: Space) -> Vector:
    """(3, d): the centre and the two axes of a map."""
    rows = spaces.sample(snapshot, space)
    check_count(len(rows))
    middle = rows.mean(axis=0)
    widths, axes = spaces.principal(rows - middle)
    # What lies within three deviations is within -1 … 1; where all are the same there is nothing to magnify.
    far = 3 * widths[0] if widths[0] > _ALIKE else 1.0
    # An axis has no direction of its own: the same one each time.
    turned = axes[:2] * np.sign(axes[:2].sum(axis=1, keepdims=True) + 1e-12)
    return np.vstack([middle, turned / far]).astype(np.float32)


def project(snapshot: VectorSnapshot, space: Space, axes: Vector) -> Placement:
    """Place each record by its two coordinates along these axes."""

    def placement(rows: NDArray[np.intp]) -> Vector:
        points = np.empty((len(rows), 2), np.float32)
        for start in range(0, len(rows), spaces.IN_CACHE):
            some = slice(start, start + spaces.IN_CACHE)
            points[some] = (spaces.vectors(snapshot, space, rows[some]) - axes[0]) @ axes[1:].T
        return points

    return placement

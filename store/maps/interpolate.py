"""Place new records between their nearest neighbours."""

import numpy as np
from numpy.typing import NDArray

from store.embedding.arrays import Vector
from store.maps import spaces
from store.maps.chart import Map, Placement
from store.maps.spaces import Space
from store.vectors.blocks import VectorSnapshot

_NEAREST = 5  # neighbours that a new record lies between


def interpolate(arranged: Map, snapshot: VectorSnapshot) -> Placement:
    """Place each record in the middle of its nearest neighbours among those of the map."""

    def placement(rows: NDArray[np.intp]) -> Vector:
        having = spaces.rows_with(snapshot, arranged.space)
        here = having[snapshot.mask(arranged.addresses)[having]]
        place = {address: number for number, address in enumerate(arranged.addresses)}
        points = arranged.points[[place[name] for name in spaces.names(snapshot, here)]]
        found = np.zeros((len(rows), 2), np.float32)
        for start in range(0, len(rows) if len(here) else 0, spaces.IN_CACHE):
            some = slice(start, start + spaces.IN_CACHE)
            found[some] = points[_nearest(snapshot, arranged.space, rows[some], here)].mean(axis=1)
        return found

    return placement


def _nearest(
    snapshot: VectorSnapshot, space: Space, rows: NDArray[np.intp], among: NDArray[np.intp]
) -> NDArray[np.intp]:
    """(n, up to 5): the positions in `among` of the rows most similar to each of these."""
    vectors = spaces.vectors(snapshot, space, rows)
    cosines = np.empty((len(rows), len(among)), np.float32)
    for start in range(0, len(among), spaces.IN_CACHE):
        some = slice(start, start + spaces.IN_CACHE)
        cosines[:, some] = vectors @ spaces.vectors(snapshot, space, among[some]).T
    return np.argpartition(-cosines, min(_NEAREST, len(among)) - 1, axis=1)[:, :_NEAREST]

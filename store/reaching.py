"""Which records some weights could bring among the first: what a page needs to rank alone by any sliders.

A score is linear in the weights, so over a small cell of them (a simplex) it lies between its values at the
cell's corners. Take any `top` records: where at every corner another record scores less than the least of
them, it scores less than each of them all over the cell, and cannot be among the first `top` there. All
weights together are a simplex, cut here into `STEPS`^(n-1) cells (edgewise subdivision: Freudenthal 1942);
what passes in none of them is left out. With one cell this is the k-skyband (records that fewer than k
others surpass in everything); the finer the cells, the nearer to the records that are truly first
somewhere.

Records without a weighted facet are no hits, so where all weights lie on facets that some records lack,
only those that have one of them count: these faces of the simplex are looked at by themselves.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, permutations, product

import numpy as np
from numpy.typing import NDArray

STEPS = 4
_POOL = 4  # times `top`: how many of the best at each corner the records to surpass are chosen from
_ROUNDING = 1e-6  # of float32 sums, on the side of sending too much

Rows = NDArray[np.intp]
Scores = NDArray[np.float32]


def reaching(similarities: NDArray[np.float32], means: NDArray[np.float64], *, top: int) -> Rows:
    """The rows, of (N, 5) cosines with NaN where missing, that may be among the first `top` for some weights.

    No such row is left out; some may be in it that no weights bring there.
    """
    spoken = np.flatnonzero(np.isfinite(means))
    cosines = similarities[:, spoken]
    present = np.isfinite(cosines)
    filled = np.where(present, cosines, means[spoken].astype(np.float32))
    found = np.zeros(len(cosines), np.bool_)
    lacking = [facet for facet in range(len(spoken)) if not present[:, facet].all()]
    faces = [list(range(len(spoken)))] if len(lacking) < len(spoken) else []
    faces += [list(face) for size in range(1, len(lacking) + 1) for face in combinations(lacking, size)]
    for face in faces:
        rows = np.flatnonzero(present[:, face].any(axis=1))
        found[rows[_on_face(filled[rows][:, face], top=top)]] = True
    return np.flatnonzero(found)


def _on_face(filled: Scores, *, top: int) -> NDArray[np.bool_]:
    """(N,): whether the row passes in one of the cells of the simplex over these facets."""
    if len(filled) <= top:
        return np.ones(len(filled), np.bool_)
    corners, cells = _cut(filled.shape[1], STEPS)
    scores = corners @ filled.T  # (corners, N)
    best = min(_POOL * top, len(filled))
    pool = np.unique(np.argpartition(scores, len(filled) - best, axis=1)[:, len(filled) - best :])
    of_pool = scores[:, pool]
    found = np.zeros(len(filled), np.bool_)
    for cell in cells:
        own = of_pool[cell]
        first = np.argpartition(own.sum(axis=0), len(pool) - top)[len(pool) - top :]
        least = own[:, first].min(axis=1) - _ROUNDING
        for corner, bar in zip(cell, least, strict=True):
            found |= scores[corner] >= bar
    return found


@lru_cache(maxsize=8)
def _cut(facets: int, steps: int) -> tuple[Scores, list[list[int]]]:
    """The corners (weights that add up to 1) and, by their numbers, the cells of the simplex of weights."""
    number: dict[tuple[int, ...], int] = {}
    cells = [[number.setdefault(corner, len(number)) for corner in cell] for cell in _cells(facets, steps)]
    return np.array(list(number), np.float32) / np.float32(steps), cells


def _cells(facets: int, steps: int) -> Iterator[list[tuple[int, ...]]]:
    """Kuhn's triangulation of the cubes in steps ≥ x1 ≥ x2 ≥ … ≥ 0, told as weights x(i) − x(i+1)."""
    size = facets - 1
    for base in product(range(steps), repeat=size):
        if any(base[at] < base[at + 1] for at in range(size - 1)):
            continue
        for order in permutations(range(size)):
            corner = list(base)
            path = [tuple(corner)]
            for axis in order:
                corner[axis] += 1
                path.append(tuple(corner))
            if all(all(a >= b for a, b in zip((steps, *x), (*x, 0), strict=True)) for x in path):
                yield [tuple(a - b for a, b in zip((steps, *x), (*x, 0), strict=True)) for x in path]

"""What a page needs to rank results again by itself, as `components/grid/js/rank.js` does it.

`skyline`: the records that some weights could bring among the first. A score is linear in the weights, so
over a small cell of them (a simplex) it is between its values at the cell's corners. Take any `top` records:
if at every corner another record scores less than each of them, it scores less all over the cell, and cannot
be among the first `top` there. All weights together are a simplex, cut here into steps^(n-1) cells (edgewise
subdivision: Freudenthal 1942); records that no cell admits are left out. With one cell this is the k-skyband.

Records without a weighted facet are no hits. If all weights are on facets that some records lack, only those
that have one of them count, so these faces of the simplex are examined separately.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.embedding.protocol import Vector
from store.records import FACETS
from store.search.query import Query
from store.search.ranking import DOUBT, FUSION, PICTURES, reached
from store.search.search import Results
from store.search.similarities import Rows, Similarities
from store.vectors.matrices import Mask

STEPS = (1, 2, 4)  # coarse first, on all records: by a few corners most of them are left out
_POOL = 4  # times `top`: how many of the best at each corner the records to surpass are chosen from
_LARGE = 200_000  # records: of more, reading the bytes of all facets takes seconds from the disk
_ROUNDING = 1e-6  # of float32 sums, on the side of sending too much

Labels = NDArray[np.int64]


def figures(results: Results) -> dict[str, Any]:
    """Means and deviations of the facets, the floor, and how words and pictures count; None without any."""
    words, pictures = results.words, results.stand_in
    return {
        "means": [None if np.isnan(mean) else float(mean) for mean in results.means],
        "deviations": results.answer.deviations.tolist(),
        "floor": results.floor(),
        "words": words and {"strength": FUSION},
        "fused": results.query.fused,
        "pictures": pictures
        and {
            "strength": PICTURES,
            "doubt": DOUBT,
            "means": pictures.means.tolist(),
            "deviations": pictures.deviations.tolist(),
            "picture": pictures.picture,
            "usual": Query(results.query.parts).sliders,
        },
    }


def columns(results: Results, rows: NDArray[np.intp]) -> dict[str, NDArray[np.float32]]:
    """(n,) for each facet: the cosines of these rows, NaN where a record lacks it.

    With words of the query, `words` has each row's share of them; where pictures replace captions that say
    nothing, `silent` is 1.
    """
    answer = results.answer
    found = dict(zip(FACETS, answer.cosines(rows).T.copy(), strict=True))
    if results.words:
        shares = np.zeros(len(answer.addresses), np.float32)
        shares[results.words.rows] = results.words.shares
        found["words"] = shares[rows]
    if results.stand_in:
        silent = np.zeros(len(answer.addresses), np.float32)
        silent[results.stand_in.rows] = 1
        found["silent"] = silent[rows]
    return found


def skyline(
    similarities: Similarities, among: Rows, *, top: int, limit: int, groups: Labels | None = None
) -> Rows | None:
    """The rows of `among` that may be among the first `top` for some weights, made exact.

    Complete, but may have rows that no weights bring there. Of rows with the same number in `groups` (below 0
    means alone) only the best counts. None if there seem to be more than `limit`, all of which would have to
    be read, and in a library of more than 200,000 records.
    """
    if len(similarities.addresses) > _LARGE:
        return None
    with similarities.lock:
        for steps in STEPS:  # by the bounds on what was only approximated
            among = among[_reaching(similarities, among, steps, top=top, groups=groups)]
        if len(among) > limit:
            return None
        similarities.rescore(among)
        return among[_reaching(similarities, among, STEPS[-1], top=top, groups=groups)]


def _reaching(similarities: Similarities, rows: Rows, steps: int, *, top: int, groups: Labels | None) -> Rows:
    least, most = similarities.bounds(rows)
    present = similarities.present[:, rows]
    labels = np.full(len(rows), -1) if groups is None else groups[rows]
    found = np.zeros(len(rows), np.bool_)
    used = [facet for facet in range(len(present)) if similarities.spoken[facet]]
    lacking = [facet for facet in used if not present[facet].all()]
    faces = [used] if len(lacking) < len(used) else []
    faces += [list(face) for size in range(1, len(lacking) + 1) for face in combinations(lacking, size)]
    for face in faces:
        own = np.flatnonzero(present[face].any(axis=0))
        passes = _on_face(least[face][:, own], most[face][:, own], labels[own], steps, top=top)
        found[own[passes]] = True
    return np.flatnonzero(found)


def _on_face(least: Vector, most: Vector, labels: Labels, steps: int, *, top: int) -> Mask:
    """(n,): whether a row of the (facets, n) cosines is admitted by a cell of the simplex."""
    count = least.shape[1]
    if count <= top:
        return np.ones(count, np.bool_)
    corners, cells = _cut(len(least), steps)
    scores = corners @ most  # (corners, n)
    best = min(_POOL * top, count)
    pool = np.flatnonzero(np.any([own >= reached(own, best) for own in scores], axis=0))
    of_pool = corners @ least[:, pool]
    bars = np.full(len(corners), np.inf, np.float32)
    for cell in cells:
        first = _first(of_pool[cell].sum(axis=0), labels[pool], top)
        worst = of_pool[cell][:, first].min(axis=1) if len(first) == top else -np.inf
        bars[cell] = np.minimum(bars[cell], worst)
    found: Mask = np.any(scores >= (bars - np.float32(_ROUNDING))[:, None], axis=0)
    return found


def _first(sums: Vector, labels: Labels, top: int) -> Rows:
    """`top` positions of the largest sums, no two in the same group; fewer if there are not enough."""
    if labels.max(initial=-1) < 0:
        return np.argpartition(sums, len(sums) - top)[len(sums) - top :]
    order = np.argsort(-sums)
    alone = np.where(labels < 0, -1 - np.arange(len(labels)), labels)[order]
    return order[np.sort(np.unique(alone, return_index=True)[1])[:top]]


@lru_cache(maxsize=16)
def _cut(facets: int, steps: int) -> tuple[Vector, list[list[int]]]:
    """The corners (weights that add up to 1) and, by their numbers, the cells of the simplex of weights."""
    number: dict[tuple[int, ...], int] = {}
    cells = [[number.setdefault(corner, len(number)) for corner in cell] for cell in _cells(facets, steps)]
    return np.array(list(number), np.float32) / np.float32(steps), cells


def _cells(facets: int, steps: int) -> Iterator[list[tuple[int, ...]]]:
    """Kuhn's triangulation of the cubes in steps ≥ x1 ≥ x2 ≥ … ≥ 0, in weights x(i) − x(i+1)."""
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

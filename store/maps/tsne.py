"""t-SNE maps, which keep similar records together (van der Maaten and Hinton 2008; openTSNE)."""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.maps import spaces
from store.maps.chart import Map, check_count
from store.maps.spaces import Space
from store.progress import Progress
from store.vectors.blocks import VectorSnapshot

_INNER = 50  # dimensions that it begins with
_ROUNDS = 500  # of its optimisation, after 250 of early exaggeration
_EVERY = 10
_WORTH_CORES = 5_000  # rows; of fewer, cores that wait for one another take longer than one alone


def tsne_map(snapshot: VectorSnapshot, space: Space, *, progress: Progress) -> Map | None:
    """A map of all records that have the facet; None if cancelled. Takes minutes for 100,000 records."""
    from openTSNE import TSNE  # scikit-learn and SciPy: a second

    rows = spaces.rows_with(snapshot, space)
    check_count(len(rows))
    progress.what, progress.total = "finding neighbours", 250 + _ROUNDS
    inner = _inner(snapshot, space, rows)

    def watch(iteration: int, error: float, embedding: Any) -> bool:
        progress.what = "arranging neighbours"
        progress.done = min(progress.total, progress.done + _EVERY)
        return progress.cancelled  # True ends it

    made = TSNE(
        perplexity=min(30, (len(rows) - 1) / 3),
        n_iter=_ROUNDS,
        n_jobs=-1 if len(rows) >= _WORTH_CORES else 1,
        random_state=1,
        initialization=inner[:, :2] / (np.std(inner[:, 0]) or 1.0) * 1e-4,
        callbacks=[watch],
        callbacks_every_iters=_EVERY,
    ).fit(inner)
    if progress.cancelled:
        return None
    points = np.asarray(made, np.float32)
    points -= (points.max(axis=0) + points.min(axis=0)) / 2
    points /= np.abs(points).max() or 1.0
    names = spaces.names(snapshot, rows)
    return Map(space, "tsne", names, points, at=time.time(), generation=snapshot.generation)


def _inner(snapshot: VectorSnapshot, space: Space, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """(n, 50): the principal components in which distances are measured."""
    sample = spaces.sample(snapshot, space)
    middle = sample.mean(axis=0)
    axes = spaces.principal(sample - middle)[1][:_INNER].T
    pieces = [
        (spaces.vectors(snapshot, space, rows[start : start + spaces.SAMPLE]) - middle) @ axes
        for start in range(0, len(rows), spaces.SAMPLE)
    ]
    found: NDArray[np.float64] = np.concatenate(pieces).astype(np.float64)
    return found if found.shape[1] > 1 else np.pad(found, ((0, 0), (0, 1)))

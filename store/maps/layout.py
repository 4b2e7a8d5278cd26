"""How records come to lie on a map.

    Space         the vectors behind a map: those of one facet, or of all facets together ("fused")
    Map           records and their positions; `updated_map` keeps them while records come and go
    project       along the two directions in which a facet's vectors differ most (PCA)
    tsne_map      similar records together (t-SNE: van der Maaten and Hinton 2008; openTSNE)
    interpolate   new records between their nearest neighbours

openTSNE, and scikit-learn with it, is imported when records are arranged.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from store.embedding.protocol import Vector
from store.errors import InvalidRecord
from store.progress import Progress
from store.records import FACETS, Facet
from store.vectors.matrices import VectorSnapshot
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


def addresses_of(snapshot: VectorSnapshot, rows: NDArray[np.intp]) -> tuple[str, ...]:
    """The addresses of these rows."""
    return tuple(map(snapshot.addresses.__getitem__, rows.tolist()))


def space_vectors(snapshot: VectorSnapshot, space: Space, rows: NDArray[np.intp]) -> Vector:
    """(n, d): the vectors of these rows; of all facets their usual weighted sum, missing ones at the mean."""
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


def space_sample(snapshot: VectorSnapshot, space: Space) -> Vector:
    """(n, d): evenly spaced rows, as many as the directions need."""
    rows = rows_with(snapshot, space)
    if len(rows) > SAMPLE:
        rows = rows[np.linspace(0, len(rows) - 1, SAMPLE).astype(np.intp)]
    return space_vectors(snapshot, space, rows)


def principal(rows: Vector) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(n, d) centred rows → (d,) deviations along each axis, largest first, and the (d, d) axes, float64."""
    # By the covariance, d × d: the singular values of thousands of rows would take seconds.
    each = rows.astype(np.float64)
    squares, axes = np.linalg.eigh(each.T @ each / len(each))
    return np.sqrt(np.maximum(squares[::-1], 0)), axes.T[::-1]


Method = Literal["pca", "tsne"]
Placement = Callable[[NDArray[np.intp]], Vector]  # rows of a snapshot → (n, 2), where they come to lie

LEAST = 3  # records that make a map


@dataclass(frozen=True, eq=False)
class Map:
    """The positions of the records that have the facet."""

    space: Space
    method: Method
    addresses: tuple[str, ...]
    points: Vector  # (n, 2), most within -1 … 1
    at: float = 0.0  # UNIX seconds of its layout: two with the same one have what is in both at one place
    generation: int = 0  # of the library that it shows


def updated_map(
    known: Map, snapshot: VectorSnapshot, placement: Placement, *, changed: Collection[str] = ()
) -> Map:
    """The map for this snapshot: without removed records, new or `changed` ones placed by `placement`."""
    rows = rows_with(snapshot, known.space)
    names = addresses_of(snapshot, rows)
    known = replace(known, generation=snapshot.generation)
    if not changed and names == known.addresses:
        return known
    there, changed = set(names), set(changed)
    stays = [name in there and name not in changed for name in known.addresses]
    kept = tuple(name for name, stay in zip(known.addresses, stays, strict=True) if stay)
    kept_names = set(kept)
    new = rows[np.array([name not in kept_names for name in names], np.bool_)]
    points = known.points[np.array(stays, np.bool_)]
    if len(new):
        points = np.concatenate([points, placement(new)])
    return replace(known, addresses=kept + addresses_of(snapshot, new), points=points)


def check_count(count: int) -> None:
    """Raises InvalidRecord if there are too few records for a map."""
    if count < LEAST:
        raise InvalidRecord(f"a map needs at least {LEAST} coins that have the facet")


_ALIKE = 1e-4  # deviation of unit vectors that rounding alone makes


def pca_directions(snapshot: VectorSnapshot, space: Space) -> Vector:
    """(3, d): the centre and the two axes of a map."""
    rows = space_sample(snapshot, space)
    check_count(len(rows))
    middle = rows.mean(axis=0)
    widths, axes = principal(rows - middle)
    # What lies within three deviations is within -1 … 1; where all are the same there is nothing to magnify.
    far = 3 * widths[0] if widths[0] > _ALIKE else 1.0
    # An axis has no direction of its own: the same one each time.
    turned = axes[:2] * np.sign(axes[:2].sum(axis=1, keepdims=True) + 1e-12)
    return np.vstack([middle, turned / far]).astype(np.float32)


def project(snapshot: VectorSnapshot, space: Space, axes: Vector) -> Placement:
    """Place each record by its two coordinates along these axes."""

    def placement(rows: NDArray[np.intp]) -> Vector:
        points = np.empty((len(rows), 2), np.float32)
        for start in range(0, len(rows), IN_CACHE):
            some = slice(start, start + IN_CACHE)
            points[some] = (space_vectors(snapshot, space, rows[some]) - axes[0]) @ axes[1:].T
        return points

    return placement


_NEAREST = 5  # neighbours that a new record lies between


def interpolate(arranged: Map, snapshot: VectorSnapshot) -> Placement:
    """Place each record in the middle of its nearest neighbours among those of the map."""

    def placement(rows: NDArray[np.intp]) -> Vector:
        having = rows_with(snapshot, arranged.space)
        here = having[snapshot.mask(arranged.addresses)[having]]
        place = {address: number for number, address in enumerate(arranged.addresses)}
        points = arranged.points[[place[name] for name in addresses_of(snapshot, here)]]
        found = np.zeros((len(rows), 2), np.float32)
        for start in range(0, len(rows) if len(here) else 0, IN_CACHE):
            some = slice(start, start + IN_CACHE)
            found[some] = points[_nearest(snapshot, arranged.space, rows[some], here)].mean(axis=1)
        return found

    return placement


def _nearest(
    snapshot: VectorSnapshot, space: Space, rows: NDArray[np.intp], among: NDArray[np.intp]
) -> NDArray[np.intp]:
    """(n, up to 5): the positions in `among` of the rows most similar to each of these."""
    vectors = space_vectors(snapshot, space, rows)
    cosines = np.empty((len(rows), len(among)), np.float32)
    for start in range(0, len(among), IN_CACHE):
        some = slice(start, start + IN_CACHE)
        cosines[:, some] = vectors @ space_vectors(snapshot, space, among[some]).T
    return np.argpartition(-cosines, min(_NEAREST, len(among)) - 1, axis=1)[:, :_NEAREST]


_INNER = 50  # dimensions that it begins with
_ROUNDS = 500  # of its optimisation, after 250 of early exaggeration
_EVERY = 10
_WORTH_CORES = 5_000  # rows; of fewer, cores that wait for one another take longer than one alone


def tsne_map(snapshot: VectorSnapshot, space: Space, *, progress: Progress) -> Map | None:
    """A map of all records that have the facet; None if cancelled. Takes minutes for 100,000 records."""
    from openTSNE import TSNE  # scikit-learn and SciPy: a second

    rows = rows_with(snapshot, space)
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
    names = addresses_of(snapshot, rows)
    return Map(space, "tsne", names, points, at=time.time(), generation=snapshot.generation)


def _inner(snapshot: VectorSnapshot, space: Space, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """(n, 50): the principal components in which distances are measured."""
    sample = space_sample(snapshot, space)
    middle = sample.mean(axis=0)
    axes = principal(sample - middle)[1][:_INNER].T
    pieces = [
        (space_vectors(snapshot, space, rows[start : start + SAMPLE]) - middle) @ axes
        for start in range(0, len(rows), SAMPLE)
    ]
    found: NDArray[np.float64] = np.concatenate(pieces).astype(np.float64)
    return found if found.shape[1] > 1 else np.pad(found, ((0, 0), (0, 1)))

"""Where the records of the library lie in two dimensions, one map for each facet and one for all together.

At once, the two directions in which a facet's vectors differ most (PCA); better, and in the background,
t-SNE, which keeps neighbours together (van der Maaten and Hinton 2008, as openTSNE computes it). A map is
kept in the catalog (a PCA where there are many records) and stays as it is: new records are put between their
nearest neighbours, and the old ones do not move until somebody asks for a new map.
"""

import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from store.catalog import Catalog
from store.errors import InvalidRecord
from store.jobs import Kind, Shift
from store.progress import Progress
from store.records import FACETS, Facet
from store.search.blocks import Snapshot, Vector
from store.search.query import DEFAULT_WEIGHTS

if TYPE_CHECKING:
    from store.reading import Reader

Space = Facet | Literal["fused"]
SPACES: tuple[Space, ...] = (*FACETS, "fused")
Method = Literal["pca", "tsne"]

LEAST = 3  # records that make a map
KEPT_FLAT = 10_000  # new points from which a PCA's are kept; fewer are computed in no time
LASTING = 200  # records from which a map's directions are kept; those of fewer change with each of them
_SAMPLE = 4_000  # rows that the directions of a PCA are taken from
_IN_CACHE = 256  # rows at a time, where all are read: what is made of them stays in the processor's cache
_INNER = 50  # dimensions that t-SNE begins with
_NEAREST = 5  # neighbours that a new record lies between
_ROUNDS = 500  # of t-SNE's optimisation, after 250 of early exaggeration
_EVERY = 10
_UNKNOWN = (float("nan"), float("nan"))
_NOWHERE: Mapping[str, Sequence[float]] = MappingProxyType({})
_WORTH_CORES = 5_000  # rows; of fewer, cores that wait for one another take longer than one alone


@dataclass(frozen=True, eq=False)
class Map:
    """Points of the records that have the facet."""

    space: Space
    method: Method
    addresses: tuple[str, ...]
    points: NDArray[np.float32]  # (n, 2), both axes within -1 … 1
    at: float = 0.0  # UNIX seconds when it was computed


def space_of(name: str) -> Space:
    """A facet's name or "fused"; InvalidRecord for any other."""
    if name not in SPACES:
        raise InvalidRecord(f"{name} is not a map; there are: {', '.join(SPACES)}")
    return name


def map_of(reader: "Reader", space: str, method: Method = "pca") -> Map | None:
    """Where the library's records lie; PCA at once, t-SNE as it was kept (None before it ever was).

    What came since a t-SNE was kept lies between its neighbours; the job "map" keeps that too.
    """
    chosen, fingerprint = space_of(space), reader.embedder.fingerprint
    snapshot = reader.snapshot()
    with reader.catalog.reading() as db:
        if method == "tsne":
            known = read(db, chosen, fingerprint=fingerprint)
            return known and placed(known, snapshot)
        axes = read_axes(db, chosen, fingerprint=fingerprint)
        before = read_flat(db, chosen, fingerprint=fingerprint) if axes is not None else {}
    if axes is None:
        axes = directions(snapshot, chosen)
        if reader.can_write and len(snapshot) >= LASTING:
            keep(reader.catalog, f"pca {chosen}", axes, fingerprint=fingerprint, at=time.time())
    made = flat(snapshot, chosen, axes, before=before)
    if reader.can_write and len(made.addresses) - len(before) >= KEPT_FLAT:
        keep(
            reader.catalog, f"flat {chosen}", made.points, addresses=made.addresses,
            fingerprint=f"{fingerprint}@{snapshot.generation}", at=time.time(),
        )  # fmt: skip
    return made


def directions(snapshot: Snapshot, space: Space) -> Vector:
    """(3, d): the middle, and the two axes of a map; fixed for good once they are kept."""
    rows = _rows(snapshot, space, _spaced(_present(snapshot, space), _SAMPLE))
    if len(rows) < LEAST:
        raise InvalidRecord(f"a map needs at least {LEAST} coins that have the facet")
    middle = rows.mean(axis=0)
    widths, axes = _principal(rows - middle)
    far = 3 * widths[0] or 1.0  # what lies within three deviations is within -1 … 1
    # An axis has no direction of its own: the same one each time.
    turned = axes[:2] * np.sign(axes[:2].sum(axis=1, keepdims=True) + 1e-12)
    return np.vstack([middle, turned / far]).astype(np.float32)


def flat(
    snapshot: Snapshot, space: Space, axes: Vector, *, before: Mapping[str, Sequence[float]] = _NOWHERE
) -> Map:
    """Every record by its two coordinates along these axes; where it was `before`, it stays."""
    rows = _present(snapshot, space)
    names = _names(snapshot, rows)
    points = np.array([before.get(name, _UNKNOWN) for name in names], np.float32).reshape(-1, 2)
    new = np.flatnonzero(np.isnan(points[:, 0]))
    for start in range(0, len(new), _IN_CACHE):
        some = new[start : start + _IN_CACHE]
        points[some] = (_rows(snapshot, space, rows[some]) - axes[0]) @ axes[1:].T
    return Map(space, "pca", names, points)


def neighbourly(snapshot: Snapshot, space: Space, *, progress: Progress) -> Map | None:
    """t-SNE of all records that have the facet; None when cancelled. Minutes for a hundred thousand."""
    from openTSNE import TSNE  # scikit-learn and SciPy: a second

    rows = _present(snapshot, space)
    if len(rows) < LEAST:
        raise InvalidRecord(f"a map needs at least {LEAST} coins that have the facet")
    progress.what, progress.total = "finding neighbours", 250 + _ROUNDS
    inner = _inner(snapshot, space, rows)

    def watch(iteration: int, error: float, embedding: Any) -> bool:
        progress.what = "arranging neighbours"
        progress.done = min(progress.total, progress.done + _EVERY)
        return progress.cancelled  # True ends it

    made = TSNE(
        perplexity=min(30, max(1, (len(rows) - 1) / 3)),
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
    return Map(space, "tsne", _names(snapshot, rows), points, at=time.time())


def placed(known: Map, snapshot: Snapshot) -> Map:
    """The same map with what came since between its nearest neighbours, and without what is gone."""
    row_of = {address: row for row, address in enumerate(snapshot.addresses)}
    kept = [number for number, address in enumerate(known.addresses) if address in row_of]
    there = np.array([row_of[known.addresses[number]] for number in kept], np.intp)
    points = known.points[kept]
    new = np.setdiff1d(_present(snapshot, known.space), there)
    if not len(new) or not len(there):
        return Map(known.space, known.method, _names(snapshot, there), points, at=known.at)
    between = np.empty((len(new), 2), np.float32)
    old = _rows(snapshot, known.space, there)
    for start in range(0, len(new), 256):
        some = slice(start, start + 256)
        cosines = _rows(snapshot, known.space, new[some]) @ old.T
        nearest = np.argpartition(-cosines, min(_NEAREST, len(there) - 1), axis=1)[:, :_NEAREST]
        between[some] = points[nearest].mean(axis=1)
    everything = np.concatenate([there, new])
    both = np.concatenate([points, between])
    return Map(known.space, known.method, _names(snapshot, everything), both, at=known.at)


def read(db: sqlite3.Connection, space: Space, *, fingerprint: str) -> Map | None:
    """The t-SNE that is kept; None where there is none of this model."""
    row = db.execute(
        "SELECT * FROM maps WHERE name = ? AND fingerprint = ?", [f"tsne {space}", fingerprint]
    ).fetchone()
    if row is None:
        return None
    addresses = tuple(row["addresses"].split("\n"))
    return Map(
        space, "tsne", addresses, np.frombuffer(row["points"], "<f4").reshape(-1, 2).copy(), at=row["at"]
    )


def read_axes(db: sqlite3.Connection, space: Space, *, fingerprint: str) -> Vector | None:
    """The directions that were kept."""
    row = db.execute(
        "SELECT points FROM maps WHERE name = ? AND fingerprint = ?", [f"pca {space}", fingerprint]
    ).fetchone()
    return None if row is None else np.frombuffer(row["points"], "<f4").reshape(3, -1)


def read_flat(db: sqlite3.Connection, space: Space, *, fingerprint: str) -> dict[str, list[float]]:
    """Where a PCA's records were laid when it was kept, those that changed since left out."""
    row = db.execute("SELECT * FROM maps WHERE name = ?", [f"flat {space}"]).fetchone()
    made_by, _, generation = row["fingerprint"].rpartition("@") if row else ("", "", "")
    if row is None or made_by != fingerprint:
        return {}
    points = np.frombuffer(row["points"], "<f4").reshape(-1, 2).tolist()
    found = dict(zip(row["addresses"].split("\n"), points, strict=True))
    for (address,) in db.execute("SELECT address FROM records WHERE generation > ?", [int(generation)]):
        found.pop(address, None)
    return found


def keep(
    catalog: Catalog, name: str, points: Vector, *, fingerprint: str, addresses: Sequence[str] = (), at: float
) -> None:
    """A map, or a map's directions, in place of the earlier one."""
    with catalog.writing() as db:
        db.execute(
            "INSERT OR REPLACE INTO maps VALUES (?, ?, ?, ?, ?)",
            [name, fingerprint, at, "\n".join(addresses), points.astype("<f4").tobytes()],
        )


def _draw(shift: Shift) -> None:
    library, space = shift.library, space_of(shift.job.options["space"])
    fingerprint, snapshot = library.embedder.fingerprint, library.snapshot()
    with library.catalog.reading() as db:
        known = read(db, space, fingerprint=fingerprint)
    made: Map | None
    if known is None or shift.job.options.get("anew"):
        made = neighbourly(snapshot, space, progress=shift.progress)
    else:
        made = placed(known, snapshot)
    if made is not None:
        keep(
            library.catalog, f"tsne {space}", made.points, fingerprint=fingerprint,
            addresses=made.addresses, at=made.at,
        )  # fmt: skip


KIND = Kind("map", _draw, queue="maps")


def _present(snapshot: Snapshot, space: Space) -> NDArray[np.intp]:
    has = snapshot.present.any(axis=0) if space == "fused" else snapshot.present[FACETS.index(space)]
    return np.flatnonzero(has)


def _names(snapshot: Snapshot, rows: NDArray[np.intp]) -> tuple[str, ...]:
    return tuple(map(snapshot.addresses.__getitem__, rows.tolist()))


def _spaced(rows: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    return rows if len(rows) <= count else rows[np.linspace(0, len(rows) - 1, count).astype(np.intp)]


def _rows(snapshot: Snapshot, space: Space, rows: NDArray[np.intp]) -> Vector:
    """(n, d): their vectors; all facets together by their usual weights, a missing one at its mean."""
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


def _principal(rows: Vector) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How far rows around 0 deviate along each axis, widest first, and these axes."""
    # By the covariance, d × d: the singular values of thousands of rows would take seconds.
    each = rows.astype(np.float64)
    squares, axes = np.linalg.eigh(each.T @ each / len(each))
    return np.sqrt(np.maximum(squares[::-1], 0)), axes.T[::-1]


def _inner(snapshot: Snapshot, space: Space, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """(n, 50): what t-SNE measures distances in."""
    sample = _rows(snapshot, space, _spaced(rows, _SAMPLE))
    middle = sample.mean(axis=0)
    axes = _principal(sample - middle)[1][:_INNER].T
    pieces = [
        (_rows(snapshot, space, rows[start : start + _SAMPLE]) - middle) @ axes
        for start in range(0, len(rows), _SAMPLE)
    ]
    found: NDArray[np.float64] = np.concatenate(pieces).astype(np.float64)
    return found if found.shape[1] > 1 else np.pad(found, ((0, 0), (0, 1)))

"""The library's maps, each started from what is stored and updated with the library.

In the catalog are t-SNE with its places, the directions of PCA, and positions of large maps.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from store.catalog import rows
from store.catalog.catalog import Catalog
from store.embedding.active_model import ActiveModel
from store.embedding.protocol import Vector
from store.maps import layout
from store.maps.layout import Map, Method, Space, check_count, interpolate, space_of, updated_map
from store.maps.neighbourhoods import Neighbourhood
from store.permissions import Actor
from store.vectors.matrices import VectorSnapshot


def arranged_at(db: sqlite3.Connection, space: Space, *, fingerprint: str) -> float | None:
    """When the stored t-SNE was made; None if there is none of this model."""
    row = db.execute(
        "SELECT at FROM maps WHERE name = ? AND fingerprint = ?", [f"tsne {space}", fingerprint]
    ).fetchone()
    return float(row[0]) if row else None


def stored_tsne(db: sqlite3.Connection, space: Space, *, fingerprint: str) -> Map | None:
    """The stored t-SNE; None if there is none of this model."""
    row = db.execute(
        "SELECT * FROM maps WHERE name = ? AND fingerprint = ?", [f"tsne {space}", fingerprint]
    ).fetchone()
    return row and Map(space, "tsne", tuple(row["addresses"].split("\n")), _points(row), at=row["at"])


def stored_directions(
    db: sqlite3.Connection, space: Space, *, fingerprint: str
) -> tuple[Vector, float] | None:
    """The directions of a PCA map, and when they were computed."""
    row = db.execute(
        "SELECT * FROM maps WHERE name = ? AND fingerprint = ?", [f"pca {space}", fingerprint]
    ).fetchone()
    return row and (np.frombuffer(row["points"], "<f4").reshape(3, -1), row["at"])


def stored_pca(db: sqlite3.Connection, space: Space, *, fingerprint: str) -> Map | None:
    """The positions of a PCA map when it was stored."""
    row = db.execute("SELECT * FROM maps WHERE name = ?", [f"flat {space}"]).fetchone()
    made_by, _, generation = row["fingerprint"].rpartition("@") if row else ("", "", "")
    if row is None or made_by != fingerprint:
        return None
    addresses = tuple(row["addresses"].split("\n"))
    return Map(space, "pca", addresses, _points(row), generation=int(generation))


def store_map(
    catalog: Catalog, name: str, points: Vector, *, fingerprint: str, addresses: Sequence[str] = (), at: float
) -> None:
    """Store a map, or a map's directions, replacing the earlier one."""
    with catalog.writing() as db:
        db.execute(
            "INSERT OR REPLACE INTO maps VALUES (?, ?, ?, ?, ?)",
            [name, fingerprint, at, "\n".join(addresses), points.astype("<f4").tobytes()],
        )


def stored_neighbourhoods(
    db: sqlite3.Connection, space: Space, *, fingerprint: str
) -> tuple[Neighbourhood, ...] | None:
    """The neighbourhoods of the stored t-SNE; None if they were never looked for."""
    row = db.execute(
        "SELECT * FROM maps WHERE name = ? AND fingerprint = ?", [f"places {space}", fingerprint]
    ).fetchone()
    if row is None:
        return None
    numbers = np.frombuffer(row["points"], "<f4").reshape(-1, 4).tolist()  # x, y, level, coins
    return tuple(
        Neighbourhood(name, x, y, int(level), int(coins))
        for name, (x, y, level, coins) in zip(row["addresses"].split("\n"), numbers, strict=False)
    )


def store_neighbourhoods(
    catalog: Catalog, space: Space, found: Sequence[Neighbourhood], *, fingerprint: str, at: float
) -> None:
    """Store the neighbourhoods of a t-SNE, their names where other maps have addresses."""
    numbers = np.array([(one.x, one.y, one.level, one.coins) for one in found], np.float32)
    names = [one.name.replace("\n", " ") for one in found]
    store_map(catalog, f"places {space}", numbers, fingerprint=fingerprint, addresses=names, at=at)


def _points(row: sqlite3.Row) -> Vector:
    return np.frombuffer(row["points"], "<f4").reshape(-1, 2).copy()


KEPT_FLAT = 10_000  # new points from which a PCA's are kept; fewer are computed in no time
LASTING = 200  # records from which directions are kept; with fewer they are computed again at twice as many


@dataclass(frozen=True)
class _Directions:
    axes: Vector  # (3, d)
    at: float
    lasts: bool
    count: int  # records that they were found with


@dataclass(frozen=True)
class _MapInMemory:
    fingerprint: str
    map: Map
    directions: _Directions | None = None  # of a PCA


class Maps:
    """One map for each space and method, made at the first request, then updated."""

    def __init__(
        self, catalog: Catalog, model: ActiveModel, *, snapshot: Callable[[], VectorSnapshot]
    ) -> None:
        self._catalog = catalog  # of any actor: what takes long to compute is stored for everybody
        self._actor = catalog.actor
        self._model = model
        self._snapshot = snapshot
        self._lock = threading.Lock()
        self._held: dict[tuple[Space, Method], _MapInMemory] = {}

    def for_actor(self, actor: Actor) -> Self:
        """The same maps with this person's permissions."""
        seen = copy(self)
        seen._actor = actor
        return seen

    def of(self, space: str, method: Method = "pca") -> Map | None:
        """The library's map as of now; None for one to be made by a job. Raises InvalidRecord for too few."""
        self._actor.check_login()
        chosen = space_of(space)
        with self._lock:
            fingerprint, snapshot = self._model.embedder.fingerprint, self._snapshot()
            held = self._held.get((chosen, method))
            if held is not None and held.fingerprint != fingerprint:
                held = None
            follow = self._laid if method == "pca" else self._arranged
            now = follow(chosen, fingerprint, snapshot, held)
            if now is None:
                return None
            self._held[chosen, method] = now
            return now.map

    def stored(self, space: str) -> Map | None:
        """The t-SNE as the job "map" stored it, read without vectors; None until then."""
        self._actor.check_login()
        with self._catalog.reading() as db:
            return stored_tsne(db, space_of(space), fingerprint=self._model.embedder.fingerprint)

    def neighbourhoods(self, space: str) -> tuple[Neighbourhood, ...] | None:
        """The named places of the t-SNE map, widest first; None until the job "map" has found them."""
        self._actor.check_login()
        with self._catalog.reading() as db:
            return stored_neighbourhoods(db, space_of(space), fingerprint=self._model.embedder.fingerprint)

    def _arranged(
        self, space: Space, fingerprint: str, snapshot: VectorSnapshot, held: _MapInMemory | None
    ) -> _MapInMemory | None:
        with self._catalog.reading() as db:
            at = arranged_at(db, space, fingerprint=fingerprint)
            if at is None:
                check_count(len(layout.rows_with(snapshot, space)))
                return None
            known = held.map if held and held.map.at == at else None
            if known and known.generation == snapshot.generation:
                return held
            arranged = stored_tsne(db, space, fingerprint=fingerprint)
        assert arranged is not None  # its moment was there
        return _MapInMemory(
            fingerprint, updated_map(known or arranged, snapshot, interpolate(arranged, snapshot))
        )

    def _laid(
        self, space: Space, fingerprint: str, snapshot: VectorSnapshot, held: _MapInMemory | None
    ) -> _MapInMemory:
        if held and held.map.generation == snapshot.generation:
            return held
        directions = self._directions(space, fingerprint, snapshot, held.directions if held else None)
        known = held.map if held and held.map.at == directions.at else None
        with self._catalog.reading() as db:
            if known is None and directions.lasts:
                known = stored_pca(db, space, fingerprint=fingerprint)
            since = known.generation if known else snapshot.generation
            changed = rows.changed_since(db, since)
        if known is None:
            known = Map(space, "pca", (), np.empty((0, 2), np.float32))
        placement = layout.project(snapshot, space, directions.axes)
        made = replace(updated_map(known, snapshot, placement, changed=changed), at=directions.at)
        new = len(set(made.addresses).difference(known.addresses))
        if self._catalog.can_write and new >= KEPT_FLAT:
            store_map(
                self._catalog,
                f"flat {space}",
                made.points,
                addresses=made.addresses,
                fingerprint=f"{fingerprint}@{snapshot.generation}",
                at=time.time(),
            )
        return _MapInMemory(fingerprint, made, directions)

    def _directions(
        self, space: Space, fingerprint: str, snapshot: VectorSnapshot, known: _Directions | None
    ) -> _Directions:
        """The stored directions if they were computed with at least half as many records; else new ones."""
        with self._catalog.reading() as db:
            lasting = stored_directions(db, space, fingerprint=fingerprint)
        count = len(layout.rows_with(snapshot, space))
        if lasting is not None:
            return _Directions(*lasting, lasts=True, count=count)
        if known is not None and count < 2 * known.count:
            return known
        found = _Directions(layout.pca_directions(snapshot, space), time.time(), count >= LASTING, count)
        if self._catalog.can_write and found.lasts:
            store_map(self._catalog, f"pca {space}", found.axes, fingerprint=fingerprint, at=found.at)
        return found

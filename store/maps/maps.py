"""The library's maps as they are now: each begins with what is kept and follows the library."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from store import listing
from store.catalog import Catalog
from store.chosen_model import ChosenModel
from store.maps import kept, pca, spaces
from store.maps.between import between
from store.maps.chart import Map, Method, carried, need
from store.maps.spaces import Space, space_of
from store.search.blocks import Snapshot, Vector

KEPT_FLAT = 10_000  # new points from which a PCA's are kept; fewer are computed in no time
LASTING = 200  # records from which directions are kept; those of fewer are found anew with twice as many


@dataclass(frozen=True)
class _Directions:
    axes: Vector  # (3, d)
    at: float
    lasts: bool
    count: int  # records that they were found with


@dataclass(frozen=True)
class _Held:
    fingerprint: str
    map: Map
    directions: _Directions | None = None  # of a PCA


class Maps:
    """One for each space and method, laid out when somebody first asks, then brought up to date."""

    READING: ClassVar = frozenset({"of"})

    def __init__(
        self, catalog: Catalog, model: ChosenModel, *, snapshot: Callable[[], Snapshot], can_write: bool
    ) -> None:
        self._catalog = catalog
        self._model = model
        self._snapshot = snapshot
        self._can_write = can_write
        self._lock = threading.Lock()
        self._held: dict[tuple[Space, Method], _Held] = {}

    def of(self, space: str, method: Method = "pca") -> Map | None:
        """Where the library's records lie now; None for a t-SNE that the job "map" never made.

        InvalidRecord where too few have the facet.
        """
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

    def _arranged(
        self, space: Space, fingerprint: str, snapshot: Snapshot, held: _Held | None
    ) -> _Held | None:
        with self._catalog.reading() as db:
            at = kept.arranged_at(db, space, fingerprint=fingerprint)
            if at is None:
                need(len(spaces.having(snapshot, space)))
                return None
            known = held.map if held and held.map.at == at else None
            if known and known.generation == snapshot.generation:
                return held
            arranged = kept.arranged(db, space, fingerprint=fingerprint)
        assert arranged is not None  # its moment was there
        return _Held(fingerprint, carried(known or arranged, snapshot, between(arranged, snapshot)))

    def _laid(self, space: Space, fingerprint: str, snapshot: Snapshot, held: _Held | None) -> _Held:
        if held and held.map.generation == snapshot.generation:
            return held
        directions = self._directions(space, fingerprint, snapshot, held.directions if held else None)
        known = held.map if held and held.map.at == directions.at else None
        with self._catalog.reading() as db:
            if known is None and directions.lasts:
                known = kept.flat(db, space, fingerprint=fingerprint)
            since = known.generation if known else snapshot.generation
            changed = listing.changed_since(db, since)
        if known is None:
            known = Map(space, "pca", (), np.empty((0, 2), np.float32))
        lay = pca.along(snapshot, space, directions.axes)
        made = replace(carried(known, snapshot, lay, changed=changed), at=directions.at)
        new = len(set(made.addresses).difference(known.addresses))
        if self._can_write and new >= KEPT_FLAT:
            kept.keep(
                self._catalog, f"flat {space}", made.points, addresses=made.addresses,
                fingerprint=f"{fingerprint}@{snapshot.generation}", at=time.time(),
            )  # fmt: skip
        return _Held(fingerprint, made, directions)

    def _directions(
        self, space: Space, fingerprint: str, snapshot: Snapshot, known: _Directions | None
    ) -> _Directions:
        """Those that are kept, or were found with at least half as many records; else new ones."""
        with self._catalog.reading() as db:
            lasting = kept.directions(db, space, fingerprint=fingerprint)
        count = len(spaces.having(snapshot, space))
        if lasting is not None:
            return _Directions(*lasting, lasts=True, count=count)
        if known is not None and count < 2 * known.count:
            return known
        found = _Directions(pca.directions(snapshot, space), time.time(), count >= LASTING, count)
        if self._can_write and found.lasts:
            kept.keep(self._catalog, f"pca {space}", found.axes, fingerprint=fingerprint, at=found.at)
        return found

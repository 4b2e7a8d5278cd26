"""Suggested tags for coins of every tier, learned from the tags of library coins.

Library coins are compared by their picture and their captions together, all others by their picture alone.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from store.errors import ModelUnavailable
from store.lru import LruCache
from store.records import FACETS, Facet, Record
from store.search.picture_similarity import PictureSimilarity
from store.search.tag_learner import Floats, TagLearner, TagSuggestion
from store.vectors.blocks import VectorSnapshot
from store.vectors.weights import DEFAULT_WEIGHTS

_LARGEST = 1_500  # tagged coins that are learned from; a fixed sample of more
_WEIGHTS: Mapping[Facet, float] = DEFAULT_WEIGHTS["like"]
_PICTURE: Sequence[Facet] = ("image",)


class TagSuggestions:
    """Learns once for each state of the library; thread-safe."""

    def __init__(
        self,
        pictures: PictureSimilarity,
        *,
        snapshot: Callable[[], VectorSnapshot],
        records: Callable[[Iterable[str]], list[Record]],
    ) -> None:
        self._pictures = pictures
        self._snapshot = snapshot
        self._records = records
        self._lock = threading.Lock()
        self._learned: LruCache[tuple[int, Sequence[Facet]], TagLearner] = LruCache(2)

    def of(self, records: Iterable[Record]) -> dict[str, list[TagSuggestion]]:
        """For each of these records the tags that it probably lacks, the likeliest first.

        A record whose picture has no vector yet is left out.
        """
        snapshot = self._snapshot()
        found = {}
        for record in records:
            facets: Sequence[Facet] = FACETS if record.tier == "library" else _PICTURE
            vector = self._vector(record, snapshot)
            if vector is not None:
                learner = self._learner(snapshot, facets)
                found[record.address] = learner.suggest(record.address, vector, record.tags)
        return found

    def _vector(self, record: Record, snapshot: VectorSnapshot) -> Floats | None:
        if record.tier == "library":
            rows = [row for row, _ in snapshot.rows_of([record.address])]
            return side_by_side(snapshot, np.array(rows, np.intp), FACETS)[0] if rows else None
        try:
            picture = self._pictures.stored(record)
        except ModelUnavailable:  # a model of texts alone
            return None
        return None if picture is None else picture.astype(np.float64)

    def _learner(self, snapshot: VectorSnapshot, facets: Sequence[Facet]) -> TagLearner:
        key = snapshot.generation, facets
        with self._lock:
            if (learner := self._learned.get(key)) is None:
                tags = {record.address: record.tags for record in self._records(snapshot.addresses)}
                rows = [row for row, address in enumerate(snapshot.addresses) if tags.get(address)]
                if len(rows) > _LARGEST:
                    rows = sorted(np.random.default_rng(0).permutation(rows)[:_LARGEST].tolist())
                addresses = [snapshot.addresses[row] for row in rows]
                vectors = side_by_side(snapshot, np.array(rows, np.intp), facets)
                learner = TagLearner(addresses, vectors, [tags[address] for address in addresses])
                self._learned[key] = learner
        return learner


def side_by_side(snapshot: VectorSnapshot, rows: NDArray[np.intp], facets: Sequence[Facet]) -> Floats:
    """(n, len(facets) · d): the facets of these rows by their weights, of unit length; a missing one is 0."""
    each = [np.sqrt(_WEIGHTS[facet]) * snapshot.rows(rows, facet) for facet in facets]
    found = np.concatenate(each, axis=1).astype(np.float64)
    return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12))

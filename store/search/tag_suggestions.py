"""Suggested tags for coins of every tier, learned from the tags of library coins.

Library coins are compared by their picture and their captions together, all others by their picture alone.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from store.catalog.label_rows import Tagged
from store.errors import ModelUnavailable
from store.records import FACETS, Facet, Record
from store.search.kernel import Floats, Kernel
from store.search.picture_similarity import PictureSimilarity
from store.search.tag_learner import TagLearner, TagSuggestion
from store.vectors.blocks import VectorSnapshot
from store.vectors.weights import DEFAULT_WEIGHTS

_LARGEST = 1_500  # tagged coins that are learned from; a fixed sample of more
_WEIGHTS: Mapping[Facet, float] = DEFAULT_WEIGHTS["like"]
_PICTURE: Sequence[Facet] = ("image",)


class _Learned(NamedTuple):
    generation: int  # of the vectors
    learner: TagLearner


class TagSuggestions:
    """Learns, and after a change again from the coins that it concerns; thread-safe."""

    def __init__(
        self,
        pictures: PictureSimilarity,
        *,
        snapshot: Callable[[], VectorSnapshot],
        sample: Callable[[int], dict[str, Tagged]],
    ) -> None:
        """`sample` gives so many tagged coins of the library, mostly the same ones after a change."""
        self._pictures = pictures
        self._snapshot = snapshot
        self._sample = sample
        self._lock = threading.Lock()
        self._learned: dict[Sequence[Facet], _Learned] = {}

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
        with self._lock:
            known = self._learned.get(facets)
            if known is None:
                nothing = np.empty((0, len(facets) * snapshot.dimensions))
                known = _Learned(-1, TagLearner([], Kernel.of(nothing), []))
            if known.generation < snapshot.generation:
                known = _Learned(snapshot.generation, self._renewed(known, snapshot, facets))
                self._learned[facets] = known
        return known.learner

    def _renewed(self, known: _Learned, snapshot: VectorSnapshot, facets: Sequence[Facet]) -> TagLearner:
        sample, before = self._sample(_LARGEST), known.learner.addresses
        kept = [
            place
            for place, address in enumerate(before)
            if address in sample and sample[address].generation <= known.generation
        ]
        addresses = [before[place] for place in kept]
        others = sorted(snapshot.rows_of(sample.keys() - set(addresses)))
        if not others and len(kept) == len(before):
            return known.learner
        vectors = side_by_side(snapshot, np.array([row for row, _ in others], np.intp), facets)
        addresses += [address for _, address in others]
        kernel = known.learner.kernel.renewed(np.array(kept, np.intp), vectors)
        return TagLearner(addresses, kernel, [sample[address].tags for address in addresses])


def side_by_side(snapshot: VectorSnapshot, rows: NDArray[np.intp], facets: Sequence[Facet]) -> Floats:
    """(n, len(facets) · d): the facets of these rows by their weights, of unit length; a missing one is 0."""
    each = [np.sqrt(_WEIGHTS[facet]) * snapshot.rows(rows, facet) for facet in facets]
    found = np.concatenate(each, axis=1).astype(np.float64)
    return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12))

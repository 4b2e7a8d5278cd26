"""Tags for coins of every tier, learned from the tags of library coins: the nearest coins and a linear head.

    Kernel           similarities of coins to each other, and the inverse that ridge regression on them needs
    TagLearner       learns from tagged coins, and how often a suggestion was right
    TagSuggestions   learns, and learns again from the coins that a change concerns

A tag's score is the mean of two: its share of the nearest tagged coins, weighted by similarity; and ridge
regression on the kernel of the similarities, one head for each tag. Both are computed for every tagged coin
as if that coin were not there (the ridge by the closed form of Allen 1974); how often a score of that height
was right is the confidence. Library coins are compared by their picture and their captions together, all
others by their picture alone.
"""

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from store.catalog.record_queries import Tagged
from store.errors import ModelUnavailable
from store.records import FACETS, Facet, Record
from store.search.picture_similarity import PictureSimilarity
from store.vectors.matrices import VectorSnapshot
from store.vectors.weights import DEFAULT_WEIGHTS

Floats = NDArray[np.float64]

_RIDGE = 1.0  # added to the diagonal, in units of a unit vector's similarity with itself


@dataclass(frozen=True, slots=True)
class Kernel:
    """Of vectors (n, d) of unit length; no vector is its own neighbour."""

    vectors: Floats
    similarities: Floats  # (n, n), -∞ on the diagonal
    inverse: Floats  # (n, n): of the similarities plus the ridge
    changed: int = 0  # vectors that came or went since all was computed from nothing

    @classmethod
    def of(cls, vectors: Floats) -> Self:
        """Computed from nothing."""
        own = vectors @ vectors.T
        return cls(vectors, _without_own(own), _inverted(own))

    def renewed(self, kept: NDArray[np.intp], others: Floats) -> "Kernel":
        """That of the vectors at these places and of others after them, at the cost of what came and went.

        Once more changed than stayed it is computed from nothing, so that errors of rounding do not add up.
        """
        gone = np.delete(np.arange(len(self.vectors)), kept)
        changed = self.changed + len(gone) + len(others)
        if changed > len(kept):
            return Kernel.of(np.concatenate([self.vectors[kept], others]) if len(kept) else others)
        own, cross = others @ others.T, self.vectors[kept] @ others.T
        # The inverse without some rows and columns, then with more, by blocks (Schur complements).
        inside, border = self.inverse[np.ix_(kept, kept)], self.inverse[np.ix_(kept, gone)]
        inside -= border @ np.linalg.solve(self.inverse[np.ix_(gone, gone)], border.T)
        reach = inside @ cross
        corner = _inverted(own - cross.T @ reach)
        side = -reach @ corner
        similar = self.similarities[np.ix_(kept, kept)]
        return Kernel(
            np.concatenate([self.vectors[kept], others]),
            np.block([[similar, cross], [cross.T, _without_own(own)]]),
            np.block([[inside - side @ reach.T, side], [side.T, corner]]),
            changed,
        )


def _without_own(similarities: Floats) -> Floats:
    return similarities - np.diag(np.full(len(similarities), np.inf))


def _inverted(similarities: Floats) -> Floats:
    return np.asarray(np.linalg.inv(similarities + _RIDGE * np.eye(len(similarities))), dtype=np.float64)


FEWEST = 3  # coins with a tag, below which it is not suggested
LEAST = 0.3  # confidence
MOST = 6
_NEAREST = 10  # coins whose tags are counted (docs/models.md)
_BINS = 20  # of scores, each with its own confidence
_DIGITS = 9  # of scores; those beyond depend on the order of the coins
_DOUBT = 8  # cases of the average kind, which every bin is taken to have had as well


@dataclass(frozen=True, slots=True)
class TagSuggestion:
    """A tag that a coin probably lacks, and how often such a suggestion is right in this library."""

    tag: str
    confidence: float  # 0 to 1


class TagLearner:
    """Learns from tagged coins: their addresses, what their vectors give, and the tags of each."""

    def __init__(self, addresses: Sequence[str], kernel: Kernel, tags: Sequence[Collection[str]]) -> None:
        self.addresses, self.kernel = addresses, kernel
        counts = Counter(tag for own in tags for tag in set(own))
        self.tags = sorted(tag for tag, count in counts.items() if count >= FEWEST)
        if not self.tags:
            return
        self._places = {address: place for place, address in enumerate(addresses)}
        column = {tag: number for number, tag in enumerate(self.tags)}
        self._has = np.zeros((len(addresses), len(self.tags)))
        for place, own in enumerate(tags):
            self._has[place, [column[tag] for tag in own if tag in column]] = 1
        self._mean = self._has.mean(axis=0)
        self._dual = kernel.inverse @ (self._has - self._mean)
        ridge = self._has - self._dual / np.diag(kernel.inverse)[:, None]
        self._scores = np.round((ridge + self._near(kernel.similarities)) / 2, _DIGITS)
        self._edges = np.quantile(self._scores, np.linspace(0, 1, _BINS + 1)[1:-1] ** 0.25)
        self._precision = self._measured()

    def suggest(self, address: str, vector: Floats, has: Collection[str]) -> list[TagSuggestion]:
        """Tags that a coin with this vector (d,) probably lacks, the likeliest first."""
        if not self.tags:
            return []
        if (place := self._places.get(address)) is not None:
            scores = self._scores[place]
        else:
            similarities = vector[None] @ self.kernel.vectors.T
            ridge = similarities @ self._dual + self._mean
            scores = np.round((ridge + self._near(similarities))[0] / 2, _DIGITS)
        confidence = self._precision[np.searchsorted(self._edges, scores)]
        found = [
            TagSuggestion(self.tags[at], float(confidence[at]))
            for at in np.argsort(-scores, kind="stable").tolist()
            if confidence[at] >= LEAST and scores[at] > self._mean[at] and self.tags[at] not in has
        ]
        return found[:MOST]

    def _measured(self) -> Floats:
        """(bins,): how often a score of each height was right, never less than a lower one (isotonic)."""
        from sklearn.isotonic import isotonic_regression

        bins = np.searchsorted(self._edges, self._scores).ravel()
        count = np.bincount(bins, minlength=_BINS)
        right = np.bincount(bins, self._has.ravel(), _BINS)
        shrunk = (right + _DOUBT * self._has.mean()) / (count + _DOUBT)  # few cases prove little
        return np.asarray(isotonic_regression(shrunk, sample_weight=count + 1e-6), dtype=np.float64)

    def _near(self, similarities: Floats) -> Floats:
        """(n, tags): the share of each tag among the nearest tagged coins, weighted by similarity."""
        count = min(_NEAREST, similarities.shape[1] - 1) or 1
        nearest = np.argpartition(-similarities, count - 1, axis=1)[:, :count]
        weights = np.maximum(np.take_along_axis(similarities, nearest, axis=1), 1e-6)
        weights /= weights.sum(axis=1, keepdims=True)
        return np.asarray(np.einsum("nk,nkt->nt", weights, self._has[nearest]), dtype=np.float64)


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
        """The tags that each of these records probably lacks, the likeliest first, where it has a vector."""
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

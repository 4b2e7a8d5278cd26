"""Tags for coins, learned from the library's tagged ones: the nearest coins and a linear head.

A tag's score is the mean of two: its share of the nearest tagged coins, weighted by similarity; and ridge
regression on the kernel of the similarities, one head for each tag. Both are computed for every tagged coin
as if that coin were not there (the ridge by the closed form of Allen 1974); how often a score of that height
was right is the confidence.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from store.search.kernel import Floats, Kernel

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

    def suggest(
        self, address: str, vector: Floats, has: Collection[str], *, most: int = MOST
    ) -> list[TagSuggestion]:
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
        return found[:most]

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

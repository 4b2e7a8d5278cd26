"""Tags for coins, learned from the library's tagged ones: the nearest coins and a linear head.

Coins are compared by their picture and their captions together. A tag's score is the mean of two: its share
of the nearest tagged coins, weighted by similarity; and ridge regression on the kernel of the similarities,
one head for each tag. Both are computed for every tagged coin as if that coin were not there (the ridge by
the closed form of Allen 1974); how often a score of that height was right is the confidence.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.records import CAPTION_FACETS, FACETS
from store.vectors.blocks import VectorSnapshot
from store.vectors.weights import DEFAULT_WEIGHTS

Floats = NDArray[np.float64]

FEWEST = 3  # coins with a tag, below which it is not suggested
LEAST = 0.3  # confidence
MOST = 6
_LARGEST = 1_500  # tagged coins that are learned from; a fixed sample of more
_NEAREST = 10
_RIDGE = 1.0
_BINS = 20  # of scores, each with its own confidence
_DOUBT = 8  # cases of the average kind, which every bin is taken to have had as well
_PICTURE = 4.0  # the picture's share beside the captions' usual weights, which add up to 10


@dataclass(frozen=True, slots=True)
class TagSuggestion:
    """A tag that a coin probably lacks, and how often such a suggestion is right in this library."""

    tag: str
    confidence: float  # 0 to 1


class TagLearner:
    """Learns from the tags of library coins; made for one state of the library."""

    def __init__(self, snapshot: VectorSnapshot, tags: Mapping[str, Sequence[str]]) -> None:
        rows = [row for row, address in enumerate(snapshot.addresses) if tags.get(address)]
        if len(rows) > _LARGEST:
            rows = sorted(np.random.default_rng(0).permutation(rows)[:_LARGEST].tolist())
        own = [set(tags[snapshot.addresses[row]]) for row in rows]
        counts = Counter(tag for labels in own for tag in labels)
        self.tags = sorted(tag for tag, count in counts.items() if count >= FEWEST)
        self._snapshot = snapshot
        self._places = {snapshot.addresses[row]: place for place, row in enumerate(rows)}
        if not self.tags:
            return
        self._vectors = _vectors(snapshot, np.array(rows, dtype=np.intp))
        self._has = np.array([[tag in labels for tag in self.tags] for labels in own], dtype=np.float64)
        kernel = self._vectors @ self._vectors.T
        inverse = np.linalg.inv(kernel + _RIDGE * np.eye(len(rows)))
        self._usual = self._has.mean(axis=0)
        self._dual = inverse @ (self._has - self._usual)
        ridge = self._has - self._dual / np.diag(inverse)[:, None]
        np.fill_diagonal(kernel, -np.inf)  # no coin is its own neighbour
        self._scores = (ridge + self._near(kernel)) / 2
        self._edges = np.quantile(self._scores, np.linspace(0, 1, _BINS + 1)[1:-1] ** 0.25)
        self._sure = self._precision()

    def suggest(self, address: str, has: Sequence[str], *, most: int = MOST) -> list[TagSuggestion]:
        """Tags that this library coin probably lacks, the surest first; none for any other coin."""
        found = self._snapshot.rows_of([address])
        if not self.tags or not found:
            return []
        if (place := self._places.get(address)) is not None:
            scores = self._scores[place]
        else:
            kernel = _vectors(self._snapshot, np.array([found[0][0]], dtype=np.intp)) @ self._vectors.T
            scores = (kernel @ self._dual + self._usual + self._near(kernel))[0] / 2
        sure = self._sure[np.searchsorted(self._edges, scores)]
        order = sorted(range(len(self.tags)), key=lambda at: -scores[at])
        chosen = [TagSuggestion(self.tags[at], float(sure[at])) for at in order if self.tags[at] not in has]
        return [one for one in chosen if one.confidence >= LEAST][:most]

    def _precision(self) -> Floats:
        """(bins,): how often a score of each height was right, never less than a lower one (isotonic)."""
        from sklearn.isotonic import isotonic_regression

        bins = np.searchsorted(self._edges, self._scores).ravel()
        count = np.bincount(bins, minlength=_BINS)
        right = np.bincount(bins, self._has.ravel(), _BINS)
        shrunk = (right + _DOUBT * self._has.mean()) / (count + _DOUBT)  # few cases prove little
        return np.asarray(isotonic_regression(shrunk, sample_weight=count + 1e-6), dtype=np.float64)

    def _near(self, kernel: Floats) -> Floats:
        """(n, tags): the share of each tag among the nearest tagged coins, weighted by similarity."""
        count = min(_NEAREST, kernel.shape[1] - 1) or 1
        nearest = np.argpartition(-kernel, count - 1, axis=1)[:, :count]
        weights = np.maximum(np.take_along_axis(kernel, nearest, axis=1), 1e-6)
        weights /= weights.sum(axis=1, keepdims=True)
        return np.asarray(np.einsum("nk,nkt->nt", weights, self._has[nearest]), dtype=np.float64)


def _vectors(snapshot: VectorSnapshot, rows: NDArray[np.intp]) -> Floats:
    """(n, 5 d): picture and captions side by side, of unit length; a missing facet is zero."""
    weights = {**{facet: DEFAULT_WEIGHTS["text"][facet] for facet in CAPTION_FACETS}, "image": _PICTURE}
    each = [np.sqrt(weights[facet]) * snapshot.rows(rows, facet) for facet in FACETS]
    found = np.concatenate(each, axis=1).astype(np.float64)
    return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12))

"""Scores from similarities and weights, and what each facet gave to them (design section 5).

score = Σ w_f · ŝ_f / Σ w_f        over the facets f with a weight above zero
ŝ_f   = cosine(q, facet f)         where the record has f, else
        the mean of it over all library records that have f
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from store.records import FACETS, Facet
from store.vectors import Mask


class Contribution(NamedTuple):
    """What one facet gave to a score; where it is missing, its share of the library's mean."""

    present: bool
    cosine: float | None
    weight: float
    contribution: float


@dataclass(frozen=True, eq=False)
class Similarities:
    """The cosines of one query with every facet of every library record; no weight is in them."""

    addresses: tuple[str, ...] = field(repr=False)
    present: Mask  # (5, N): the record has the facet, and the query speaks about it
    columns: NDArray[np.float32]  # (5, N): the cosines; anything where not present

    @cached_property
    def values(self) -> NDArray[np.float32]:
        """(N, 5): cosines, NaN where missing."""
        return np.where(self.present, self.columns, np.float32(np.nan)).T

    @cached_property
    def means(self) -> NDArray[np.float64]:
        """(5,): the neutral value of each facet; NaN for a facet that no record has."""
        counts = self.present.sum(axis=1)
        sums = np.sum(self.columns, axis=1, dtype=np.float64, where=self.present)
        means = np.full(len(FACETS), np.nan)
        np.divide(sums, counts, out=means, where=counts > 0)
        return means

    @cached_property
    def filled(self) -> NDArray[np.float64]:
        """(5, N): cosines, the neutral value where missing."""
        return np.where(self.present, self.columns, self.means[:, None])

    @cached_property
    def spoken(self) -> list[bool]:
        """For each facet, whether any record has it and the query speaks about it."""
        return [bool(has.any()) for has in self.present]

    @cached_property
    def complete(self) -> list[bool]:
        """For each facet, whether every record has it and the query speaks about it."""
        return [bool(has.all()) for has in self.present]


class Ranking(NamedTuple):
    """The best rows for some weights, best first; equal scores in the order of their addresses."""

    rows: list[int]
    scores: list[float]
    shares: list[float]  # of the five facets: w_f / Σ w, without those that no record has
    compared: int  # records that were scored
    without_facets: int  # records asked for that have none of the weighted facets


def rank(
    similarities: Similarities, weights: Mapping[Facet, float], *, top: int, mask: Mask | None = None
) -> Ranking:
    """The `top` rows by weighted score among those of the mask: all that a moved slider costs."""
    # Few calls on whole arrays, since at 10,000 records a call costs as much as its work.
    total = len(similarities.addresses)
    shares = _shares(similarities, weights)
    used = [n for n, facet in enumerate(FACETS) if weights.get(facet, 0.0) > 0 and similarities.spoken[n]]
    if not used:
        return Ranking([], [], shares, 0, total if mask is None else int(np.count_nonzero(mask)))
    # Facet after facet in double precision, not a matrix product: equal records get equal scores in whatever
    # row they stand, and the page, which does the same sums in JavaScript, gets the same order.
    scores = similarities.filled[used[0]] * shares[used[0]]
    scratch = np.empty_like(scores)
    for facet in used[1:]:
        scores += np.multiply(similarities.filled[facet], shares[facet], out=scratch)
    asked = compared = total
    if mask is not None or not any(similarities.complete[facet] for facet in used):
        eligible = similarities.present[used].any(axis=0)
        if mask is not None:
            eligible &= mask
            asked = int(np.count_nonzero(mask))
        compared = int(np.count_nonzero(eligible))
        scores[~eligible] = -np.inf
    rows = _best(scores, min(top, compared), addresses=similarities.addresses)
    return Ranking(rows, scores[rows].tolist(), shares, compared, asked - compared)


class _Ranked(NamedTuple):
    similarities: Similarities
    shares: list[float]
    weights: Mapping[Facet, float]


class Hit(NamedTuple):
    """One result; the contributions of its facets add up to its score."""

    address: str
    score: float
    row: int  # of the similarities
    ranked: _Ranked

    @property
    def facets(self) -> dict[Facet, Contribution]:
        """Every facet's part in the score; put together when asked for, so that a moved slider is quick."""
        similarities, shares, weights = self.ranked
        found: dict[Facet, Contribution] = {}
        for number, facet in enumerate(FACETS):
            has, share = bool(similarities.present[number, self.row]), shares[number]
            found[facet] = Contribution(
                has,
                float(similarities.columns[number, self.row]) if has else None,
                float(weights.get(facet, 0.0)),
                share * float(similarities.filled[number, self.row]) if share else 0.0,
            )
        return found

    def __repr__(self) -> str:
        return f"Hit({self.address}, {self.score:.6f})"


def hits(similarities: Similarities, ranking: Ranking, weights: Mapping[Facet, float]) -> list[Hit]:
    """The ranked rows as hits, which can explain themselves."""
    ranked = _Ranked(similarities, ranking.shares, weights)
    addresses = map(similarities.addresses.__getitem__, ranking.rows)
    # Not one call of Python's own for each: fifty hits would cost as much as the ranking.
    made = zip(addresses, ranking.scores, ranking.rows, repeat(ranked), strict=False)
    return list(map(partial(tuple.__new__, Hit), made))


def _shares(similarities: Similarities, weights: Mapping[Facet, float]) -> list[float]:
    given = [
        weights.get(facet, 0.0) if spoken else 0.0
        for facet, spoken in zip(FACETS, similarities.spoken, strict=True)
    ]
    largest = max(given)
    if not largest:
        return given
    given = [weight / largest for weight in given]  # first, or the smallest numbers would lose their digits
    total = sum(given)
    return [weight / total for weight in given]


def _best(scores: NDArray[np.float64], count: int, *, addresses: tuple[str, ...]) -> list[int]:
    if count == 0:
        return []
    rows = np.flatnonzero(scores >= _reached(scores, count))
    found = rows.tolist()
    in_order = sorted(zip((-scores[rows]).tolist(), map(addresses.__getitem__, found), found, strict=True))
    return [row for _, _, row in in_order[:count]]


def _reached(scores: NDArray[np.float64], count: int) -> float:
    """A score that at least `count` rows reach, and hardly more."""
    columns = 4 * count
    if len(scores) >= 2 * columns:
        # The best of each of many heaps: `count` of these are that good. Quicker than parting all rows.
        height = len(scores) // columns
        best = scores[: height * columns].reshape(height, columns).max(axis=0)
        best.partition(columns - count)
        if np.isfinite(best[columns - count]):  # else few rows may be results, and those in few heaps
            return float(best[columns - count])
    return float(np.partition(scores, len(scores) - count)[len(scores) - count])

"""Scores from similarities and weights, and what each facet gave to them (design section 5).

score = Σ w_f · ŝ_f / Σ w_f        over the facets f with a weight above zero
ŝ_f   = cosine(q, facet f)         where the record has f, else
        the mean of it over all library records that have f
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
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
    def unspoken(self) -> Mask:
        """(5,): the facets that no record has, or that the query does not speak about."""
        return np.logical_not(self.present.any(axis=1))


class Ranking(NamedTuple):
    """The best rows for some weights, best first; equal scores in the order of their addresses."""

    rows: NDArray[np.intp]
    scores: NDArray[np.float64]
    shares: NDArray[
        np.float64
    ]  # (5,): w_f / Σ w without the facets that no record has; all 0: nothing to rank by
    compared: int  # records that were scored
    without_facets: int  # records asked for that have none of the weighted facets


def rank(
    similarities: Similarities, weights: Mapping[Facet, float], *, top: int, mask: Mask | None = None
) -> Ranking:
    """The `top` rows by weighted score among those of the mask: all that a moved slider costs."""
    shares = _shares(similarities, weights)
    used = [number for number, facet in enumerate(FACETS) if weights.get(facet, 0.0) > 0]
    eligible = np.zeros(len(similarities.addresses), np.bool_)
    scores = np.zeros(len(eligible))
    scratch = np.empty_like(scores)
    # Facet after facet in double precision, not a matrix product: equal records get equal scores in whatever
    # row they stand, and the page, which does the same sums in JavaScript, gets the same order.
    for facet in used:
        if not similarities.unspoken[facet]:
            eligible |= similarities.present[facet]
            scores += np.multiply(similarities.filled[facet], shares[facet], out=scratch)
    asked = len(eligible) if mask is None else int(np.count_nonzero(mask))
    if mask is not None:
        eligible &= mask
    compared = int(np.count_nonzero(eligible))
    if compared < len(eligible):
        scores[~eligible] = -np.inf
    rows = _best(scores, min(top, compared), addresses=similarities.addresses)
    return Ranking(rows, scores[rows], shares, compared, asked - compared)


@dataclass(frozen=True, slots=True)
class Hit:
    """One result; the contributions of its facets add up to its score."""

    address: str
    score: float
    _row: int = field(repr=False, compare=False)
    _ranked: "_Ranked" = field(repr=False, compare=False)

    @property
    def facets(self) -> dict[Facet, Contribution]:
        """Every facet's part in the score; put together when asked for, so that a moved slider is quick."""
        similarities, shares, weights = self._ranked
        found: dict[Facet, Contribution] = {}
        for number, facet in enumerate(FACETS):
            has, share = bool(similarities.present[number, self._row]), float(shares[number])
            found[facet] = Contribution(
                has,
                float(similarities.columns[number, self._row]) if has else None,
                float(weights.get(facet, 0.0)),
                share * float(similarities.filled[number, self._row]) if share else 0.0,
            )
        return found


class _Ranked(NamedTuple):
    similarities: Similarities
    shares: NDArray[np.float64]
    weights: Mapping[Facet, float]


def hits(similarities: Similarities, ranking: Ranking, weights: Mapping[Facet, float]) -> list[Hit]:
    """The ranked rows as hits, which can explain themselves."""
    ranked = _Ranked(similarities, ranking.shares, weights)
    addresses = similarities.addresses
    return [
        Hit(addresses[row], score, row, ranked)
        for row, score in zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True)
    ]


def _shares(similarities: Similarities, weights: Mapping[Facet, float]) -> NDArray[np.float64]:
    given = np.array([weights.get(facet, 0.0) for facet in FACETS], np.float64)
    given[similarities.unspoken] = 0.0
    if not given.any():
        return given
    given /= given.max()  # first, or the smallest numbers there are would lose their digits
    given /= given.sum()
    return given


def _best(scores: NDArray[np.float64], count: int, *, addresses: tuple[str, ...]) -> NDArray[np.intp]:
    if count == 0:
        return np.empty(0, np.intp)
    worst = np.partition(scores, len(scores) - count)[len(scores) - count]
    rows = np.flatnonzero(scores >= worst)  # more than `count` where the last place is shared
    rows = rows[np.argsort(-scores[rows], kind="stable")]
    in_order = scores[rows]
    if (in_order[1:] == in_order[:-1]).any():
        ties = sorted(
            zip((-in_order).tolist(), rows.tolist(), strict=True), key=lambda t: (t[0], addresses[t[1]])
        )
        rows = np.array([row for _, row in ties], np.intp)
    return rows[:count]

"""Scores from similarities and weights, and what each facet gave to them (design section 5).

score = Σ w_f · ŝ_f / Σ w_f        over the facets f with a weight above zero
ŝ_f   = cosine(q, facet f)         where the record has f, else
        the mean of it over all library records that have f

Calibrated, (ŝ_f - centre_f) / spread_f stands in the place of ŝ_f.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from store.records import FACETS, Facet
from store.search.blocks import Mask, Vector
from store.search.similarities import Rows, Similarities


class Contribution(NamedTuple):
    """What one facet gave to a score; where it is missing, its share of the library's mean."""

    present: bool
    cosine: float | None
    weight: float
    contribution: float


class Scale(NamedTuple):
    """Where each facet's cosines usually lie, and how far apart: (5,) each."""

    centre: tuple[float, ...]
    spread: tuple[float, ...]


RAW = Scale((0.0,) * len(FACETS), (1.0,) * len(FACETS))


class Ranking(NamedTuple):
    """The best rows for some weights, best first; equal scores in the order of their addresses."""

    rows: list[int]
    scores: list[float]
    shares: list[float]  # of the five facets: w_f / Σ w, without those that no record has
    compared: int  # records that were scored
    without_facets: int  # records asked for that have none of the weighted facets


def rank(
    similarities: Similarities,
    weights: Mapping[Facet, float],
    *,
    top: int,
    mask: Mask | None = None,
    scale: Scale = RAW,
) -> Ranking:
    """The `top` rows by weighted score among those of the mask: all that a moved slider costs.

    Exact, also where most rows' similarities are approximate: every row that the bound allows among the best
    is scored from its float32 vectors.
    """
    # Few calls on whole arrays, since at 10,000 records a call costs as much as its work.
    total = len(similarities.addresses)
    shares = _shares(similarities, weights)
    used = [n for n, facet in enumerate(FACETS) if weights.get(facet, 0.0) > 0 and similarities.spoken[n]]
    if not used:
        return Ranking([], [], shares, 0, total if mask is None else int(np.count_nonzero(mask)))
    with similarities.lock:
        every = similarities.everything
        if every is not None:
            first: NDArray[np.floating[Any]] = _weighted(every, shares, scale)
            wrong = None
        else:
            first, wrong = similarities.approximate(_gains(shares, scale))
        asked = compared = total
        if mask is not None or not any(similarities.complete[facet] for facet in used):
            eligible = similarities.present[used].any(axis=0)
            if mask is not None:
                eligible &= mask
                asked = int(np.count_nonzero(mask))
            compared = int(np.count_nonzero(eligible))
            first[~eligible] = -np.inf
        count = min(top, compared)
        if wrong is None:
            rows = np.flatnonzero(first >= reached(first, count)) if count else np.empty(0, np.intp)
            scores = first[rows]
        else:
            rows = _candidates(similarities, first, wrong, count, shares, scale)
            scores = _scores(similarities, rows, shares, scale)
    addresses = similarities.addresses
    found = rows.tolist()
    order = sorted(zip((-scores).tolist(), map(addresses.__getitem__, found), found, strict=True))[:top]
    best = [row for _, _, row in order]
    return Ranking(best, [-score for score, _, _ in order], shares, compared, asked - compared)


def _candidates(
    similarities: Similarities,
    approximate: NDArray[np.floating[Any]],
    wrong: Vector,
    count: int,
    shares: list[float],
    scale: Scale,
) -> Rows:
    """Every row that may be among the best `count`, settled: the rest is proven to be worse than these."""
    if count == 0:
        return np.empty(0, np.intp)
    first = np.flatnonzero(approximate >= np.float32(reached(approximate, count)))
    similarities.settle(first)
    # The best `count` of all are at least as good as the worst of any `count` whose true scores are known.
    known = _scores(similarities, first, shares, scale)
    floor = np.partition(known, len(known) - count)[len(known) - count]
    floor += sum(gain * centre for gain, centre in zip(_gains(shares, scale), scale.centre, strict=True))
    rows = np.flatnonzero(approximate + wrong >= floor)
    similarities.settle(rows)
    return rows


def _gains(shares: list[float], scale: Scale) -> list[float]:
    return [share / spread for share, spread in zip(shares, scale.spread, strict=True)]


def _scores(similarities: Similarities, rows: Rows, shares: list[float], scale: Scale) -> NDArray[np.float64]:
    return _weighted(similarities.settled(rows), shares, scale)


def _weighted(filled: NDArray[np.float64], shares: list[float], scale: Scale) -> NDArray[np.float64]:
    # Facet after facet in double precision, not a matrix product: equal records get equal scores in whatever
    # row they stand, and the page, which does the same sums in JavaScript, gets the same order.
    scores = np.zeros(filled.shape[1])
    for share, centre, spread, values in zip(shares, *scale, filled, strict=True):
        if share:
            scores += share * (values if scale is RAW else (values - centre) / spread)
    return scores


class _Ranked(NamedTuple):
    similarities: Similarities
    shares: list[float]
    weights: Mapping[Facet, float]
    scale: Scale


class Hit(NamedTuple):
    """One result; the contributions of its facets add up to its score."""

    address: str
    score: float
    row: int  # of the similarities
    ranked: _Ranked

    @property
    def facets(self) -> dict[Facet, Contribution]:
        """Every facet's part in the score; put together when asked for, so that a moved slider is quick."""
        similarities, shares, weights, scale = self.ranked
        present = similarities.present[:, self.row].tolist()
        filled = similarities.settled(np.array([self.row]))[:, 0].tolist()
        found: dict[Facet, Contribution] = {}
        for number, facet in enumerate(FACETS):
            share, value = shares[number], filled[number]
            found[facet] = Contribution(
                present[number],
                value if present[number] else None,
                float(weights.get(facet, 0.0)),
                share * ((value - scale.centre[number]) / scale.spread[number]) if share else 0.0,
            )
        return found

    def __repr__(self) -> str:
        return f"Hit({self.address}, {self.score:.6f})"


def hits(
    similarities: Similarities, ranking: Ranking, weights: Mapping[Facet, float], *, scale: Scale = RAW
) -> list[Hit]:
    """The ranked rows as hits, which can explain themselves."""
    ranked = _Ranked(similarities, ranking.shares, weights, scale)
    addresses = map(similarities.addresses.__getitem__, ranking.rows)
    # Not one call of Python's own for each: fifty hits would cost as much as the ranking.
    made = zip(addresses, ranking.scores, ranking.rows, repeat(ranked), strict=False)
    return list(map(partial(tuple.__new__, Hit), made))


def folded(found: Iterable[Hit], groups: Mapping[str, int]) -> list[Hit]:
    """Of the hits whose addresses are of one group of copies the first alone."""
    seen: set[int] = set()
    first = []
    for hit in found:
        group = groups.get(hit.address)
        if group is None or group not in seen:
            first.append(hit)
        if group is not None:
            seen.add(group)
    return first


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


def reached(scores: NDArray[np.floating[Any]], count: int) -> float:
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

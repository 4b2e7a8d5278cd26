"""Scores from similarities and weights, and the contribution of each facet.

score = Σ w_f · ŝ_f / Σ w_f        over the facets f with a weight above zero
ŝ_f   = cosine(q, facet f)         if the record has f, else
        its mean over all library records that have f

A calibrated search uses (ŝ_f - centre_f) / spread_f instead of ŝ_f.

Fused with the query's words, a record's share of them (catalog/words.py) adds

FUSION · share · Σ w_f · σ_f / Σ w_f      σ_f: the deviation of the query's cosines with facet f

so that words count as much as FUSION deviations with every model, query and weight. Only few records have
a share.

By the usual weights of a text, the picture replaces captions that say nothing. Its score is

Σ w_f · (m_f + PICTURES · σ_f · (cosine(q, picture) - m_p) / σ_p) / Σ w_f

with the means m and deviations σ of the cosines with all pictures p, and in each facet f with the captions
that say something (stand_in.py). The captions' own score, less DOUBT · Σ w_f · σ_f / Σ w_f, counts if it is
higher: those that repeat a name may match a question well. The words' σ_f are these then, too.

A record without words that is among the best fused ones is among the best by the first formula too,
because what is above it there is above it here. So a page that has the best by that formula for any weights
(`skyline` of in_browser.py), and all records with a share, has all that it can show.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from store.embedding.protocol import Vector
from store.records import FACETS, Facet
from store.search.similarities import Rows, Similarities
from store.search.stand_in import PICTURE, StandIn
from store.vectors.matrices import Mask


class Contribution(NamedTuple):
    """The contribution of one facet to a score; for a missing facet, of the library's mean."""

    present: bool
    cosine: float | None
    weight: float
    contribution: float


class Scale(NamedTuple):
    """The mean and deviation of each facet's cosines: (5,) each."""

    centre: tuple[float, ...]
    spread: tuple[float, ...]


RAW = Scale((0.0,) * len(FACETS), (1.0,) * len(FACETS))


class Words(NamedTuple):
    """The rows that have a share of the query's words, ascending, and their shares, 0 to 1."""

    rows: Rows
    shares: NDArray[np.float64]


class Fused(NamedTuple):
    """The contribution of the query's words to a score: share · gain."""

    share: float
    contribution: float


PICTURES, DOUBT = 0.5, 2.0  # measured: docs/models.md
FUSION = 3.0  # measured on one half of the golden queries and confirmed on the other


class Ranking(NamedTuple):
    """The best rows for some weights, best first; ties are in the order of their addresses."""

    rows: list[int]
    scores: list[float]
    shares: list[float]  # of the five facets: w_f / Σ w, without those that no record has
    compared: int  # records that were scored
    without_facets: int  # records asked for that have none of the weighted facets
    gain: float = 0.0  # what a whole share of the words gives; 0 where they do not count
    in_full: int = 0  # rows scored by their float32 vectors, if a bound excludes all others
    pictures: "_Pictures | None" = None  # those that replace captions


def rank(
    similarities: Similarities,
    weights: Mapping[Facet, float],
    *,
    top: int,
    mask: Mask | None = None,
    scale: Scale = RAW,
    words: Words | None = None,
    stand_in: StandIn | None = None,
) -> Ranking:
    """The `top` rows of the mask by weighted score, with `words` fused and pictures in place of captions.

    This is all that a moved slider costs.

    Exact, even if most rows' similarities are approximate: every row that may be among the best by the error
    bound is scored from its float32 vectors.
    """
    # Few calls on whole arrays, since at 10,000 records a call costs as much as its work.
    total = len(similarities.addresses)
    shares = _shares(similarities, weights)
    used = [n for n, facet in enumerate(FACETS) if weights.get(facet, 0.0) > 0 and similarities.spoken[n]]
    if not used and stand_in is None:
        return Ranking([], [], shares, 0, total if mask is None else int(np.count_nonzero(mask)))
    every = similarities.everything  # before the lock, which what it may wait for needs
    with similarities.lock:
        pictures = _Pictures.of(stand_in, weights, shares, scale) if stand_in else None
        gain = _gain(similarities, shares, scale, pictures) if words else 0.0
        if every is not None:
            first: NDArray[np.floating[Any]] = _weighted(every, shares, scale)
            wrong = None
            if pictures:
                pictures.write(first, every[PICTURE], pictures.stand_in.rows)
        else:
            first, wrong = similarities.approximate(_gains(shares, scale))
            if pictures:
                _write_approximate(pictures, similarities, first, wrong, _shift(shares, scale))
        if words:
            first[words.rows] += gain * words.shares
            if wrong is not None:
                wrong[words.rows] += np.float32(1e-6)  # of this float32 sum
        candidates = compared = total
        if mask is not None or not any(similarities.complete[facet] for facet in used):
            eligible: Mask = np.asarray(similarities.present[used].any(axis=0))
            if pictures:
                eligible[pictures.stand_in.rows] = True
            if mask is not None:
                eligible &= mask
                candidates = int(np.count_nonzero(mask))
            compared = int(np.count_nonzero(eligible))
            first[~eligible] = -np.inf
        count = min(top, compared)
        if wrong is None:
            rows = np.flatnonzero(first >= reached(first, count)) if count else np.empty(0, np.intp)
            scores, in_full = first[rows], 0
        else:
            exact = partial(
                _fused, similarities, shares=shares, scale=scale, words=words, gain=gain, pictures=pictures
            )
            rows = _candidates(similarities, first, wrong, count, exact, _shift(shares, scale))
            scores, in_full = exact(rows), len(rows)
    addresses = similarities.addresses
    found = rows.tolist()
    order = sorted(zip((-scores).tolist(), map(addresses.__getitem__, found), found, strict=True))[:top]
    best = [row for _, _, row in order]
    scores_of_best = [-score for score, _, _ in order]
    return Ranking(best, scores_of_best, shares, compared, candidates - compared, gain, in_full, pictures)


def _candidates(
    similarities: Similarities,
    approximate: NDArray[np.floating[Any]],
    wrong: Vector,
    count: int,
    exact: Callable[[Rows], NDArray[np.float64]],
    shift: float,
) -> Rows:
    """Every row that may be among the best `count`, made exact; all others are proven to be worse."""
    if count == 0:
        return np.empty(0, np.intp)
    first = np.flatnonzero(approximate >= np.float32(reached(approximate, count)))
    similarities.rescore(first)
    # The best `count` of all are at least as good as the worst of any `count` whose true scores are known.
    known = exact(first)
    floor = np.partition(known, len(known) - count)[len(known) - count] + shift
    rows = np.flatnonzero(approximate + wrong >= floor)
    similarities.rescore(rows)
    return rows


def _gains(shares: list[float], scale: Scale) -> list[float]:
    return [share / spread for share, spread in zip(shares, scale.spread, strict=True)]


def _shift(shares: list[float], scale: Scale) -> float:
    """What the centres subtract from every score, which approximate scores still contain."""
    return sum(gain * centre for gain, centre in zip(_gains(shares, scale), scale.centre, strict=True))


def _gain(
    similarities: Similarities, shares: list[float], scale: Scale, pictures: "_Pictures | None"
) -> float:
    deviations = similarities.deviations
    if pictures:
        shares, deviations = pictures.shares, pictures.stand_in.deviations
    spreads = zip(shares, deviations.tolist(), scale.spread, strict=True)
    each: list[float] = [share * deviation / spread for share, deviation, spread in spreads]
    return FUSION * sum(each)


def _fused(
    similarities: Similarities,
    rows: Rows,
    *,
    shares: list[float],
    scale: Scale,
    words: Words | None,
    gain: float,
    pictures: "_Pictures | None",
) -> NDArray[np.float64]:
    """The scores of exact rows, in ascending order of rows."""
    filled = similarities.rescored(rows)
    scores = _weighted(filled, shares, scale)
    if pictures:
        _, among, _ = np.intersect1d(rows, pictures.stand_in.rows, assume_unique=True, return_indices=True)
        pictures.write(scores, filled[PICTURE], among)
    if words:
        _, among, own = np.intersect1d(rows, words.rows, assume_unique=True, return_indices=True)
        scores[among] += gain * words.shares[own]
    return scores


def _weighted(filled: NDArray[np.float64], shares: list[float], scale: Scale) -> NDArray[np.float64]:
    # Facet after facet in double precision, not a matrix product: equal records get equal scores in any
    # row, and the page, which does the same sums in JavaScript, gets the same order.
    scores = np.zeros(filled.shape[1])
    for share, centre, spread, values in zip(shares, *scale, filled, strict=True):
        if share:
            scores += share * (values if scale is RAW else (values - centre) / spread)
    return scores


class _Pictures(NamedTuple):
    """The pictures that replace captions, with some weights: each scores base + slope · cosine."""

    stand_in: StandIn
    shares: list[float]
    base: float
    slope: float
    doubt: float  # what is subtracted from the scores of their captions

    @classmethod
    def of(
        cls, stand_in: StandIn, weights: Mapping[Facet, float], shares: list[float], scale: Scale
    ) -> "_Pictures":
        if not any(shares):  # no record has a caption
            total = sum(weights.get(facet, 0.0) for facet in FACETS)
            shares = [weights.get(facet, 0.0) / total for facet in FACETS]
        base = unit = 0.0
        figures = zip(shares, stand_in.means.tolist(), stand_in.deviations.tolist(), *scale, strict=True)
        for share, mean, deviation, centre, spread in figures:
            if share:
                base += share * ((mean - centre) / spread)
                unit += share * (deviation / spread)
        mean, deviation = stand_in.picture
        slope = PICTURES * unit / deviation if deviation else 0.0
        return cls(stand_in, shares, base - slope * mean, slope, DOUBT * unit)

    def write(
        self, scores: NDArray[np.floating[Any]], cosines: NDArray[np.floating[Any]], rows: Rows
    ) -> None:
        """Replace the scores of these rows by those of their pictures, or of their captions with doubt."""
        scores[rows] = np.maximum(self.base + self.slope * cosines[rows], scores[rows] - self.doubt)


def _write_approximate(
    pictures: _Pictures, similarities: Similarities, scores: Vector, wrong: Vector, shift: float
) -> None:
    """`write` into approximate scores, which still contain the centres, and the bounds of their errors."""
    cosines, error = similarities.approximate_facet(PICTURE)
    rows = pictures.stand_in.rows
    pictures._replace(base=pictures.base + shift).write(scores, cosines, rows)
    own = np.float32(pictures.slope) * error[rows]
    wrong[rows] = np.maximum(wrong[rows], own) + np.float32(1e-6)  # of float32 sums


class _Ranked(NamedTuple):
    similarities: Similarities
    shares: list[float]
    weights: Mapping[Facet, float]
    scale: Scale
    gain: float
    words: Mapping[int, float]  # the share of each row that has one; empty where they do not count
    pictures: "_Pictures | None"


class Hit(NamedTuple):
    """One result; the contributions of its facets, and of the words if they count, add up to its score."""

    address: str
    score: float
    row: int  # of the similarities
    ranked: _Ranked

    @property
    def facets(self) -> dict[Facet, Contribution]:
        """Every facet's contribution; computed on request, so that a moved slider is fast."""
        similarities, shares, weights, scale = self.ranked[:4]
        by_picture = self.is_by_picture
        present = similarities.present[:, self.row].tolist()
        filled = similarities.rescored(np.array([self.row]))[:, 0].tolist()
        found: dict[Facet, Contribution] = {}
        for number, facet in enumerate(FACETS):
            share, value = shares[number], filled[number]
            found[facet] = Contribution(
                present[number],
                value if present[number] else None,
                float(weights.get(facet, 0.0)),
                share * ((value - scale.centre[number]) / scale.spread[number])
                if share and not by_picture
                else 0.0,
            )
        if self._stands_in:  # what the picture gives, or how much its silence about them takes from captions
            rest = sum(own.contribution for own in found.values())
            own = self.score - self.words.contribution - rest
            found["image"] = found["image"]._replace(contribution=own)
        return found

    @property
    def is_by_picture(self) -> bool:
        """Whether its picture gives the score, in place of captions that say nothing."""
        similarities, shares, _, scale, _, _, pictures = self.ranked
        if pictures is None or not self._stands_in:
            return False
        filled = similarities.rescored(np.array([self.row]))
        own = pictures.base + pictures.slope * filled[PICTURE, 0]
        return bool(own >= _weighted(filled, shares, scale)[0] - pictures.doubt)

    @property
    def _stands_in(self) -> bool:
        pictures = self.ranked.pictures
        if pictures is None:
            return False
        rows = pictures.stand_in.rows
        at = int(np.searchsorted(rows, self.row))
        return at < len(rows) and bool(rows[at] == self.row)

    @property
    def words(self) -> Fused:
        """The contribution of the words."""
        share = self.ranked.words.get(self.row, 0.0)
        return Fused(share, self.ranked.gain * share)

    def __repr__(self) -> str:
        return f"Hit({self.address}, {self.score:.6f})"


def hits(
    similarities: Similarities,
    ranking: Ranking,
    weights: Mapping[Facet, float],
    *,
    scale: Scale = RAW,
    words: Words | None = None,
) -> list[Hit]:
    """The ranked rows as hits, which can explain their scores."""
    own = dict(zip(words.rows.tolist(), words.shares.tolist(), strict=True)) if words else {}
    ranked = _Ranked(similarities, ranking.shares, weights, scale, ranking.gain, own, ranking.pictures)
    addresses = map(similarities.addresses.__getitem__, ranking.rows)
    # Not one call of Python's own for each: fifty hits would cost as much as the ranking.
    made = zip(addresses, ranking.scores, ranking.rows, repeat(ranked), strict=False)
    return list(map(partial(tuple.__new__, Hit), made))


def folded(found: Iterable[Hit], groups: Mapping[str, int]) -> list[Hit]:
    """Only the first hit of each group of copies."""
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
    scaled = [
        weights.get(facet, 0.0) if is_used else 0.0
        for facet, is_used in zip(FACETS, similarities.spoken, strict=True)
    ]
    largest = max(scaled)
    if not largest:
        return scaled
    scaled = [weight / largest for weight in scaled]  # first, or the smallest numbers would lose their digits
    total = sum(scaled)
    return [weight / total for weight in scaled]


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

"""Weights of the facets fitted to people's marks, shrunk to the usual ones.

Of every marked query, each good result is compared with each bad one by logistic regression on the difference
of their facets' similarities (Bradley and Terry 1952; Burges et al. 2005 for ranking), with a normal prior
around the usual weights.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from store.evaluation import gain
from store.evaluation.gain import Floats, Gain, Good
from store.records import FACETS, Facet
from store.search.golden_queries import parts_of
from store.search.query import Query
from store.search.ranking import FUSION
from store.search.search import Results

if TYPE_CHECKING:
    from store.reading.reader import Reader

_SLACK = 0.15  # deviation of the prior on each facet's share of the weights, which add up to 1
_LARGEST = 10.0  # what a slider reaches


@dataclass(frozen=True, slots=True)
class MarkedQuery:
    """The marked coins of one query: (n, 5) similarities, and which are good."""

    similarities: Floats
    good: Good


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightFit(Gain):
    """Fitted weights, and what they gain on the marks."""

    weights: Mapping[Facet, float]


def marked(reader: "Reader", kind: str, *, calibrated: bool, fused: bool) -> list[MarkedQuery]:
    """The marked queries of one kind ("text", "image-text" …) that have good and bad library coins."""
    found = []
    for line, judgements in reader.golden.judgements().items():
        parts = parts_of(line)
        if "-".join(sorted({part.kind for part in parts})) != kind:
            continue
        results = reader.search(Query(parts, top=1, calibrated=calibrated, fused=fused))
        rows = {address: row for row, address in enumerate(results.addresses) if address in judgements}
        good = np.array([judgements[address] for address in rows], dtype=np.bool_)
        if good.any() and not good.all():
            found.append(MarkedQuery(_features(results, np.array([*rows.values()])), good))
    return found


def fit(
    queries: Sequence[MarkedQuery], usual: Mapping[Facet, float], *, now: Mapping[Facet, float] | None = None
) -> WeightFit:
    """Weights for these marks, near the usual ones; compared with those in use `now`, by default the usual.

    Raises InvalidRecord, saying what is missing, for fewer than LEAST good or bad marks.
    """
    good = sum(int(query.good.sum()) for query in queries)
    bad = sum(len(query.good) for query in queries) - good
    gain.check_enough(good, bad)
    start, used = _as_shares(usual), _as_shares(now or usual)
    before = [query.similarities @ used for query in queries]
    found = gain.measure([query.good for query in queries], before, _left_out(queries, start))
    return WeightFit(
        marks=found.marks, before=found.before, after=found.after, error=found.error,
        weights=_as_sliders(_shares(queries, start), usual),
    )  # fmt: skip


def _features(results: Results, rows: NDArray[np.intp]) -> Floats:
    """(n, 5): what a unit of each facet's share adds to a coin's score (ranking.py)."""
    answer, centre, spread = results.answer, np.array(results.scale.centre), np.array(results.scale.spread)
    with answer.lock:
        answer.rescore(rows)
        values = (answer.rescored(rows).T - centre) / spread
    if results.query.fused and results.words is not None:
        shares = dict(zip(results.words.rows.tolist(), results.words.shares.tolist(), strict=True))
        own = np.array([shares.get(row, 0.0) for row in rows.tolist()])
        values += FUSION * np.outer(own, answer.deviations / spread)
    return np.asarray(values, dtype=np.float64)


def _as_shares(weights: Mapping[Facet, float]) -> Floats:
    values = np.array([weights.get(facet, 0.0) for facet in FACETS])
    return np.asarray(values / values.sum(), dtype=np.float64)


def _shares(queries: Sequence[MarkedQuery], start: Floats) -> Floats:
    """The facets' shares with the highest posterior probability."""
    from scipy.optimize import minimize

    differences, trust = _pairs(queries)
    if not len(differences):
        return start
    scale = float(np.std(differences @ start)) or 1e-6

    def loss(shares: Floats) -> tuple[float, Floats]:
        margin = differences @ shares / scale
        value = float(trust @ np.logaddexp(0.0, -margin) + np.sum((shares - start) ** 2) / (2 * _SLACK**2))
        slope = -(trust / (1 + np.exp(np.clip(margin, -500, 500)))) / scale
        return value, slope @ differences + (shares - start) / _SLACK**2

    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * len(start))
    total = float(found.x.sum())
    return np.asarray(found.x / total, dtype=np.float64) if total > 0 else start


def _pairs(queries: Sequence[MarkedQuery]) -> tuple[Floats, Floats]:
    """(p, 5) differences of good and bad coins, and how much each counts: as many as there are marks."""
    differences, trust = [np.zeros((0, len(FACETS)))], [np.zeros(0)]
    for query in queries:
        good, bad = query.similarities[query.good], query.similarities[~query.good]
        pairs = (good[:, None] - bad[None]).reshape(-1, len(FACETS))
        if len(pairs):
            differences.append(pairs)
            trust.append(np.full(len(pairs), len(query.good) / len(pairs)))
    return np.concatenate(differences), np.concatenate(trust)


def _left_out(queries: Sequence[MarkedQuery], start: Floats) -> list[Floats]:
    """The score of each mark by a fit without it."""
    places = [(at, row) for at, query in enumerate(queries) for row in range(len(query.good))]
    order = np.random.default_rng(0).permutation(len(places))
    scores = [np.zeros(len(query.good)) for query in queries]
    for fold in np.array_split(order, min(gain.FOLDS, len(places))):
        out = {places[number] for number in fold.tolist()}
        kept = []
        for at, query in enumerate(queries):
            stays = np.array([(at, row) not in out for row in range(len(query.good))])
            kept.append(MarkedQuery(query.similarities[stays], query.good[stays]))
        shares = _shares(kept, start)
        for at, row in out:
            scores[at][row] = queries[at].similarities[row] @ shares
    return scores


def _as_sliders(shares: Floats, usual: Mapping[Facet, float]) -> dict[Facet, float]:
    """The shares as sliders, in steps of 0.1; the largest stands where the largest stood."""
    top = min(_LARGEST, max(usual.values()))
    values = shares / shares.max() * top
    return {facet: math.floor(value * 10 + 0.5) / 10 for facet, value in zip(FACETS, values, strict=True)}

"""Weights of the facets fitted to people's marks, shrunk to the usual ones.

Of every marked query, each good result is compared with each bad one by logistic regression on the difference
of their facets' similarities (Bradley and Terry 1952; Burges et al. 2005 for ranking), with a normal prior
around the usual weights. The measure is nDCG over the marked coins alone. Each mark's score comes from a fit
that has not seen it (leave-one-out), and the gain has a 95 % interval by the bootstrap over marks.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from store.errors import InvalidRecord
from store.records import FACETS, Facet
from store.search.golden_queries import parts_of
from store.search.query import Query
from store.search.ranking import FUSION
from store.search.search import Results

if TYPE_CHECKING:
    from store.reading.reader import Reader

Floats = NDArray[np.float64]

LEAST = 4  # marks of each kind, below which no fit is tried
_FOLDS = 20  # with more marks, several are left out at once
_SLACK = 0.15  # deviation of the prior on each facet's share of the weights, which add up to 1
_DRAWS = 400
_LARGEST = 10.0  # what a slider reaches


@dataclass(frozen=True, slots=True)
class MarkedQuery:
    """The marked coins of one query: (n, 5) similarities, and which are good."""

    similarities: Floats
    good: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class WeightFit:
    """Fitted weights, and nDCG over the marked coins with the weights before and with these, left out."""

    weights: Mapping[Facet, float]
    marks: int
    before: float
    after: float
    error: float  # half the width of the gain's 95 % interval

    @property
    def why_not(self) -> str:
        """Why the weights should stay as they are; "" if these are better beyond chance."""
        gain = self.after - self.before
        figures = f"nDCG {self.before:.2f} → {self.after:.2f} on {self.marks} marks, leave-one-out"
        if gain < 0.005:
            return f"Nothing is gained: {figures}"
        if gain <= self.error:
            return f"The gain may be chance: {figures}, ± {self.error:.2f}. Mark more results"
        return ""


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
    if good < LEAST or bad < LEAST:
        raise InvalidRecord(
            f"mark {LEAST} results good (g) and {LEAST} bad (b) or more, both of the same question; "
            f"so far there are {good} good and {bad} bad"
        )
    start, used = _as_shares(usual), _as_shares(now or usual)
    marks = good + bad
    before = [query.similarities @ used for query in queries]
    after = _left_out(queries, start)
    gains = _bootstrap(queries, before, after)
    return WeightFit(
        _as_sliders(_shares(queries, start), usual),
        marks,
        _mean_ndcg(queries, before),
        _mean_ndcg(queries, after),
        float((np.quantile(gains, 0.975) - np.quantile(gains, 0.025)) / 2),
    )


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
    for fold in np.array_split(order, min(_FOLDS, len(places))):
        out = {places[number] for number in fold.tolist()}
        kept = []
        for at, query in enumerate(queries):
            stays = np.array([(at, row) not in out for row in range(len(query.good))])
            kept.append(MarkedQuery(query.similarities[stays], query.good[stays]))
        shares = _shares(kept, start)
        for at, row in out:
            scores[at][row] = queries[at].similarities[row] @ shares
    return scores


def _mean_ndcg(queries: Sequence[MarkedQuery], scores: Sequence[Floats]) -> float:
    return float(np.mean([_ndcg(query.good, own) for query, own in zip(queries, scores, strict=True)]))


def _ndcg(good: NDArray[np.bool_], scores: Floats) -> float:
    """nDCG over all these coins (Järvelin and Kekäläinen 2002); equal scores are taken worst first."""
    order = np.lexsort((good, -scores))
    discounts = 1 / np.log2(np.arange(2, len(good) + 2))
    return float(discounts[good[order]].sum() / discounts[: int(good.sum())].sum())


def _bootstrap(queries: Sequence[MarkedQuery], before: Sequence[Floats], after: Sequence[Floats]) -> Floats:
    """The gain in nDCG over samples of the marks with replacement."""
    random = np.random.default_rng(0)
    gains = []
    for _ in range(_DRAWS):
        each = []
        for query, old, new in zip(queries, before, after, strict=True):
            rows = random.integers(0, len(query.good), len(query.good))
            if query.good[rows].any() and not query.good[rows].all():
                each.append(_ndcg(query.good[rows], new[rows]) - _ndcg(query.good[rows], old[rows]))
        gains.append(np.mean(each) if each else 0.0)
    return np.array(gains)


def _as_sliders(shares: Floats, usual: Mapping[Facet, float]) -> dict[Facet, float]:
    """The shares as sliders, in steps of 0.1; the largest stands where the largest stood."""
    top = min(_LARGEST, max(usual.values()))
    values = shares / shares.max() * top
    return {facet: math.floor(value * 10 + 0.5) / 10 for facet, value in zip(FACETS, values, strict=True)}

"""The gain from people's marks of results: fitted weights, and shifted questions.

    Gain         nDCG over the marked coins before and after a change of the ranking
    WeightFit    weights of the facets fitted to the marks, shrunk to the usual ones
    shift_of     a question moved towards its good marks and away from its bad ones (Rocchio 1971)

The scores after a change come from fits and shifts that have not seen the mark (leave-one-out), so the gain
is that on coins without marks; its 95 % interval comes from the bootstrap over marks.

For the weights, of every marked query each good result is compared with each bad one by logistic regression
on the difference of their facets' similarities (Bradley and Terry 1952; Burges et al. 2005 for ranking), with
a normal prior around the usual weights.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from store.errors import InvalidRecord
from store.records import FACETS, Facet
from store.search.golden_queries import checked_line, parts_of
from store.search.query import Query, QueryShift
from store.search.query_syntax import Question, written
from store.search.ranking import FUSION, rank
from store.search.search import Results

if TYPE_CHECKING:
    from store.reading.reader import Reader

Floats = NDArray[np.float64]
Good = NDArray[np.bool_]  # (n,): which marked coins of a query are good

LEAST = 4  # marks of each kind, below which nothing is tried
FOLDS = 20  # with more marks, several are left out at once
_DRAWS = 400  # bootstrap samples for the gain's interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """nDCG over the marked coins before and after a change, which had not seen them."""

    marks: int
    before: float
    after: float
    error: float  # half the width of the gain's 95 % interval

    @property
    def rejection(self) -> str:
        """Why all should stay as it is; "" if the change is better beyond chance."""
        return self.no_gain or self.uncertainty

    @property
    def no_gain(self) -> str:
        """That nothing is gained; "" if something is."""
        return f"Nothing is gained: {self._figures}" if self.after - self.before < 0.005 else ""

    @property
    def uncertainty(self) -> str:
        """That the gain is within its interval; "" if it is beyond."""
        is_beyond = self.after - self.before > self.error
        return (
            ""
            if is_beyond
            else f"The gain may be chance: {self._figures}, ± {self.error:.2f}. Mark more results"
        )

    @property
    def _figures(self) -> str:
        return f"nDCG {self.before:.2f} → {self.after:.2f} on {self.marks} marks, leave-one-out"


def measure_gain(marks: Sequence[Good], before: Sequence[Floats], after: Sequence[Floats]) -> Gain:
    """The gain of the scores after over those before: (n,) for each query, as its marks."""
    gains = _bootstrap(marks, before, after)
    return Gain(
        marks=sum(map(len, marks)),
        before=_mean_ndcg(marks, before),
        after=_mean_ndcg(marks, after),
        error=float((np.quantile(gains, 0.975) - np.quantile(gains, 0.025)) / 2),
    )


def check_enough_marks(good: int, bad: int) -> None:
    """Raises InvalidRecord, saying what is missing, for fewer than LEAST good or bad marks."""
    if good < LEAST or bad < LEAST:
        raise InvalidRecord(
            f"mark at least {LEAST} results good and {LEAST} bad, both for the same query; "
            f"so far {good} good and {bad} bad"
        )


def _mean_ndcg(marks: Sequence[Good], scores: Sequence[Floats]) -> float:
    return float(np.mean([_ndcg(good, own) for good, own in zip(marks, scores, strict=True)]))


def _ndcg(good: Good, scores: Floats) -> float:
    """nDCG over all these coins (Järvelin and Kekäläinen 2002); equal scores are taken worst first."""
    order = np.lexsort((good, -scores))
    discounts = 1 / np.log2(np.arange(2, len(good) + 2))
    return float(discounts[good[order]].sum() / discounts[: int(good.sum())].sum())


def _bootstrap(marks: Sequence[Good], before: Sequence[Floats], after: Sequence[Floats]) -> Floats:
    """The gain in nDCG over samples of the marks with replacement."""
    random = np.random.default_rng(0)
    gains = []
    for _ in range(_DRAWS):
        each = []
        for good, old, new in zip(marks, before, after, strict=True):
            rows = random.integers(0, len(good), len(good))
            if good[rows].any() and not good[rows].all():
                each.append(_ndcg(good[rows], new[rows]) - _ndcg(good[rows], old[rows]))
        gains.append(np.mean(each) if each else 0.0)
    return np.array(gains)


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


def marked_queries(reader: "Reader", kind: str, *, calibrated: bool, fused: bool) -> list[MarkedQuery]:
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


def fit_weights(
    queries: Sequence[MarkedQuery], usual: Mapping[Facet, float], *, now: Mapping[Facet, float] | None = None
) -> WeightFit:
    """Weights for these marks, compared with those in use `now`. Raises InvalidRecord for too few."""
    good = sum(int(query.good.sum()) for query in queries)
    bad = sum(len(query.good) for query in queries) - good
    check_enough_marks(good, bad)
    start, used = _as_shares(usual), _as_shares(now or usual)
    before = [query.similarities @ used for query in queries]
    found = measure_gain([query.good for query in queries], before, _left_out(queries, start))
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
    for fold in np.array_split(order, min(FOLDS, len(places))):
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
    """The shares as sliders, in steps of 0.1; the largest keeps the largest value of `usual`."""
    top = min(_LARGEST, max(usual.values()))
    values = shares / shares.max() * top
    return {facet: math.floor(value * 10 + 0.5) / 10 for facet, value in zip(FACETS, values, strict=True)}


def shift_of(judgements: Mapping[str, bool]) -> QueryShift | None:
    """The shift by these marks, good or bad by address; None without a good one."""
    good = tuple(sorted(address for address, is_good in judgements.items() if is_good))
    bad = tuple(sorted(address for address, is_good in judgements.items() if not is_good))
    return QueryShift(good, bad) if good else None


def marks_of(reader: "Reader", question: Question) -> tuple[str, dict[str, bool]]:
    """The line that this question's marks belong to, and the marks; none if it cannot be repeated."""
    try:
        line = checked_line(written(question))
    except InvalidRecord:
        return "", {}
    return line, reader.golden.relevance_of(line)


def shift_of_question(reader: "Reader", question: Question) -> QueryShift | None:
    """The shift of this question by its marks as they are now."""
    return shift_of(marks_of(reader, question)[1])


def measured_shift(reader: "Reader", query: Query, judgements: Mapping[str, bool]) -> Gain:
    """The gain of shifting this query by the library's marks. Raises InvalidRecord for too few."""
    query = replace(query, shift=None)
    known = [address for _, address in reader.snapshot().rows_of(sorted(judgements))]
    good = np.array([judgements[address] for address in known], np.bool_)
    check_enough_marks(int(good.sum()), int((~good).sum()))
    after = np.zeros(len(known))
    order = np.random.default_rng(0).permutation(len(known))
    for fold in np.array_split(order, min(FOLDS, len(known))):
        out = {known[number] for number in fold.tolist()}
        seen = {address: judgements[address] for address in known if address not in out}
        after[fold] = _scores(reader, replace(query, shift=shift_of(seen)), [known[one] for one in fold])
    return measure_gain([good], [_scores(reader, query, known)], [after])


def _scores(reader: "Reader", query: Query, addresses: list[str]) -> Floats:
    """The scores of these library records, as without a filter."""
    results = reader.search(replace(query, filter=Query(query.parts).filter, top=1))
    row_of = {address: row for row, address in enumerate(results.addresses)}
    mask = np.zeros(len(results.addresses), np.bool_)
    mask[[row_of[address] for address in addresses]] = True
    ranking = rank(
        results.answer, query.sliders, top=len(addresses), mask=mask, scale=results.scale,
        words=results.words if query.fused else None, stand_in=results.pictures,
    )  # fmt: skip
    scores = dict(zip(ranking.rows, ranking.scores, strict=True))
    return np.array([scores.get(row_of[address], -np.inf) for address in addresses])

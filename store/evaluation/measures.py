"""How well a query is answered, and the mean over queries with its interval.

recall@k   the share of the relevant coins among the first k; of at most k, so that 1 can always be reached
MRR        the mean of 1 / rank of the first relevant coin (0 if none is among the results)
nDCG@k     Σ 1/log2(1 + rank) over the relevant coins among the first k, divided by its maximum
           (Järvelin and Kekäläinen 2002, with gains of 0 and 1)

Each with a 95 % interval by the bootstrap: a thousand samples of the queries with replacement.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_DRAWS = 1_000  # bootstrap samples of the queries for an interval


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over the queries with its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class EvaluationScores:
    """The measures of one setting over all queries."""

    recall: Figure
    mrr: Figure
    ndcg: Figure


def of_query(places: Sequence[int], right: int, *, k: int) -> tuple[float, float, float]:
    """Recall@k, reciprocal rank and nDCG@k of one query.

    `places` are the ranks of the relevant coins that were found, ascending from 1, of `right` that exist.
    """
    near = [place for place in places if place <= k]
    most = min(right, k)
    ideal = sum(1 / math.log2(1 + place) for place in range(1, most + 1))
    gain = sum(1 / math.log2(1 + place) for place in near)
    return len(near) / most, 1 / places[0] if places else 0.0, gain / ideal


def figure(scores: NDArray[np.float64]) -> Figure:
    """The mean of the queries' scores, (queries,), with its interval."""
    random = np.random.default_rng(1)  # the same draws for every setting, so that they can be compared
    means = scores[random.integers(0, len(scores), (_DRAWS, len(scores)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Figure(float(scores.mean()), float(low), float(high))

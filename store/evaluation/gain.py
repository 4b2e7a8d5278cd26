"""What a change of the ranking gains on people's marks: nDCG over the marked coins, with its interval.

The scores after the change come from fits that have not seen the mark (leave-one-out); the gain's 95 %
interval comes from the bootstrap over marks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.errors import InvalidRecord

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


def measure(marks: Sequence[Good], before: Sequence[Floats], after: Sequence[Floats]) -> Gain:
    """The gain of the scores after over those before: (n,) for each query, as its marks."""
    gains = _bootstrap(marks, before, after)
    return Gain(
        marks=sum(map(len, marks)),
        before=_mean_ndcg(marks, before),
        after=_mean_ndcg(marks, after),
        error=float((np.quantile(gains, 0.975) - np.quantile(gains, 0.025)) / 2),
    )


def check_enough(good: int, bad: int) -> None:
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

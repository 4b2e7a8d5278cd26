"""Where relevance drops: the place in a list of results after which the rest is no better than chance.

The best of many scores that come by chance have, whatever their distribution (with an exponential tail, as
all of the Gumbel kind have), spacings D_i = i · (s_i − s_(i+1)) that are independent and exponential with
one mean (Rényi, On the theory of order statistics, 1953). The largest share of their sum, g = max D_i / Σ
D_i, is then larger than x with probability at most n · (1 − x)^(n − 1) (Fisher, Tests of significance in
harmonic analysis, 1929: its first term). Where g is rarer than `CHANCE`, the list is cut after that i: what
stands above did not come by chance. Neither adding to all scores nor multiplying them changes the place,
and no cosine is "good".
"""

from collections.abc import Sequence

CHANCE = 0.05
MOST = 100  # of the best scores that are looked at
TAIL = 3  # of all records compared only the best third counts as the tail of their distribution
FEWEST = 8  # scores, below which nothing can be said


def drop(scores: Sequence[float], *, compared: int) -> int | None:
    """How many of these falling scores stand above the drop; None where there is none."""
    looked_at = min(len(scores), MOST, compared // TAIL)
    if looked_at < FEWEST:
        return None
    spacings = [i * (scores[i - 1] - scores[i]) for i in range(1, looked_at)]
    total, largest = sum(spacings), max(spacings)
    if not total or len(spacings) * (1 - largest / total) ** (len(spacings) - 1) >= CHANCE:
        return None
    return spacings.index(largest) + 1

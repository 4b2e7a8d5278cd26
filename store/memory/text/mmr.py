"""Maximal marginal relevance: relevant results that do not repeat each other.

Source: Carbonell and Goldstein 1998.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from store.memory.engine.errors import InvalidInput


def mmr_ranking(
    relevance: Sequence[float], vectors: NDArray[np.float32], *, k: int, trade_off: float
) -> list[int]:
    """The positions of the k best, in order.

    Each has the largest λ·relevance − (1 − λ)·(highest cosine to those before it). λ is `trade_off`: 1 ranks
    by relevance alone, 0 by novelty alone; the first is the most relevant in either case. Expects unit rows;
    ties go to the earlier position.
    """
    if not 0 <= trade_off <= 1:
        raise InvalidInput(f"λ has to be from 0 to 1, not {trade_off!r}")
    if not relevance:
        return []
    worth = np.asarray(relevance, dtype=np.float64)
    likest = np.full(len(worth), -np.inf)  # cosine to what was chosen so far
    left = np.ones(len(worth), np.bool_)
    chosen: list[int] = []
    while len(chosen) < min(k, len(worth)):
        values = trade_off * worth - (1 - trade_off) * likest if chosen else worth
        best = int(np.argmax(np.where(left, values, -np.inf)))
        chosen.append(best)
        left[best] = False
        likest = np.maximum(likest, vectors @ vectors[best])
    return chosen

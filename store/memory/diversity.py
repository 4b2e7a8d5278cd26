"""Maximal marginal relevance: what answers the question and does not only repeat what was chosen before."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from store.memory.errors import InvalidInput


def mmr_ranking(
    relevance: Sequence[float], vectors: NDArray[np.float32], *, k: int, trade_off: float
) -> list[int]:
    """The k best places in order: each has the greatest λ·relevance − (1 − λ)·(cosine to its likest before).

    λ is `trade_off`: 1 ranks by relevance alone, 0 by novelty alone; the first is the most relevant in
    either case. It is a ranking also where k is all of them. Unit rows; ties go to the earlier place.
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

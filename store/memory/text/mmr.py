"""Maximal marginal relevance: relevant results that do not repeat each other.

Source: Carbonell and Goldstein 1998.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from store.memory.engine.entries import Entries
from store.memory.engine.errors import InvalidInput
from store.memory.engine.resident import TEXT


def diverse_order(
    entries: Entries, ids: Sequence[str | None], relevance: Sequence[float], *, n: int, trade_off: float
) -> list[int]:
    """The positions of n of these entries by `mmr_ranking`; one without a vector is unlike every other."""
    known = entries.resident().of((id for id in ids if id), TEXT)
    size = len(next(iter(known.values()))) if known else 1
    vectors = np.zeros((len(ids), size), np.float32)
    for row, id in zip(vectors, ids, strict=True):
        if id in known:
            row[:] = known[id]
    return mmr_ranking(relevance, vectors, k=n, trade_off=trade_off)


def mmr_ranking(
    relevance: Sequence[float], vectors: NDArray[np.float32], *, k: int, trade_off: float
) -> list[int]:
    """The positions of the k best, in order.

    Each has the largest λ·relevance − (1 − λ)·(highest cosine to those before it). λ is `trade_off`: 1 ranks
    by relevance alone, 0 by novelty alone; the first is the most relevant in either case. Expects unit rows;
    ties go to the earlier position.

    Raises InvalidInput if λ is not from 0 to 1.
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

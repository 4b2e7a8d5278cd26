"""Maximal marginal relevance prefers diverse results."""

import numpy as np

from store.memory.text.mmr import mmr_ranking


def angle(degrees: float) -> list[float]:
    return [float(np.cos(np.radians(degrees))), float(np.sin(np.radians(degrees)))]


def test_mmr_prefers_diverse_results_and_ranks_all_when_k_is_large() -> None:
    vectors = np.array([angle(0), angle(1), angle(40)], np.float32)
    relevance = [1.0, 0.99, 0.8]
    assert mmr_ranking(relevance, vectors, k=3, trade_off=1.0) == [0, 1, 2]
    assert mmr_ranking(relevance, vectors, k=3, trade_off=0.5) == [0, 2, 1]
    assert mmr_ranking(relevance, vectors, k=2, trade_off=0.5) == [0, 2]
    assert mmr_ranking(relevance, vectors, k=9, trade_off=0.0) == [0, 2, 1]
    assert mmr_ranking([], vectors[:0], k=3, trade_off=0.5) == []

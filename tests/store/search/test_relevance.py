"""Where relevance drops: found where a few stand out, not found in what chance makes."""

import numpy as np
import pytest

from store.search.relevance import drop


def ranked(seed: int, *, standing_out: int, by: float = 0.0) -> list[float]:
    scores = np.random.default_rng(seed).normal(0, 0.05, 2_000)
    scores[:standing_out] += by
    return sorted(scores.tolist(), reverse=True)[:60]


def test_chance_alone_hardly_ever_has_a_drop() -> None:
    false_alarms = sum(drop(ranked(seed, standing_out=0), compared=2_000) is not None for seed in range(400))
    assert false_alarms <= 400 * 0.08


@pytest.mark.parametrize("number", [1, 3, 12, 30])
def test_a_few_that_stand_out_are_told_from_the_rest(number: int) -> None:
    found = [drop(ranked(seed, standing_out=number, by=0.8), compared=2_000) for seed in range(40)]
    assert sum(one == number for one in found) >= 38


def test_neither_scale_nor_place_of_the_scores_matters() -> None:
    scores = ranked(1, standing_out=5, by=0.8)
    assert drop([7 + 100 * score for score in scores], compared=2_000) == drop(scores, compared=2_000) == 5


@pytest.mark.parametrize("scores", [[], [0.5], [0.9, 0.1], [0.3] * 60])
def test_of_too_few_or_equal_scores_nothing_is_said(scores: list[float]) -> None:
    assert drop(scores, compared=2_000) is None

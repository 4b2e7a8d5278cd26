"""Measures of one query, and means with their intervals."""

import math

import numpy as np
import pytest

from store.evaluation import measures


@pytest.mark.parametrize(
    ("places", "right", "recall", "reciprocal", "gain"),
    [
        ((1,), 1, 1, 1, 1),
        ((2,), 1, 1, 1 / 2, 1 / math.log2(3)),
        ((), 1, 0, 0, 0),
        ((11,), 1, 0, 1 / 11, 0),
        ((1, 3), 2, 1, 1, (1 + 1 / 2) / (1 + 1 / math.log2(3))),
        (tuple(range(1, 11)), 40, 1, 1, 1),
    ],
    ids=["first", "second", "not found", "behind k", "two", "more than k"],
)
def test_a_query_is_measured_by_the_ranks_of_its_right_answers(
    places: tuple[int, ...], right: int, recall: float, reciprocal: float, gain: float
) -> None:
    assert measures.of_query(places, right, k=10) == pytest.approx((recall, reciprocal, gain))


def test_the_interval_of_a_mean_holds_it_and_narrows_with_more_queries() -> None:
    few, many = (measures.figure(np.tile([0.0, 1.0], count)) for count in (5, 500))
    for figure in (few, many):
        assert figure.low < figure.mean == 0.5 < figure.high
    assert many.high - many.low < (few.high - few.low) / 5


def test_equal_scores_have_an_interval_of_one_point() -> None:
    assert measures.figure(np.full(4, 0.25)) == measures.Figure(0.25, 0.25, 0.25)

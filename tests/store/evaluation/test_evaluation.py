"""Stored evaluations, which tags they find badly, and measures with their intervals."""

import math

import numpy as np
import pytest

from store.evaluation import evaluation
from store.evaluation.evaluation import Evaluation, PresetResult
from store.library import Library
from store.vectors.weights import ASKED, DEFAULT_PRESET
from tests.store.conftest import address, coin, written

pytestmark = pytest.mark.usefixtures("without_chroma")


def test_tags_are_scored_by_their_queries_with_the_worst_first(library: Library) -> None:
    tags = [["dog"], ["dog", "cat"], ["dog", "cat"], ["cat"], ["moon"]]
    library.add([coin(n, tags=labels, caption=written(str(n))) for n, labels in enumerate(tags)])
    library.approve([address(n) for n in range(5)])
    assert len(library.promote([address(n) for n in range(5)]).done) == 5
    for n in range(5):
        library.golden.save(f"query {n}", [address(n)])
    row = PresetResult("Default", False, ((1,), (2,), (), (3,), (1,)))
    lines = tuple(f"query {n}" for n in range(5))
    one = Evaluation("m", 0, lines, (1,) * 5, (), (row,))
    second = 1 / math.log2(3)
    assert list(one.gains(row)) == pytest.approx([1, second, 0, 0.5, 1])
    cat, dog = evaluation.by_tag(library, one, row)
    assert [(cat.tag, cat.queries), (dog.tag, dog.queries)] == [("cat", 3), ("dog", 3)], "moon has one query"
    assert cat.ndcg.mean == pytest.approx((second + 0.5) / 3)
    assert dog.ndcg.mean == pytest.approx((1 + second) / 3)
    assert 0 <= dog.ndcg.low < dog.ndcg.mean < dog.ndcg.high <= 1
    library.golden.delete("query 0")
    assert [one.tag for one in evaluation.by_tag(library, one, row)] == ["cat"], "dog has two queries left"


def test_the_usual_weights_have_the_name_of_the_page_also_in_an_earlier_evaluation(library: Library) -> None:
    assert DEFAULT_PRESET == "Default 4/3/2/1"
    assert "Reference" not in ASKED
    kept = Evaluation("m", 0, ("frog",), (1,), (), (PresetResult("Reference", False, ((1,),)),))
    evaluation.store(library, kept, actor="me")
    [found] = evaluation.stored(library)
    assert "| Default 4/3/2/1 |" in evaluation.format_table([found])
    assert "Reference" not in evaluation.format_table([found])


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
    assert evaluation.measures_of(places, right, k=10) == pytest.approx((recall, reciprocal, gain))


def test_the_interval_of_a_mean_holds_it_and_narrows_with_more_queries() -> None:
    few, many = (evaluation.figure(np.tile([0.0, 1.0], count)) for count in (5, 500))
    for figure in (few, many):
        assert figure.low < figure.mean == 0.5 < figure.high
    assert many.high - many.low < (few.high - few.low) / 5


def test_equal_scores_have_an_interval_of_one_point() -> None:
    assert evaluation.figure(np.full(4, 0.25)) == evaluation.Figure(0.25, 0.25, 0.25)

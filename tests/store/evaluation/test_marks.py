"""Weights are fitted to marks and questions shifted by them, measured on marks that were left out."""

import numpy as np
import pytest

from store.errors import InvalidRecord
from store.evaluation import marks
from store.evaluation.marks import (
    LEAST,
    MarkedQuery,
    fit_weights,
    measured_shift,
    shift_of,
    shift_of_question,
)
from store.library import Library
from store.records import CAPTION_FACETS, FACETS, Facet
from store.search.query import BAD, GOOD, Part, Query, QueryShift
from store.search.query_syntax import read
from tests.store.conftest import address, approved_with_caption

USUAL: dict[Facet, float] = {"entity": 4.0, "context": 3.0, "visual": 2.0, "emotions": 1.0}


def drawn_marks(count: int, telling: Facet | None, *, seed: int = 0, strength: float = 1.5) -> MarkedQuery:
    """Marks of a query where good and bad coins differ in one facet, or in none."""
    random = np.random.default_rng(seed)
    good = np.arange(count) % 2 == 0
    values = random.normal(0.3, 0.1, (count, len(FACETS)))
    if telling:
        values[good, FACETS.index(telling)] += 0.1 * strength
    return MarkedQuery(values, good)


def test_the_facet_that_tells_good_from_bad_gets_more_weight() -> None:
    found = fit_weights([drawn_marks(40, "emotions", strength=3)], USUAL)
    assert found.weights["emotions"] > USUAL["emotions"]
    assert found.weights["entity"] < USUAL["entity"] or found.weights["entity"] == max(found.weights.values())
    assert found.marks == 40
    assert found.after > found.before + found.error
    assert found.rejection == ""
    assert all(0 <= weight <= 4 for weight in found.weights.values()), "as far as the largest stood"


@pytest.mark.slow
def test_weights_that_are_in_use_already_gain_nothing() -> None:
    queries = [drawn_marks(40, "emotions", strength=3)]
    found = fit_weights(queries, USUAL)
    again = fit_weights(queries, USUAL, now=found.weights)
    assert again.weights == found.weights
    assert again.rejection


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_marks_that_say_nothing_are_refused_with_the_figures(seed: int) -> None:
    found = fit_weights([drawn_marks(20, None, seed=seed)], USUAL)
    assert found.rejection
    assert "20 marks, leave-one-out" in found.rejection


@pytest.mark.parametrize(("good", "bad"), [(0, 0), (LEAST - 1, 9), (9, LEAST - 1)])
def test_too_few_marks_are_refused_with_their_numbers(good: int, bad: int) -> None:
    one = MarkedQuery(np.ones((good + bad, 5)), np.arange(good + bad) < good)
    with pytest.raises(InvalidRecord, match=f"so far {good} good and {bad} bad"):
        fit_weights([one] if good + bad else [], USUAL)


@pytest.mark.slow
def test_marks_of_several_queries_are_fitted_together_and_never_compared_across_queries() -> None:
    low, high = drawn_marks(12, "context", seed=1, strength=4), drawn_marks(12, "context", seed=2, strength=4)
    shifted = MarkedQuery(high.similarities + 5.0, high.good)
    assert fit_weights([low, shifted], USUAL).weights == fit_weights([low, high], USUAL).weights


@pytest.mark.usefixtures("without_chroma")
def test_marks_are_read_with_the_similarities_that_the_page_ranks_by(library: Library) -> None:
    addresses = approved_with_caption(library, *range(6))
    library.promote(addresses)
    for number in range(6):
        library.golden.judge("text 1", address(number), number < 3)
    library.golden.judge(f"like:{address(0)}", address(1), True)
    (one,) = marks.marked_queries(library, "text", calibrated=False, fused=False)
    assert int(one.good.sum()) == 3
    assert one.similarities.shape == (6, 5)
    results = library.search(Query((Part(text="text 1"),)))
    row = results.addresses.index(address(1))
    hit = next(hit for hit in results.hits if hit.address == address(1))
    at = [row for row, each in enumerate(results.addresses) if each in addresses].index(row)
    present = [facet for facet in CAPTION_FACETS if hit.facets[facet].present]
    assert present
    for facet in present:
        assert one.similarities[at, FACETS.index(facet)] == pytest.approx(hit.facets[facet].cosine, abs=1e-6)


QUERY = Query((Part(text="text 1"),), top=12)


@pytest.fixture
def full(library: Library) -> Library:
    library.promote(approved_with_caption(library, *range(12)))
    return library


@pytest.mark.usefixtures("without_chroma")
def test_each_facet_adds_the_means_of_the_marked_coins_to_the_question(full: Library) -> None:
    shift = QueryShift((address(2), address(3), "not-in-the-library"), (address(4),))
    plain = {hit.address: hit for hit in full.search(QUERY).hits}
    examples = {
        one: {hit.address: hit for hit in full.search(Query((Part(like=address(one)),), top=12)).hits}
        for one in (2, 3, 4)
    }
    shifted = full.search(Query(QUERY.parts, top=12, shift=shift))
    assert len(shifted.hits) == 12, "marked coins stay among the results"
    compared = 0
    for hit in shifted.hits:
        if hit.address in (address(2), address(3), address(4)):
            continue  # a coin is not among the results of its own example
        for facet in CAPTION_FACETS:
            parts = [plain[hit.address].facets[facet].cosine]
            parts += [examples[one][hit.address].facets[facet].cosine for one in (2, 3, 4)]
            if None not in parts:
                asked, *near = [part for part in parts if part is not None]
                meant = asked + GOOD * (near[0] + near[1]) / 2 - BAD * near[2]
                assert hit.facets[facet].cosine == pytest.approx(meant / (1 + GOOD + BAD), abs=1e-5)
                compared += 1
    assert compared


@pytest.mark.usefixtures("without_chroma")
def test_marks_of_a_question_move_it_and_others_stay(full: Library) -> None:
    full.golden.judge("text 1", address(3), True)
    full.golden.judge("text 1", address(4), False)
    assert shift_of_question(full, read("text 1 tag:frog")) == QueryShift((address(3),), (address(4),))
    assert shift_of_question(full, read("text 2")) is None
    assert shift_of_question(full, read("picture")) is None, "an uploaded picture cannot be asked again"
    assert shift_of({address(4): False}) is None


@pytest.mark.usefixtures("without_chroma")
def test_a_shift_by_too_few_marks_is_refused_with_their_numbers(full: Library) -> None:
    marks = {address(number): number < 3 for number in range(12)}
    with pytest.raises(InvalidRecord, match="so far 3 good and 9 bad"):
        measured_shift(full, QUERY, marks)
    with pytest.raises(InvalidRecord, match="so far 0 good and 0 bad"):
        measured_shift(full, QUERY, {"not-in-the-library": True})


@pytest.mark.usefixtures("without_chroma")
def test_the_gain_is_that_of_marks_left_out(full: Library) -> None:
    marks = {address(number): number % 2 == 0 for number in range(12)}
    gain = measured_shift(full, QUERY, {**marks, "not-in-the-library": True})
    assert gain.marks == 12
    assert gain == measured_shift(full, QUERY, marks), "the same each time"
    seen = full.search(Query(QUERY.parts, top=12, shift=shift_of(marks)))
    good_first = [hit.address for hit in seen.hits][:6]
    assert gain.after < 1 or good_first != [address(number) for number in range(0, 12, 2)]
    assert gain.rejection, "these texts say nothing about good and bad"

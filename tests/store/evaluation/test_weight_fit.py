"""Weights are fitted to marks, measured on marks that the fit has not seen, and refused without a gain."""

import numpy as np
import pytest

from store.errors import InvalidRecord
from store.evaluation import weight_fit
from store.evaluation.gain import LEAST
from store.evaluation.weight_fit import MarkedQuery, fit
from store.library import Library
from store.records import CAPTION_FACETS, FACETS, Facet
from store.search.query import Part, Query
from tests.store.conftest import address, approved_with_caption

USUAL: dict[Facet, float] = {"entity": 4.0, "context": 3.0, "visual": 2.0, "emotions": 1.0}


def marks(count: int, telling: Facet | None, *, seed: int = 0, strength: float = 1.5) -> MarkedQuery:
    """Marks of a query where good and bad coins differ in one facet, or in none."""
    random = np.random.default_rng(seed)
    good = np.arange(count) % 2 == 0
    values = random.normal(0.3, 0.1, (count, len(FACETS)))
    if telling:
        values[good, FACETS.index(telling)] += 0.1 * strength
    return MarkedQuery(values, good)


def test_the_facet_that_tells_good_from_bad_gets_more_weight() -> None:
    found = fit([marks(40, "emotions", strength=3)], USUAL)
    assert found.weights["emotions"] > USUAL["emotions"]
    assert found.weights["entity"] < USUAL["entity"] or found.weights["entity"] == max(found.weights.values())
    assert found.marks == 40
    assert found.after > found.before + found.error
    assert found.rejection == ""
    assert all(0 <= weight <= 4 for weight in found.weights.values()), "as far as the largest stood"


@pytest.mark.slow
def test_weights_that_are_in_use_already_gain_nothing() -> None:
    queries = [marks(40, "emotions", strength=3)]
    found = fit(queries, USUAL)
    again = fit(queries, USUAL, now=found.weights)
    assert again.weights == found.weights
    assert again.rejection


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_marks_that_say_nothing_are_refused_with_the_figures(seed: int) -> None:
    found = fit([marks(20, None, seed=seed)], USUAL)
    assert found.rejection
    assert "20 marks, leave-one-out" in found.rejection


@pytest.mark.parametrize(("good", "bad"), [(0, 0), (LEAST - 1, 9), (9, LEAST - 1)])
def test_too_few_marks_are_refused_with_their_numbers(good: int, bad: int) -> None:
    one = MarkedQuery(np.ones((good + bad, 5)), np.arange(good + bad) < good)
    with pytest.raises(InvalidRecord, match=f"so far {good} good and {bad} bad"):
        fit([one] if good + bad else [], USUAL)


@pytest.mark.slow
def test_marks_of_several_queries_are_fitted_together_and_never_compared_across_queries() -> None:
    low, high = marks(12, "context", seed=1, strength=4), marks(12, "context", seed=2, strength=4)
    shifted = MarkedQuery(high.similarities + 5.0, high.good)
    assert fit([low, shifted], USUAL).weights == fit([low, high], USUAL).weights


@pytest.mark.usefixtures("without_chroma")
def test_marks_are_read_with_the_similarities_that_the_page_ranks_by(library: Library) -> None:
    addresses = approved_with_caption(library, *range(6))
    library.promote(addresses)
    for number in range(6):
        library.golden.judge("text 1", address(number), number < 3)
    library.golden.judge(f"like:{address(0)}", address(1), True)
    (one,) = weight_fit.marked(library, "text", calibrated=False, fused=False)
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

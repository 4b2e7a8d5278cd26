"""The threshold says of no list that it is enough when a better record is outside of it."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from store.records import FACETS
from store.search.candidates import CandidateSimilarities, FacetList, Pool, threshold
from store.search.ranking import RAW, Scale, rank


@settings(deadline=None, max_examples=300)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 12), st.booleans())
def test_what_is_proved_holds_for_every_record(seed: int, count: int, length: int, calibrated: bool) -> None:
    random = np.random.default_rng(seed)
    cosines = random.uniform(-1, 1, (5, count)).astype(np.float32)
    cosines[:, random.random(count) < 0.3] += 0.5
    cosines[3:][random.random((2, count)) < 0.4] = np.nan
    has = ~np.isnan(cosines)
    means = np.array(
        [own[mine].mean() if mine.any() else np.nan for own, mine in zip(cosines, has, strict=True)]
    )
    complete = has.all(axis=1).tolist()
    scale = (
        Scale(tuple(random.uniform(-0.5, 0.5, 5)), tuple(random.uniform(0.1, 2, 5))) if calibrated else RAW
    )
    weights = dict(zip(FACETS, random.choice([0.0, 0.5, 1.0, 4.0], 5), strict=True))
    addresses = [f"a{number:03}" for number in range(count)]
    whole = CandidateSimilarities(addresses, cosines, means=means, complete=complete, deviations=np.ones(5))
    exact = rank(whole, weights, top=3, scale=scale)

    lists, seen = {}, set()
    for number in range(5):
        order = sorted(np.flatnonzero(has[number]).tolist(), key=lambda row: -cosines[number, row])[:length]
        lists[number] = FacetList(
            [addresses[row] for row in order],
            float(cosines[number, order[-1]]) if order else -np.inf,
            is_whole=len(order) < length,
        )
        if weights[FACETS[number]]:
            seen.update(order)
    bound = threshold(lists, exact.shares, scale, means=means, complete=complete)
    outside = np.ones(count, np.bool_)
    outside[list(seen)] = False
    best = rank(whole, weights, top=1, mask=outside, scale=scale)
    assert not best.scores or best.scores[0] <= bound + 1e-6


def test_a_list_that_lacks_a_candidate_it_should_have_shows_a_gap() -> None:
    pool = Pool()
    pool.add(["a", "b", "c"], np.full((5, 3), np.array([0.9, 0.8, 0.1]), np.float32))
    pool.lists[0] = FacetList(["a"], 0.5)
    assert pool.gaps([0], among=None) == 1
    assert pool.gaps([0], among=np.array([True, False, True])) == 0
    pool.unlisted.add("b")
    assert pool.gaps([0], among=None) == 0, "it waits for the server"


def test_a_row_is_as_deep_as_the_shortest_list_that_has_it() -> None:
    pool = Pool()
    pool.add(["a", "b", "c"], np.zeros((5, 3), np.float32))
    pool.lists = {1: FacetList(["a", "b"]), 2: FacetList(["b"])}
    assert pool.depths([1, 2]).tolist() == [1, 1, 0]

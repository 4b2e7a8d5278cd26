"""Similarities are computed once for each query and reused by every slider."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.records import FACETS, Facet
from store.search.query import Part, Query
from store.search.search import NO_WEIGHT, Search
from store.search.similarities import Similarities
from store.vectors.matrices import Matrices, load
from tests.length import repeated
from tests.store.search.plain_search import (
    DIMENSIONS,
    PICTURES,
    WORDS,
    FiveWordEmbedder,
    Library,
    libraries,
    oracle,
    pairs_of,
    unit,
    weights,
)

pytestmark = pytest.mark.usefixtures("without_chroma", "way")


@settings(deadline=None, max_examples=50)
@given(libraries, st.sampled_from([*WORDS]), st.lists(weights, min_size=2, max_size=4))
def test_successive_slider_moves_give_the_same_scores_as_new_searches(
    library: Library, word: str, moves: list[dict[Facet, float] | None]
) -> None:
    search = Search(load(library.items(), dimensions=DIMENSIONS, block_rows=4), embedder=FiveWordEmbedder())
    for move in moves:
        query = Query((Part(text=word),), weights=move, top=3)
        expected = sorted(oracle(library, query).values(), reverse=True)[:3]
        assert [hit.score for hit in search.search(query).hits] == pytest.approx(expected, abs=1e-5)


def test_a_moved_slider_recomputes_no_embeddings_or_similarities() -> None:
    five_words = FiveWordEmbedder()
    asking = Search(load([("local-a", {"entity": unit(1)})], dimensions=DIMENSIONS), embedder=five_words)
    query = Query((Part(text="frog"), Part(image=PICTURES["red"])))
    before = asking.similarities(query)
    for weight in range(1, 5):
        asking.search(replace(query, weights={"entity": weight}))
    assert asking.similarities(replace(query, top=3)) is before
    assert five_words.requests == ["frog", "red"]


def test_a_change_in_another_tier_keeps_cached_similarities() -> None:
    matrices = load([("local-a", {"entity": unit(1)})], dimensions=DIMENSIONS, generation=3)
    asking = Search(matrices, embedder=FiveWordEmbedder())
    query = Query((Part(text="frog"),))
    before = asking.similarities(query)
    matrices.update([("local-pending", None)], generation=4)
    assert asking.similarities(query) is before
    assert matrices.snapshot().generation == 4


def test_zero_weights_return_no_hits_but_keep_the_similarities() -> None:
    asking = Search(
        load([("local-a", {"entity": unit(1)})], dimensions=DIMENSIONS), embedder=FiveWordEmbedder()
    )
    asking.search(Query((Part(text="frog"),)))
    results = asking.search(Query((Part(text="frog"),), weights={"entity": 0}))
    assert results.why_empty == NO_WEIGHT
    assert (results.hits, results.compared) == ([], 0)
    assert results.addresses == ("local-a",)
    assert results.answer.cosines(np.array([0]))[0, 1] == 1.0


def test_a_repeated_query_finds_new_records() -> None:
    five_words = FiveWordEmbedder()
    matrices = load([("local-a", {"entity": unit(0, 1)})], dimensions=DIMENSIONS)
    asking = Search(matrices, embedder=five_words)
    query = Query((Part(text="frog"),))
    assert pairs_of(asking.search(query)) == [("local-a", 0.0)]
    matrices.update([("local-b", {"entity": unit(1)})])
    assert pairs_of(asking.search(query)) == [("local-b", 1.0), ("local-a", 0.0)]
    matrices.update([("local-a", None)])
    assert pairs_of(asking.search(query)) == [("local-b", 1.0)]
    matrices.update([("local-b", {"entity": unit(0, 1)})])  # as many as before
    assert pairs_of(asking.search(query)) == [("local-b", 0.0)]
    assert five_words.requests == ["frog"]  # the model is not asked twice


@pytest.mark.slow
def test_searches_during_writes_see_a_consistent_snapshot() -> None:
    matrices = Matrices(dimensions=DIMENSIONS, block_rows=4)
    matrices.update([(f"local-{number}", {"entity": unit(1)}) for number in range(9)])
    asking = Search(matrices, embedder=FiveWordEmbedder())
    finished = threading.Event()
    torn: list[list[tuple[str, float]]] = []
    counts = [0, 0]

    def reader(number: int) -> None:
        while not finished.is_set() or not counts[number]:
            word = ("frog", "dog")[counts[number] % 2]
            found = pairs_of(asking.search(Query((Part(text=word),))))
            if len(found) != 9 or len({score for _, score in found}) != 1:
                torn.append(found)
            counts[number] += 1

    threads = [threading.Thread(target=reader, args=[number]) for number in range(2)]
    for thread in threads:
        thread.start()
    for version in range(repeated(500, least=100)):
        matrices.update([(f"local-{number}", {"entity": unit(1, version)}) for number in range(9)])
    finished.set()
    for thread in threads:
        thread.join()
    assert torn == []


@settings(deadline=None, max_examples=50)
@given(libraries, st.sampled_from([*WORDS]), st.floats(-1, 1), st.booleans())
def test_whether_a_cosine_is_exceeded_is_the_same_before_and_after_a_ranking(
    library: Library, word: str, floor: float, is_ranked: bool
) -> None:
    search = Search(load(library.items(), dimensions=DIMENSIONS, block_rows=4), embedder=FiveWordEmbedder())
    query = Query((Part(text=word),), top=1)
    similarities = search.similarities(query)
    if is_ranked:
        search.search(query)
    is_exceeded = similarities.exceeds(floor, (1, 2, 3, 4), None)
    cosines = similarities.cosines(np.arange(len(library)))[:, 1:]
    best = float(np.nanmax(cosines)) if np.isfinite(cosines).any() else -1.0
    if abs(best - floor) > 0.02:  # apart from the error of bytes
        assert is_exceeded == (best > floor)


def test_cosines_of_rows_in_any_order_are_theirs() -> None:
    random = np.random.default_rng(1)
    vectors = random.standard_normal((100, 8), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = ((f"local-{row}", {"image": one}) for row, one in enumerate(vectors))
    snapshot = load(rows, dimensions=8, block_rows=16).snapshot()
    order = random.permutation(100)[:40]
    found = Similarities(snapshot, {"image": vectors[0]}).cosines(order)
    assert np.allclose(found[:, 0], vectors[order] @ vectors[0], atol=1e-6)


# -- answered from a bound first, compared in full while the hand rests --------------------------------------


ASKED = Query((Part(text="frog"),), top=5)


@pytest.fixture
def larger(monkeypatch: pytest.MonkeyPatch) -> Search:
    """Of 300 records, which are many here."""
    monkeypatch.setattr("store.search.similarities.FEW", 100)
    random = np.random.default_rng(3)
    vectors = random.standard_normal((300, len(FACETS), DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=-1, keepdims=True)
    rows = [(f"local-{at:03}", dict(zip(FACETS, own, strict=True))) for at, own in enumerate(vectors)]
    return Search(load(rows, dimensions=DIMENSIONS), embedder=FiveWordEmbedder())


def test_the_first_answer_is_from_the_bound_and_the_next_from_all_cosines(larger: Search) -> None:
    first = larger.search(ASKED)
    assert 5 <= first.certainty.candidates < 300
    moved = larger.search(Query(ASKED.parts, weights={"visual": 1.0}, top=5))
    assert moved.certainty.candidates == 0, "none was left out"
    cosines = first.answer.everything
    assert [hit.score for hit in moved.hits] == sorted(cosines[FACETS.index("visual")], reverse=True)[:5]
    again = larger.search(ASKED)
    assert [(hit.address, hit.score) for hit in again.hits] == [
        (hit.address, hit.score) for hit in first.hits
    ]


def test_a_question_that_a_later_one_overtook_is_compared_in_full_when_it_is_asked_again(
    larger: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Future[object]] = []

    def never(work: Callable[[], object]) -> Future[object]:
        begun.append(Future())
        return begun[-1]

    monkeypatch.setattr("store.search.similarities.in_background", never)
    first = larger.search(ASKED)
    larger.search(Query((Part(text="dog"),), top=5))
    assert [one.cancelled() for one in begun] == [True, False]
    again = larger.search(ASKED)
    assert again.certainty.candidates == 0
    assert [hit.address for hit in again.hits] == [hit.address for hit in first.hits]


def test_a_library_that_is_too_large_for_it_goes_on_by_the_bound(
    larger: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.search.similarities.RESTING", 200)
    assert larger.search(ASKED).certainty.candidates
    again = larger.search(ASKED)
    assert again.certainty.candidates
    assert again.answer.everything is None

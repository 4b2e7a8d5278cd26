"""Search compared with a plain implementation of the score."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from store.errors import BadPicture, UnknownRecord
from store.records import FACETS
from store.search.query import Part, Query
from store.search.ranking import Scale
from store.search.search import Search, describe
from store.vectors.matrices import load
from tests.store.search.plain_search import (
    DIMENSIONS,
    FiveWordEmbedder,
    Library,
    copies,
    libraries,
    oracle,
    queries,
    scales,
    search,
    similarity,
    unit,
    with_copies,
)

pytestmark = pytest.mark.usefixtures("without_chroma", "way")


@settings(deadline=None)
@given(libraries, copies, queries, st.data())
def test_order_scores_and_explanations_match_the_oracle(
    plain: Library, pairs: list[tuple[str, str]], query: Query, data: st.DataObject
) -> None:
    library = with_copies(plain, pairs)
    among = data.draw(st.none() | st.lists(st.sampled_from(sorted(library)), unique=True))
    results = search(library, query, among=among)
    expected = oracle(library, query, among=among)

    assert results.exact
    found = [hit.address for hit in results.hits]
    assert len(set(found)) == len(found) == min(query.top, len(expected))
    assert [hit.score for hit in results.hits] == pytest.approx([expected[hit] for hit in found], abs=1e-5)
    assert [hit.score for hit in results.hits] == sorted((hit.score for hit in results.hits), reverse=True)
    missed = [score for address, score in expected.items() if address not in found]
    if missed:
        assert results.hits[-1].score >= max(missed) - 1e-5

    asked = set(library if among is None else among) - {part.like for part in query.parts}
    if any(query.sliders.values()):
        assert results.compared == len(expected)
        assert results.compared + results.without_facets == len(asked)
    assert bool(results.why_empty) == (not results.hits)

    for hit in results.hits:
        assert sum(given.contribution for given in hit.facets.values()) == pytest.approx(hit.score, abs=1e-9)
        for facet, (present, value, weight, contribution) in hit.facets.items():
            cosine = similarity(library, query, hit.address, facet)
            assert present == (cosine is not None)
            assert value == (None if cosine is None else pytest.approx(cosine, abs=1e-5))
            assert weight == query.sliders[facet]
            if weight == 0:
                assert contribution == 0


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(libraries, queries, scales, st.integers(1, 4))
def test_calibrated_scores_match_the_oracle(library: Library, query: Query, scale: Scale, top: int) -> None:
    matrices = load(library.items(), dimensions=DIMENSIONS, block_rows=4)
    hits = Search(matrices, embedder=FiveWordEmbedder()).search(replace(query, top=top), scale=scale).hits
    expected = oracle(library, query, scale=scale)
    assert [hit.score for hit in hits] == pytest.approx([expected[hit.address] for hit in hits], abs=1e-4)
    assert [hit.score for hit in hits] == pytest.approx(
        sorted(expected.values(), reverse=True)[:top], abs=1e-4
    )
    for hit in hits:
        assert sum(given.contribution for given in hit.facets.values()) == pytest.approx(hit.score, abs=1e-9)


@pytest.mark.slow
@settings(deadline=None)
@given(libraries, queries)
def test_results_contain_everything_needed_to_rank_them_again(library: Library, query: Query) -> None:
    results = search(library, replace(query, top=1_000))
    assume(results.hits)
    row_of = {address: row for row, address in enumerate(results.addresses)}
    assert set(row_of) == set(library)
    similarities = results.answer.cosines(np.arange(len(library)))
    assert similarities.shape == (len(library), 5)
    assert similarities.dtype == np.float32
    used = [
        number
        for number, f in enumerate(FACETS)
        if query.sliders[f] and not math.isnan(results.means[number])
    ]
    total = sum(query.sliders[FACETS[number]] for number in used)
    for hit in results.hits:
        own = [float(value) for value in similarities[row_of[hit.address]]]
        filled = [results.means[number] if math.isnan(own[number]) else own[number] for number in range(5)]
        score = sum(query.sliders[FACETS[number]] * filled[number] for number in used) / total
        assert hit.score == pytest.approx(score, abs=1e-12)


def test_an_example_outside_the_library_is_unknown() -> None:
    with pytest.raises(UnknownRecord, match="local-gone"):
        search({}, Query((Part(like="local-gone"),)))


def test_bytes_that_are_not_a_picture_are_refused() -> None:
    with pytest.raises(BadPicture):
        search({"local-a": {"image": unit(1)}}, Query((Part(image=b"not a picture"),)))


def test_it_says_how_few_were_compared_in_full_and_why_nothing_was_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    random = np.random.default_rng(3)
    rows = [
        (f"local-{number:04}", {"entity": unit_row / np.linalg.norm(unit_row)})
        for number, unit_row in enumerate(random.standard_normal((500, DIMENSIONS)).astype(np.float32))
    ]
    query = Query((Part(text="frog"),), top=5)
    monkeypatch.setattr("store.search.similarities.FEW", 400)
    by_bytes = Search(load(rows, dimensions=DIMENSIONS), embedder=FiveWordEmbedder()).search(query)
    monkeypatch.setattr("store.search.similarities.FEW", 600)
    in_full = Search(load(rows, dimensions=DIMENSIONS), embedder=FiveWordEmbedder()).search(query)
    assert [hit.address for hit in by_bytes.hits] == [hit.address for hit in in_full.hits]
    assert by_bytes.exact
    assert 5 <= by_bytes.certainty.candidates < 100
    assert describe(by_bytes.certainty).startswith(f"exact: {by_bytes.certainty.candidates} compared in full")
    assert describe(in_full.certainty) == ""

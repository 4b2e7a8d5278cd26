"""Search with candidates from lists, compared with the exact search of the same library."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.catalog.filters import Filter
from store.catalog.words import WordShares
from store.chroma.follower import ChromaFollower
from store.chroma.server import EVERYTHING, Limits, Nearest, ServerLists
from store.embedding.protocol import Vector
from store.library import Library
from store.records import FACETS, Facet
from store.runtime import open_library
from store.search import server_search
from store.search.query import Part, Query
from store.search.ranking import RAW, Scale, rank
from store.search.resident import LibraryFactsReader
from store.search.search import NO_WEIGHT, NOTHING_THERE, Results
from store.search.server_search import FacetList, Pool, ServerSearch, threshold
from store.search.similarities import QueryDirections, Similarities
from tests.store.conftest import address, approved_with_own_words, fresh_root
from tests.store.hashed import Hashed

pytestmark = pytest.mark.usefixtures("without_chroma")

WORDS = WordShares({}, ("nowhere",))  # of no record


class ExactLists(ServerLists):
    """Lists as an index without gaps gives them; `most` and `missing` make it worse."""

    most: int | None = None

    def __init__(self, library: Library) -> None:
        self.missing: set[str] = set()
        self.asked: list[tuple[int, Limits]] = []
        snapshot = library.snapshot()
        self._vectors = {one: snapshot.vectors(one) for one in snapshot.addresses}

    def nearest(
        self, directions: Mapping[Facet, Vector], *, n: int, limits: Limits = EVERYTHING
    ) -> dict[Facet, Nearest]:
        self.asked.append((n, limits))
        found, named = {}, limits.get("uuid", {}).get("$in")
        for facet, direction in directions.items():
            own = [
                (one, float(vectors[facet] @ direction))
                for one, vectors in self._vectors.items()
                if facet in vectors and one not in self.missing and (named is None or one in named)
            ]
            own.sort(key=lambda each: -each[1])
            found[facet] = [one for one, _ in own[:n]], [cosine for _, cosine in own[:n]]
        return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eighty records, half of them without one of the facets; to be copied."""
    root = fresh_root(tmp_path_factory.mktemp("made") / "res")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ChromaFollower, "wake", lambda self: None)
        with open_library(root, embedder=Hashed()) as library:
            addresses = approved_with_own_words(library, *range(80))
            for one in addresses[::2]:
                library.caption(one, caption={"emotions": f"mood of {one}"})
            library.promote(addresses)
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "res"))


@pytest.fixture
def stocked(library: Library, monkeypatch: pytest.MonkeyPatch) -> Library:
    """The eighty records; lists start at eight entries."""
    monkeypatch.setattr(server_search, "FIRST", 8)
    monkeypatch.setattr(server_search, "MOST", 32)
    monkeypatch.setattr(server_search, "_ALL_COMPARED", 4)
    return library


@pytest.fixture
def lists(stocked: Library) -> ExactLists:
    return ExactLists(stocked)


def searched(library: Library, lists: ExactLists) -> ServerSearch:
    embedder = library.embedder
    facts = LibraryFactsReader(library.catalog, library.layout, library._model, library._disk).facts()
    with library.catalog.writing() as db:
        db.execute("DELETE FROM chroma_queue")  # as if the server had everything
    return ServerSearch(library.catalog, lists, facts, QueryDirections(embedder), embedder)


def question(*parts: Part, **more: Any) -> Query:
    return Query(parts or (Part(text="text 7"),), **{"top": 3, **more})


def first_results(library: Library, search: ServerSearch, query: Query, **more: Any) -> Results:
    """The server's answer, which must be that of the exact search unless it says "approximate"."""
    found = search.search(query, scale=library.calibration.scale(query), **more)
    exact = library.search(query)
    if found.certainty.level != "approximate":
        assert [hit.address for hit in found.hits] == [hit.address for hit in exact.hits]
    scores = {hit.address: hit.score for hit in library.search(replace(query, top=1_000)).hits}
    for hit in found.hits:
        assert hit.score == pytest.approx(scores[hit.address], abs=1e-6)
        assert sum(
            part.contribution for part in hit.facets.values()
        ) + hit.words.contribution == pytest.approx(hit.score)
    assert found.means == pytest.approx(exact.means, abs=1e-6, nan_ok=True)
    return found


@pytest.mark.parametrize(
    "query",
    [
        question(),
        question(Part(text="text 7"), Part(text="text 9", weight=-0.7)),
        question(Part(like=address(3))),
        question(Part(text="text 7", facets=("entity",)), Part(text="text 8")),
        question(weights={"entity": 1.0, "emotions": 5.0}),
    ],
    ids=["text", "minus", "example", "part of one facet", "facet that half of them lack"],
)
def test_the_first_results_are_those_of_the_exact_search(
    stocked: Library, lists: ExactLists, query: Query
) -> None:
    found = first_results(stocked, searched(stocked, lists), query)
    assert found.certainty.level in ("proved", "stable")
    assert found.certainty.candidates < 80
    assert found.certainty.candidates == len(found.addresses)


def test_words_count_as_in_the_exact_search(stocked: Library, lists: ExactLists) -> None:
    query = question(Part(text="text 7"), fused=True)
    words = stocked._matches.words(query)
    assert words.shares
    found = first_results(stocked, searched(stocked, lists), query, words=words)
    assert found.hits[0].address == address(7)
    assert found.hits[0].words.contribution


def test_moved_weights_ask_the_server_only_for_what_is_missing(stocked: Library, lists: ExactLists) -> None:
    search = searched(stocked, lists)
    entity = question(weights={"entity": 1.0})
    first = first_results(stocked, search, entity)
    asked = len(lists.asked)
    again = first_results(stocked, search, entity)
    assert len(lists.asked) == asked
    assert again.answer is first.answer, "the page keeps what it has"
    first_results(stocked, search, question(weights={"emotions": 1.0}))
    assert len(lists.asked) > asked


def test_a_short_filter_is_compared_wholly_and_a_longer_one_passed_down(
    stocked: Library, lists: ExactLists
) -> None:
    search = searched(stocked, lists)
    few, many = [address(number) for number in range(4)], [address(number) for number in range(30)]
    assert search.search(question(), among=few).certainty.level == "exact"
    assert not lists.asked
    found = search.search(question(), among=many)
    assert {hit.address for hit in found.hits} <= set(many)
    assert lists.asked[0][1] == {"uuid": {"$in": many}}


def test_a_server_that_takes_no_names_is_told_the_times_of_a_filter(
    stocked: Library, lists: ExactLists
) -> None:
    lists.most = 16
    filter = Filter(tier="library", since=5, until=2_000_000_000)
    many = [address(number) for number in range(30)]
    found = searched(stocked, lists).search(question(filter=filter), among=many)
    assert {hit.address for hit in found.hits} <= set(many)
    times = [{"created_at": {"$gte": 5}}, {"created_at": {"$lte": 2_000_000_000}}]
    assert lists.asked[0][1] == {"$and": times}
    assert max(n for n, _ in lists.asked) == 16


def test_gaps_in_the_lists_are_noticed_and_nothing_is_called_proved(
    stocked: Library, lists: ExactLists, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_search, "FIRST", 32)
    whole = lists.nearest

    def with_a_gap(directions: Mapping[Facet, Vector], **named: Any) -> dict[Facet, Nearest]:
        found = whole(directions, **named)
        ids, cosines = found["entity"]
        gap = next(one for one in ids if one in found["context"][0])
        kept = [(one, cosine) for one, cosine in zip(ids, cosines, strict=True) if one != gap]
        return {**found, "entity": ([one for one, _ in kept], [cosine for _, cosine in kept])}

    assert searched(stocked, lists).search(question()).certainty.level == "proved"
    lists.nearest = with_a_gap  # type: ignore[method-assign]
    assert searched(stocked, lists).search(question()).certainty.level in ("stable", "approximate")


def test_a_cap_on_results_is_said(stocked: Library, lists: ExactLists) -> None:
    lists.most = 8
    found = searched(stocked, lists).search(question(top=40))
    assert found.certainty.level == "approximate"
    assert found.certainty.reason == "the server gives at most 8 results for a facet"


def test_what_the_server_does_not_have_yet_is_compared_too(stocked: Library, lists: ExactLists) -> None:
    best = stocked.search(question()).hits[0].address
    lists.missing = {best}
    search = searched(stocked, lists)
    with stocked.catalog.writing() as db:
        db.execute("INSERT INTO chroma_queue VALUES (?, 1)", [best])
    assert search.search(question()).hits[0].address == best


def test_what_the_library_has_no_more_is_no_result(stocked: Library, lists: ExactLists) -> None:
    best = stocked.search(question()).hits[0].address
    stocked.degrade([best])
    found = searched(stocked, lists).search(question())
    assert best not in found.addresses


def test_weights_of_zero_and_a_library_without_records_say_why_there_is_nothing(
    stocked: Library, lists: ExactLists
) -> None:
    search = searched(stocked, lists)
    nothing = dict.fromkeys(FACETS, 0.0)
    assert search.search(question(weights=nothing)).why_empty == NO_WEIGHT
    stocked.degrade(stocked.addresses(Filter(tier="library")))
    assert searched(stocked, lists).search(question()).why_empty == NOTHING_THERE


def test_a_result_keeps_its_candidates_while_another_tab_asks_for_more(
    stocked: Library, lists: ExactLists, monkeypatch: pytest.MonkeyPatch
) -> None:
    search, filter = searched(stocked, lists), stocked.addresses(Filter(tier="library"))
    query = Query((Part(text="text 7"),), weights={"entity": 1}, top=3)
    fits = ServerSearch._fits

    def meanwhile(*given: Any) -> bool:
        monkeypatch.setattr(ServerSearch, "_fits", fits)
        other = replace(query, weights={"emotions": 1, "visual": 1})
        search.search(other, among=filter, words=WORDS)
        return fits(*given)

    monkeypatch.setattr(ServerSearch, "_fits", meanwhile)
    found = search.search(query, among=filter, words=WORDS)
    later = search.search(query, among=filter, words=WORDS)
    assert len(later.addresses) > len(found.addresses)
    assert found.mask is not None
    assert len(found.mask) == len(found.addresses)


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
    whole = Similarities.exact(addresses, cosines, means=means, complete=complete, deviations=np.ones(5))
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

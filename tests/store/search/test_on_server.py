"""Search on a real Chroma server, which may be away, empty, or another library's."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from store.catalog.filters import Filter
from store.errors import MemedexError, NotInMemory, ServerUnavailable
from store.library import Library
from store.runtime import open_library, open_reader
from store.search import server_search
from store.search.query import Part, Query
from store.settings import settings
from tests.store.chroma.chroma_cloud import KEY, chroma_cloud
from tests.store.chroma.chroma_run import ChromaRun, follows
from tests.store.conftest import address, approved_with_own_words
from tests.store.hashed import Hashed

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("closed_connections")]

QUERY = Query((Part(text="text 7"),), top=5)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChromaRun]:
    """A server that the settings name, for collections and for search."""
    running = ChromaRun(tmp_path / "server")
    running.start()
    monkeypatch.setenv("MEMEDEX_CHROMA_URL", running.url)
    monkeypatch.setenv("MEMEDEX_SEARCH", "server")
    monkeypatch.setattr(server_search, "_ALL_COMPARED", 0)
    settings.cache_clear()
    yield running
    running.kill()
    monkeypatch.undo()
    settings.cache_clear()


def best(library: Library) -> list[str]:
    return [hit.address for hit in library.search(QUERY).hits]


def test_a_server_gives_the_results_of_the_search_in_memory(
    root: Path, embedder: Hashed, server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_own_words(library, *range(30)))
        assert follows(library)
        found = best(library)
        with open_reader(root, embedder=embedder) as reader:
            assert [hit.address for hit in reader.search(QUERY).hits] == found
        library.degrade(found[:1])
        assert best(library)[0] == found[1], "before the server knows of it, too"
    monkeypatch.setenv("MEMEDEX_SEARCH", "memory")
    settings.cache_clear()
    with open_library(root, embedder=embedder) as library:
        library.promote(found[:1])
        assert best(library) == found


def test_a_filter_may_pass_coins_that_lack_a_facet_or_are_not_on_the_server_yet(
    root: Path, embedder: Hashed, server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_search, "_WAITING", 0)
    addresses = [address(number) for number in range(30)]
    query = replace(QUERY, filter=Filter(tier="library", words="coin"))
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_own_words(library, *range(30)))
        library.caption(addresses[7], caption={"emotions": "the mood of a single one"})
        assert follows(library)
        found = [hit.address for hit in library.search(query).hits]
        assert found == best(library)
        server.kill()
        library.promote(approved_with_own_words(library, 31))
        server.start()
        with library._follower._using:  # it does not follow yet
            assert set(found) <= {address(31), *(hit.address for hit in library.search(query).hits)}


def test_a_server_that_goes_away_is_named_and_searched_again_when_it_is_back(
    root: Path, embedder: Hashed, server: ChromaRun
) -> None:
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_own_words(library, *range(30)))
        assert follows(library)
        found = best(library)
        server.kill()
        library.promote(approved_with_own_words(library, 31))  # the search has to ask again
        with pytest.raises(ServerUnavailable, match="does not answer"):
            library.search(QUERY)
        server.folder.rename(server.folder.with_name("lost"))
        server.start()
        assert follows(library)
        assert library.check_chroma() == []
        assert set(found) <= {*best(library), address(31)}


def test_a_server_without_our_collections_is_said(root: Path, embedder: Hashed, server: ChromaRun) -> None:
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_own_words(library, *range(3)))
        assert follows(library)
    server.kill()
    server.folder.rename(server.folder.with_name("lost"))
    server.start()
    with (
        open_reader(root, embedder=embedder) as reader,
        pytest.raises(ServerUnavailable, match="does not have"),
    ):
        reader.search(QUERY)


def test_chroma_cloud_is_searched_within_its_limits(
    root: Path, embedder: Hashed, server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    quota = 8
    with chroma_cloud(server, quota=quota, busy_every=1_000_000) as cloud:
        monkeypatch.setattr("store.chroma.server.CLOUD", "127.0.0.1")
        monkeypatch.setattr("store.chroma.server.CLOUD_BATCH", quota)
        monkeypatch.setattr(server_search, "_WITH_WORDS", 0)
        monkeypatch.setenv("MEMEDEX_CHROMA_URL", cloud.url)
        monkeypatch.setenv("MEMEDEX_CHROMA_API_KEY", KEY)
        settings.cache_clear()
        with open_library(root, embedder=embedder) as library:
            library.promote(approved_with_own_words(library, *range(30)))
            assert follows(library)
            dated = replace(QUERY, top=20, filter=Filter(tier="library", since=1, until=2_000_000_000))
            found = [library.search(query).certainty for query in (replace(QUERY, top=20), dated)]
            assert cloud.refused == []
            cloud.busy_every = 4
            while_busy = [library.search(Query((Part(text=f"text {n}"),), top=5)) for n in (8, 9)]
    assert {refusal.split()[0] for refusal in cloud.refused} == {"429"}
    assert [len(result.hits) for result in while_busy] == [5, 5], "a busy server is asked again"
    assert {one.level for one in found} == {"approximate"}
    assert {one.reason for one in found} == {f"the server gives at most {quota} results for a facet"}
    assert all(quota <= one.candidates <= 4 * quota for one in found)


def test_what_needs_all_vectors_says_so(root: Path, embedder: Hashed, server: ChromaRun) -> None:
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_own_words(library, *range(3)))
        library.prepare_search()
        for needs in (
            library.snapshot,
            lambda: library.maps.of("fused"),
            lambda: library.suggested_tags(library.records([address(1)])),
            lambda: library.text_neighbours(address(1), "entity", "frog"),
        ):
            with pytest.raises(NotInMemory, match="MEMEDEX_SEARCH=memory"):
                needs()


def test_a_search_without_a_named_server_says_which_setting_is_missing(
    root: Path, embedder: Hashed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings(), "search", "server")
    monkeypatch.setattr(settings(), "chroma", "off")
    with (
        open_library(root, embedder=embedder) as library,
        pytest.raises(MemedexError, match="MEMEDEX_CHROMA_URL"),
    ):
        library.search(QUERY)

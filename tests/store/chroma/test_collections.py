"""The five collections follow every verb, and take no part in search."""

from pathlib import Path

import pytest

from store.catalog.filters import Filter
from store.chroma.collections import COLLECTIONS, own_files
from store.disk.layout import Layout
from store.search.query import Part, Query
from tests.store.chroma.breakages import open_collections, opened
from tests.store.conftest import address
from tests.store.hashed import Hashed
from tests.store.invariants import chroma_agrees_with_the_sidecars

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("eager_index", "comparison_in_own_process")]


def test_promoted_records_are_in_all_five_collections_with_six_fields(
    root: Path, embedder: Hashed, promoted: list[str]
) -> None:
    collections = open_collections(Layout(root).chroma)
    assert {facet: len(collections.ids(name)) for facet, name in COLLECTIONS.items()} == {
        "image": 3,
        "entity": 3,
        "context": 3,
        "visual": 3,
        "emotions": 0,
    }
    assert collections.metadata(COLLECTIONS["entity"], [address(1)])[address(1)] == {
        "name": "Coin 1",
        "ticker": "C1",
        "uuid": address(1),
        "tags": "dog",
        "tags_categories": "animals",
        "created_at": 1_700_000_001,
    }
    collections.close()


@pytest.mark.usefixtures("chroma_in_own_process")
def test_every_verb_reaches_chroma(root: Path, embedder: Hashed, promoted: list[str]) -> None:
    with opened(root, embedder) as library:
        library.degrade([address(1)])
        library.delete([address(2)])
        library.caption(address(3), caption={"visual": "", "emotions": "calm"}, tags=["moon", "cat"])
        assert library.wait_for_chroma(60)
    chroma_agrees_with_the_sidecars(root, embedder)
    with opened(root, embedder) as library:
        library.undo(3)
        assert library.wait_for_chroma(60)
        assert library.counts()["library"] == 3
    chroma_agrees_with_the_sidecars(root, embedder)


def test_promoting_a_record_removed_from_the_library_needs_no_model(
    root: Path, embedder: Hashed, promoted: list[str]
) -> None:
    requests = embedder.requests
    with opened(root, embedder) as library:
        assert library.degrade(promoted).done == promoted
        assert library.promote(promoted).done == promoted
        assert library.wait_for_chroma(60)
    assert embedder.requests == requests


def test_a_caption_edit_embeds_only_the_changed_facets(
    root: Path, embedder: Hashed, promoted: list[str]
) -> None:
    requests = embedder.requests
    with opened(root, embedder) as library:
        library.caption(address(1), caption={"entity": "something new"})
        assert embedder.requests == requests + 1
        library.edit_tags([address(1)], add=["moon"])
        assert embedder.requests == requests + 1


def test_chroma_is_not_opened_to_list_or_search(root: Path, embedder: Hashed, promoted: list[str]) -> None:
    before = {path: path.stat().st_mtime_ns for path in own_files(Layout(root).chroma)}
    with opened(root, embedder) as library:
        assert library.find(Filter(tier="library"))
        assert library.search(Query((Part(text="anything"),))).hits
        assert library._follower._chroma is None
        assert not library._follower.worker.has_begun, "closed cleanly: nothing to look after"
    assert {path: path.stat().st_mtime_ns for path in own_files(Layout(root).chroma)} == before


def test_a_moved_library_opens_without_starting_chroma(
    root: Path, embedder: Hashed, promoted: list[str], tmp_path: Path
) -> None:
    with opened(root.rename(tmp_path / "elsewhere"), embedder) as library:
        assert not library._follower.worker.has_begun

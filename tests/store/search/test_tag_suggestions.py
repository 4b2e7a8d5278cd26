"""Coins of every tier are suggested the tags of library coins that they resemble."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from store.catalog.filters import Filter
from store.library import Library
from store.progress import Progress
from store.records import Facet
from store.runtime import open_library
from store.search import tag_suggestions
from store.search.kernel import Floats
from store.search.tag_suggestions import TagSuggestions
from store.tasks import tags
from store.vectors.blocks import VectorSnapshot
from tests.store.conftest import address, coin, create_in_tier, written
from tests.store.search.test_picture_index import RedAngleEmbedder, shade

RED, DARK, UNKNOWN = address(20), address(21), address(22)
pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def library(root: Path) -> Iterator[Library]:
    """Six red and six dark coins in the library, tagged; one more of each that is pending."""
    with open_library(root, embedder=RedAngleEmbedder()) as library:
        reds = {number: 200 + number for number in range(6)}
        darks = {number: number for number in range(6, 12)}
        library.add(shade(number, red) for number, red in {**reds, **darks, 20: 206, 21: 5}.items())
        inside = [address(number) for number in (*reds, *darks)]
        library.approve(inside)
        for one in inside:
            library.caption(one, caption=written(f"text of {one}"))
        library.promote(inside)
        library.edit_tags([address(number) for number in reds], add=["ruby"])
        library.edit_tags([address(number) for number in darks], add=["night"])
        library._prefetcher.embed_next(Progress())
        yield library


def suggested(library: Library, *addresses: str) -> dict[str, list[str]]:
    found = library.suggested_tags(library.records(addresses))
    return {one: [each.tag for each in suggestions] for one, suggestions in found.items()}


def test_pending_coins_are_suggested_the_tags_of_library_coins_with_similar_pictures(
    library: Library,
) -> None:
    assert suggested(library, RED, DARK, UNKNOWN) == {RED: ["ruby"], DARK: ["night"]}


def test_a_tag_that_a_coin_has_is_not_suggested_and_new_tags_are_learned(library: Library) -> None:
    assert suggested(library, address(0)) == {address(0): []}
    library.edit_tags([address(0)], remove=["ruby"], add=["odd"])
    assert suggested(library, address(0)) == {address(0): ["ruby"]}


def _add(library: Library, one: str, random: Random) -> None:
    create_in_tier(library, "library", random.randrange(100, 10**9))


def _tag(library: Library, one: str, random: Random) -> None:
    library.edit_tags([one], add=random.sample(["dog", "cat", "moon", "frog"], 2))


def _untag(library: Library, one: str, random: Random) -> None:
    library.edit_tags([one], remove=library.get(one).tags)


def _rename(library: Library, one: str, random: Random) -> None:
    tags.rename(library, dict([random.sample(["dog", "cat", "moon", "frog"], 2)]))


def _delete(library: Library, one: str, random: Random) -> None:
    library.delete([one])
    library.trash.empty(expected=library.count(Filter(tier="trash")))


CHANGES: tuple[Callable[[Library, str, Random], object], ...] = (
    _add,
    _tag,
    _tag,
    _untag,
    _rename,
    _delete,
    lambda library, one, random: library.delete([one]),
    lambda library, one, random: library.degrade([one]),
    lambda library, one, random: library.caption(one, caption=written(f"text {random.random()}")),
    lambda library, one, random: library.add([coin(random.randrange(100, 10**9))]),
    lambda library, one, random: library.undo(random.randrange(1, 4)),
)


@pytest.mark.parametrize("largest", [12, 1_500])
def test_after_any_changes_tags_are_suggested_as_if_all_were_learned_from_nothing(
    library: Library, largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tag_suggestions, "_LARGEST", largest)
    create_in_tier(library, "library", *range(40, 60))
    random, seen = Random(1), 0
    for _ in range(80):
        inside = library.addresses(Filter(tier="library"))
        random.choice(CHANGES)(library, random.choice(inside), random)
        library._prefetcher.embed_next(Progress())
        records = library.find(Filter())
        from_nothing = TagSuggestions(
            library._pictures, snapshot=library.snapshot, sample=library.tagged_sample
        )
        expected, found = from_nothing.of(records), library.suggested_tags(records)
        assert found.keys() == expected.keys()
        for one, suggestions in expected.items():
            assert [each.tag for each in found[one]] == [each.tag for each in suggestions]
            confidences = [each.confidence for each in suggestions]
            assert [each.confidence for each in found[one]] == pytest.approx(confidences)
            seen += len(suggestions)
    assert seen > 100


def test_a_change_reads_the_vectors_of_the_coins_that_it_concerns(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    suggested(library, address(0), RED)
    read: list[int] = []
    side_by_side = tag_suggestions.side_by_side

    def counted(snapshot: VectorSnapshot, rows: NDArray[np.intp], facets: Sequence[Facet]) -> Floats:
        read.append(len(rows))
        return side_by_side(snapshot, rows, facets)

    monkeypatch.setattr(tag_suggestions, "side_by_side", counted)
    library.reject([DARK])
    suggested(library, address(0), RED)
    assert read == [1], "of the coin itself"
    library.edit_tags([address(1), address(2)], add=["odd"])
    suggested(library, address(0), RED)
    assert read == [1, 1, 2, 2], "of the coin itself; and of the two, by all facets and by picture"

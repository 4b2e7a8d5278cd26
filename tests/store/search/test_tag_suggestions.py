"""Coins of every tier are suggested the tags of library coins that they resemble."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.library import Library
from store.progress import Progress
from store.runtime import open_library
from tests.store.conftest import address, written
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

"""Tags are counted alike, whichever way is quicker."""

import pytest

from store.catalog.filters import Filter
from store.library import Library
from tests.store.conftest import address, coin

pytestmark = pytest.mark.usefixtures("without_chroma")


def test_tags_are_counted_alike_in_the_tier_of_most_coins_and_in_others(library: Library) -> None:
    tags = [["dog", "moon"], ["moon"], ["cat"], ["dog"], ["zebra", "moon"], []]
    for number, own in enumerate(tags):
        library.add([coin(number, tags=own)])
    library.approve([address(3), address(4)])
    assert list(library.tag_counts(Filter(tier="pending")).items()) == [("moon", 2), ("cat", 1), ("dog", 1)]
    assert list(library.tag_counts(Filter(tier="approved")).items()) == [
        ("dog", 1),
        ("moon", 1),
        ("zebra", 1),
    ]
    assert library.tag_counts(Filter(tier="trash")) == {}

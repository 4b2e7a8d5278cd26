"""An emoji stands for its name."""

import pytest

from store.catalog.emoji import in_words
from store.library import Library
from store.search.query import Query
from store.search.query_syntax import read


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("🐸", "frog"), ("🚀 to the 🌕", "rocket to the full moon"), ("👏🏽", "clapping hands sign"),
        ("🇺🇸", "us"), ("DOGE™ café", "DOGE™ café"), ("\u200d", "\u200d"), ("👨‍👩‍👧", "man woman girl"),
    ],
)  # fmt: skip
def test_an_emoji_is_replaced_by_its_name(text: str, message: str) -> None:
    assert in_words(text) == message


@pytest.mark.slow
def test_an_emoji_finds_the_same_coins_as_its_name(demo_library: Library) -> None:
    from store.reading.query_binding import parts_of

    parts, faults = parts_of(demo_library, read("🐸"), pictures=lambda name: None)
    assert not faults
    found = demo_library.search(Query(parts, top=5, fused=True))
    assert all("frog" in one.tags for one in demo_library.records(hit.address for hit in found.hits))

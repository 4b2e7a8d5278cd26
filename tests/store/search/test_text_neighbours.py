"""What a caption would sit next to while it is being typed, and whether it fits its own picture."""

from collections.abc import Callable

import pytest

from store.embedding.windows import reading
from store.errors import UnknownRecord
from store.library import Library
from tests.store.conftest import address
from tests.store.hashed import Hashed


def test_a_text_lies_next_to_the_record_that_says_the_same(
    library: Library, captioned: Callable[..., list[str]]
) -> None:
    library.promote(captioned(0, 1, 2))
    found = library.text_neighbours(address(0), "entity", "text 1 entity")
    assert found.neighbours[0] == (address(1), pytest.approx(1, abs=1e-5))
    assert address(0) not in dict(found.neighbours), "not next to itself"
    assert (found.compared, found.pictures) == (2, 3)
    assert library.text_neighbours(address(0), "emotions", "text 1 entity").neighbours == []


def test_agreement_is_the_cosine_with_its_own_picture_and_its_place_among_all(
    library: Library, captioned: Callable[..., list[str]], embedder: Hashed
) -> None:
    addresses = captioned(0, 1, 2, 3)
    library.promote(addresses[:3])
    found = library.text_neighbours(addresses[3], "context", "anything")
    assert found.agreement is not None
    assert found.place is not None
    assert 1 <= found.place <= found.pictures == 4
    asked = embedder.asked
    assert library.text_neighbours(addresses[3], "context", "anything") == found
    assert embedder.asked == asked, "text and picture are remembered"


def test_only_a_record_can_have_neighbours(library: Library) -> None:
    with pytest.raises(UnknownRecord):
        library.text_neighbours(address(0), "entity", "anything")


def test_a_long_text_is_read_in_windows_and_told_where_the_first_ends() -> None:
    model = Hashed()
    short = reading("a dog on the moon", model)
    assert (short.tokens, short.windows, short.first) == (7, 1, 17)
    text = "word " * 200
    long = reading(text, model)
    assert (long.tokens, long.limit, long.windows) == (202, 77, 4)
    assert len(text[: long.first].split()) == 75

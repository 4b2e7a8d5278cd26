"""The neighbours of a caption while it is typed, and its agreement with its own picture."""

from collections.abc import Callable

import pytest

from store.embedding.protocol import reading
from store.errors import UnknownRecord
from store.library import Library
from tests.store.conftest import address
from tests.store.hashed import Hashed


def test_the_nearest_neighbour_is_the_record_with_the_same_text(
    library: Library, captioned: Callable[..., list[str]]
) -> None:
    library.promote(captioned(0, 1, 2))
    found = library.text_neighbours(address(0), "entity", "text 1 entity")
    assert found.neighbours[0] == (address(1), pytest.approx(1, abs=1e-5))
    assert address(0) not in dict(found.neighbours), "not next to itself"
    assert (found.compared, found.pictures) == (2, 3)
    assert library.text_neighbours(address(0), "emotions", "text 1 entity").neighbours == []


def test_agreement_has_the_cosine_and_the_rank_of_the_coins_own_picture(
    library: Library, captioned: Callable[..., list[str]], embedder: Hashed
) -> None:
    addresses = captioned(0, 1, 2, 3)
    library.promote(addresses[:3])
    found = library.text_neighbours(addresses[3], "context", "anything")
    assert found.agreement is not None
    assert found.rank is not None
    assert 1 <= found.rank <= found.pictures == 4
    requests = embedder.requests
    assert library.text_neighbours(addresses[3], "context", "anything") == found
    assert embedder.requests == requests, "text and picture are remembered"


def test_neighbours_of_an_unknown_address_are_refused(library: Library) -> None:
    with pytest.raises(UnknownRecord):
        library.text_neighbours(address(0), "entity", "anything")


def test_a_long_text_is_split_into_windows_with_the_end_of_the_first() -> None:
    model = Hashed()
    short = reading("a dog on the moon", model)
    assert (short.tokens, short.windows, short.first) == (7, 1, 17)
    text = "word " * 200
    long = reading(text, model)
    assert (long.tokens, long.limit, long.windows) == (202, 77, 4)
    assert len(text[: long.first].split()) == 75

"""Coins as the cards of a page."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from components.grid.cards import card, created
from components.grid.coin import comparison
from store.library import Library
from store.runtime import open_library
from tests.store.conftest import address, coin, fresh_root
from tests.store.duplicates.copies import coin_with_drawing, drawing
from tests.store.hashed import Hashed

ORIGINAL, COPY = address(0), address(1)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with open_library(fresh_root(tmp_path / "res"), embedder=Hashed()) as library:
        copy = coin_with_drawing(1, drawing(0).resize((90, 90)), token_name="Соin 0", tags=["cat"])
        library.add([coin_with_drawing(0), copy, coin_with_drawing(2, ticker="OTHER")])
        library.reject([ORIGINAL], reason="scam", actor="ann")
        library.duplicates.examine()
        yield library


def test_a_card_names_the_coin_that_it_copies_with_the_figure_of_the_comparison(library: Library) -> None:
    [found] = library.duplicates.suspicions([COPY]).values()
    twin = card(library, library.get(COPY), unfit=frozenset(), suspicion=found)["twin"]
    assert (twin["text"], twin["tone"]) == ("copy of Coin 0", "warn")
    [other] = comparison(library, library.get(COPY))["others"]
    assert f"{other['figure']:.0%}" in twin["title"]


def test_the_same_ticker_alone_is_said_quietly_and_without_a_figure(library: Library) -> None:
    library.add([coin(8, ticker="OTHER")])
    library.duplicates.examine()
    [found] = library.duplicates.suspicions([address(8)]).values()
    twin = card(library, library.get(address(8)), unfit=frozenset(), suspicion=found)["twin"]
    assert (twin["text"], twin["tone"]) == ("same ticker as Coin 2", "quiet")
    assert "%" not in twin["title"]


def test_a_coin_without_a_time_of_its_own_is_imported_on_every_view(library: Library) -> None:
    undated = coin(51)
    del undated.sidecar["created_at"]
    library.add([coin(50, created_at=1_700_000_000), undated])
    own, imported = (library.get(address(number)) for number in (50, 51))
    assert created(own) == "Created 14 Nov 2023, 22:13 UTC"
    assert created(imported).startswith("Imported ")
    first, second = (card(library, record, unfit=frozenset()) for record in (own, imported))
    assert first["no_age"] is False
    assert (second["no_age"], second["created"]) == (True, created(imported))

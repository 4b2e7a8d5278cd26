"""Coins as a browser gets them: their large view, their fields, and the comparison with similar ones."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from components.grid.cards import card, comparison, created, details, label, shown_fields
from store.library import Library
from store.runtime import open_library
from tests.components.grid.decisions import decide, entry
from tests.store.conftest import address, coin, fresh_root
from tests.store.duplicates.copies import coin_with_drawing, drawing
from tests.store.hashed import Hashed

ORIGINAL, COPY = address(0), address(1)


def test_addresses_that_no_coin_has_are_left_out(library: Library) -> None:
    assert list(details(library, [address(0), "a\ud800", "unknown", ""])) == [address(0)]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with open_library(fresh_root(tmp_path / "res"), embedder=Hashed()) as library:
        copy = coin_with_drawing(1, drawing(0).resize((90, 90)), token_name="Соin 0", tags=["cat"])
        library.add([coin_with_drawing(0), copy, coin_with_drawing(2, ticker="OTHER")])
        library.reject([ORIGINAL], reason="scam", actor="ann")
        library.duplicates.examine()
        yield library


def test_a_comparison_shows_the_other_coin_with_its_tier_and_history(library: Library) -> None:
    found = comparison(library, COPY)
    assert found
    [other] = found["others"]
    assert (other["address"], other["tier"], other["verdict"]) == (ORIGINAL, "trash", None)
    assert "rejected by ann: scam" in other["since"]
    assert set(other["findings"]) == {"nearly the same picture", "names look alike"}
    own_name, its_name = other["names"]
    assert [text for text, differs, note in own_name if differs and note] == ["С", "о"]
    assert [text for text, *_ in its_name] == ["C", "o", "in 0"]
    labels = [label for label, *_ in other["fields"]]
    assert "Tags" in labels
    assert other["picture"] == "" or other["picture"].startswith("/pictures/")


def test_a_card_names_the_coin_that_it_copies_with_the_figure_of_the_comparison(library: Library) -> None:
    [found] = library.duplicates.suspicions([COPY]).values()
    twin = card(library, library.get(COPY), unfit=frozenset(), suspicion=found)["twin"]
    assert (twin["text"], twin["tone"]) == ("copy of Coin 0", "warn")
    [other] = (comparison(library, COPY) or {})["others"]
    assert f"{other['figure']:.0%}" in twin["title"]


def test_the_same_ticker_alone_is_said_quietly_and_without_a_figure(library: Library) -> None:
    library.add([coin(8, ticker="OTHER")])
    library.duplicates.examine()
    [found] = library.duplicates.suspicions([address(8)]).values()
    twin = card(library, library.get(address(8)), unfit=frozenset(), suspicion=found)["twin"]
    assert (twin["text"], twin["tone"]) == ("same ticker as Coin 2", "quiet")
    assert "%" not in twin["title"]


def test_a_verdict_is_stored_and_undone_and_an_unknown_one_refused(library: Library) -> None:
    judges = entry("judge", 1, others=[ORIGINAL])
    decide(library, {**judges, "reason": "copy of"})
    found = comparison(library, COPY)
    assert found
    assert found["others"][0]["verdict"] == "copy of"
    assert library.duplicates.suspicions([COPY]) == {}
    library.undo()
    assert COPY in library.duplicates.suspicions([COPY])
    [result] = decide(library, entry("judge", 1, others=[ORIGINAL], reason="stolen"))
    assert "no verdict" in result["refused"][0]["reason"]


def test_a_missing_coin_has_no_comparison(library: Library) -> None:
    assert comparison(library, "local-gone") is None


def test_keys_of_token_lists_are_shown_as_labels(library: Library) -> None:
    extensions = {"coingeckoId": "moon", "website": "https://moon.example"}
    library.add(
        [
            coin(
                50, tags=[], chainId=101, logoURI="https://moon.example/a.png", decimals=9,
                mint_authority="none", isVerified=True, aliases=["Moon", "Luna"], extensions=extensions,
            )
        ]
    )  # fmt: skip
    assert shown_fields(library.get(address(50))) == [
        ("Chain", "Solana (101)"),
        ("Logo", "https://moon.example/a.png"),
        ("Decimals", "9"),
        ("Mint authority", "none"),
        ("Is verified", "Yes"),
        ("Aliases", "Moon, Luna"),
        ("CoinGecko", "moon"),
        ("Website", "https://moon.example"),
    ]


@pytest.mark.parametrize(
    ("key", "shown"), [("logoURI", "Logo"), ("maxSupply", "Max supply"), ("NFT_id", "NFT id"), ("", "")]
)
def test_any_key_becomes_a_label(key: str, shown: str) -> None:
    assert label(key) == shown


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

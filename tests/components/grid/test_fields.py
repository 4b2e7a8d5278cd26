"""Fields beyond the schema are shown with labels, and times as created or imported."""

import pytest

from components.grid.cards import card
from components.grid.fields import created, label, shown_fields
from store.library import Library
from tests.store.conftest import address, coin


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

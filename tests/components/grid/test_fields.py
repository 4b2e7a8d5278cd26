"""What came with a coin is shown with labels, as numbers and as links."""

import pytest

from components.grid.fields import facts, label, shown_fields
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


def test_numbers_and_links_of_a_coin_are_shown_as_such(library: Library) -> None:
    size = {"bytes": 1234, "format": "PNG", "width": 48, "height": 40}
    links = [{"name": "x", "url": "https://x.example/f"}, {"type": "telegram", "url": "https://t.example/f"}]
    library.add([coin(50, tags=[], holder_count=12345, volume={"h24": 1000.5, "h6": 2}, links=links)])
    library.add([coin(51, tags=[], original_picture=size), coin(52, tags=[], original_picture={"bytes": 9})])
    assert shown_fields(library.get(address(50))) == [
        ("Holder count", "12,345"),
        ("Volume", "h24 1,000.5, h6 2"),
        ("X", "https://x.example/f"),
        ("Telegram", "https://t.example/f"),
    ]
    assert shown_fields(library.get(address(51))) == [("Original picture", "48 × 40 pixels, PNG, 1.2 kB")]
    assert shown_fields(library.get(address(52))) == [("Original picture", "9 bytes")]


@pytest.mark.parametrize(
    ("key", "shown"), [("logoURI", "Logo"), ("maxSupply", "Max supply"), ("NFT_id", "NFT id"), ("", "")]
)
def test_any_key_becomes_a_label(key: str, shown: str) -> None:
    assert label(key) == shown


def test_facts_are_numbers_and_links_alone_however_deep(library: Library) -> None:
    given = {
        "holders": "4369", "listed": "2024-05-01", "verified": True, "decimals": 9, "chainId": 101,
        "volume": {"h24": 1000.5, "h6": "2"}, "twitter": "https://x.example/a", "shop": "http://x.example",
        "extensions": {"website": "https://moon.example"}, "original_picture": {"width": 48, "format": "PNG"},
        "links": [{"type": "telegram", "url": "https://t.example/f"}, {"type": "bad", "url": "javascript:1"}],
    }  # fmt: skip
    library.add([coin(50, **given)])
    assert facts(library.get(address(50))) == {
        "Holders": 4369,
        "Decimals": 9,
        "Volume h24": 1000.5,
        "Volume h6": 2,
        "Twitter": "https://x.example/a",
        "Website": "https://moon.example",
        "Width": 48,
        "Telegram": "https://t.example/f",
    }

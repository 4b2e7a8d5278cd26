"""Exact matches of tickers, names and addresses, and suggestions for misspelt words."""

import time
from collections import Counter

import pytest

from store.catalog.filters import Filter
from store.library import Library
from store.reading.query_binding import did_you_mean, exact_matches
from store.search.query import Part, Query
from store.search.query_syntax import read
from tests.store.conftest import coin

IN_LIBRARY = Filter(tier="library")


EVM = "0x" + "ab12" * 10


BASE58 = "So11111111111111111111111111111111111111112"


def first(library: Library, line: str) -> list[str]:
    return [one.name for one in exact_matches(library, read(line), line, limit=5)]


# -- exact matches ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_demo_coin_is_found_first_by_ticker_name_and_address(demo_library: Library) -> None:
    coins = demo_library.find(IN_LIBRARY)
    assert len(coins) > 100
    tickers = Counter(one.ticker for one in coins)
    for one in coins:
        lines = (one.ticker, one.ticker.lower(), f"${one.ticker}", one.name, one.name.upper(), one.address)
        for line in lines:
            alike = tickers[one.ticker] if line in lines[:3] else 1  # several coins share their ticker
            found = exact_matches(demo_library, read(line, base=IN_LIBRARY), line, limit=10)
            assert one.address in {each.address for each in found[:alike]}, line
            named = demo_library.named(line, IN_LIBRARY, limit=10)
            assert one.address in {each.address for each in named[:alike]}, line


@pytest.mark.slow
def test_exact_matches_come_first_and_each_part_is_in_the_order_of_its_scores(demo_library: Library) -> None:
    results = demo_library.search(Query((Part(text="frog"),), top=5, fused=True))
    exact = {
        one.address for one in exact_matches(demo_library, read("frog", base=IN_LIBRARY), "frog", limit=5)
    }
    hits = results.exact_first(exact)
    assert (
        {hit.address for hit in hits[:2]}
        == exact
        == {"local-demo-frog-crown", "local-demo-frog-prince-regent"}
    )
    assert [hit.score for hit in hits] == pytest.approx([0.57, 0.44, 0.45, 0.42, 0.40], abs=0.005)
    assert results.hits == sorted(results.hits, key=lambda hit: -hit.score)


@pytest.mark.slow
def test_a_similar_name_is_not_an_exact_match(demo_library: Library) -> None:
    for line in ("skull", "Starry", "Starry Frog Coin", "STF", "local-demo-starry", "not there", "$", "***"):
        assert first(demo_library, line) == [], line


@pytest.fixture
def tricky_names(library: Library) -> Library:
    """Coins with names and addresses that are hard to match exactly."""
    given = (
        (EVM, "Café Pepe", "$CAFE"), (BASE58, "CAFE", "PEPE"), ("local-club", "Pepe Café Club", "PCC"),
        ("local-signs", "🐸", "🐸🐸"), ("local-quoted", 'The "Best": Coin', "BEST"),
    )  # fmt: skip
    report = library.add(
        [
            coin(number, token_address=address, token_name=name, ticker=ticker)
            for number, (address, name, ticker) in enumerate(given)
        ]
    )
    assert len(report.done) == len(given)
    return library


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (EVM, ["Café Pepe"]),
        (EVM.upper().replace("0X", "0x"), ["Café Pepe"]),
        (BASE58, ["CAFE"]),
        (BASE58.lower(), []),  # base58 is case-sensitive: another address
        ("cafe", ["Café Pepe", "CAFE"]),  # by ticker, then by name
        ("  CAFÉ  PEPE ", ["Café Pepe"]),
        ("pepe", ["CAFE"]),
        ("🐸", ["🐸"]),
        (f'"{BASE58}"', ["CAFE"]),
        (f"“{EVM.upper().replace('0X', '0x')}”", ["Café Pepe"]),
        (f'"{BASE58.lower()}"', []),
        ("PCC coin", ["Pepe Café Club"]),
        ("$pcc token", ["Pepe Café Club"]),
        ("ticker PCC", ["Pepe Café Club"]),
        ("Pepe Café Club coin", []),  # a name with a word more is another name
        ("coin", []),
        ('the "best": coin', ['The "Best": Coin']),  # although quotes mark a phrase in a line
    ],
)
def test_exact_matches_ignore_case_and_accents(tricky_names: Library, line: str, found: list[str]) -> None:
    assert first(tricky_names, line) == found


# -- spelling and emoji -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("frgo", "frog"), ("a Frgo in rain tag:dog", "a frog in rain tag:dog"), ("hamstre", "hamster"),
        ("pengiun", "penguin"), ("capibarra", "capybara"), ("vaporwve", "vaporwave"),
        ("frog", None), ("frogs", None), ("hams", None), ("sport", None), ("ein", None), ("xqzvkj", None),
        ("", None),
    ],
)  # fmt: skip
def test_misspelt_words_get_suggestions_from_the_library(
    demo_library: Library, line: str, meant: str | None
) -> None:
    assert did_you_mean(demo_library, read(line), line) == meant


def test_half_a_character_in_a_line_is_left_out(library: Library) -> None:
    library.add([coin(1)])
    for line in ("Coin 1\ud83d", "\udcffCoin 1"):
        assert first(library, line) == ["Coin 1"]
    assert first(library, "\ud83d") == []


def test_a_pasted_word_of_thousands_of_letters_takes_no_time_to_correct(library: Library) -> None:
    library.add([coin(1)])
    line = "yes" * 2_000
    began = time.process_time()
    assert did_you_mean(library, read(line), line) is None
    assert time.process_time() - began < 1

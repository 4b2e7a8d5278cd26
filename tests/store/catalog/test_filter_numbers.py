"""Numbers that came with coins filter them, whatever their fields are called."""

import pytest

from store.catalog.filter_syntax import corrected, parsed, written
from store.library import Library
from tests.store.conftest import coin


@pytest.fixture
def market(library: Library) -> Library:
    library.add(
        [
            coin(1, token_name="Small", volume_24h=900, holders="12"),
            coin(2, token_name="Large", stats={"volume24h": 2_500_000.5}, holders=4_000),
            coin(3, token_name="None", volume_24h="n/a"),
        ]
    )
    return library


def named(library: Library, line: str) -> set[str]:
    query = parsed(line)
    assert not query.faults
    return {record.name for record in library.find(query.filter)}


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("volume_24h:>10000", {"Large"}),
        ("volume24h:>100", {"Small", "Large"}),
        ("volume_24h:<=900", {"Small"}),
        ("holders:>=12 holders:<4k", {"Small"}),
        ("volume24h:>2.4m", {"Large"}),
        ("-volume24h:>100", {"None"}),
        ("(holders:>1k OR volume24h:<1k)", {"Small", "Large"}),
        ("supply:>0", set()),
    ],
)
def test_a_limit_finds_the_coins_that_have_such_a_number(market: Library, line: str, names: set[str]) -> None:
    assert named(market, line) == names


def test_a_limit_is_written_as_it_was_meant(market: Library) -> None:
    query = parsed("market_cap:>=1.5k frog")
    assert written(query.filter) == "marketcap:>=1500 frog"
    assert parsed(written(query.filter)).filter == query.filter


@pytest.mark.parametrize("line", ["lenght:>200", "volume:many", "volume:", "tagg:>5"])
def test_what_is_no_limit_or_resembles_a_known_filter_is_a_fault(line: str) -> None:
    assert "Unknown filter" in parsed(line).faults[0]
    assert corrected("lenght:>200") == "length:>200"

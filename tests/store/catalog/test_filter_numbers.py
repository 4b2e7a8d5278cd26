"""Numbers that came with coins filter them, whatever their fields are called."""

import pytest

from store.catalog.filter_syntax import corrected, parsed, written
from store.catalog.filters import Filter
from store.errors import InvalidRecord
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


def test_coins_are_ordered_by_a_number_the_largest_first(market: Library) -> None:
    orders = market.number_orders()
    assert orders["holders"] == "number:holders"
    assert "created_at" not in orders
    by_volume = orders["volume24h"]
    assert [one.name for one in market.find(Filter(), sort=by_volume)] == ["Large", "Small", "None"]
    market.add([coin(4, token_name="Huge", volume_24h=3_000_000)])
    assert [one.name for one in market.find(Filter(), sort=by_volume)] == ["Huge", "Large", "Small", "None"]
    found = market.find(parsed("volume24h:<1m").filter, sort=by_volume, limit=1)
    assert [one.name for one in found] == ["Small"]
    with pytest.raises(InvalidRecord, match="number:FIELD"):
        market.find(Filter(), sort="volume")

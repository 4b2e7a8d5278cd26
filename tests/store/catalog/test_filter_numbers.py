"""Numbers that came with coins filter them, whatever their fields are called."""

from dataclasses import replace

import pytest

from store.catalog.filter_syntax import corrected, parsed, written
from store.catalog.filters import Filter
from store.errors import InvalidRecord
from store.library import Library
from tests.store.conftest import address, coin, picture


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


def test_numbers_of_several_fields_belong_to_the_coins_that_have_all(market: Library) -> None:
    both = market.numbers(Filter(), "holders", "volume_24h")
    assert both == {address(1): (12, 900), address(2): (4_000, 2_500_000.5)}
    assert market.numbers(parsed("holders:>1k").filter, "holders") == {address(2): (4_000,)}
    assert market.numbers(Filter(), "nothing") == {}


def test_a_number_is_named_by_what_leads_to_it_where_others_have_its_key(library: Library) -> None:
    pair = {"volume": {"h24": 70, "h1": 3}, "price_change": {"h24": 900}}
    library.add([coin(1, **pair), coin(2, volume={"h24": 800}, price_change={"h24": 1})])
    orders = library.number_orders()
    assert {"volume h24", "price_change h24", "h1"} <= orders.keys()
    assert [one.name for one in library.find(Filter(), sort=orders["volume h24"])] == ["Coin 2", "Coin 1"]
    assert named(library, "volume_h24:>100") == {"Coin 2"}
    assert named(library, "h24:>850") == {"Coin 1"}


def test_columns_of_a_table_are_numbers_if_they_are_nothing_else(library: Library) -> None:
    table = {"Volume (24h)": "1250.5", "sold": "-2", "listed": "2024-05-01", "version": "1.2.3", "rank": ""}
    library.add([coin(1, **table, ticker="404", site="https://one.example", shop="http://two.example")])
    library.add([replace(coin(2), picture=picture(2))])  # with the bytes and the size of its original
    first = list(library.number_orders().items())[:2]
    assert first == [("Volume (24h)", "number:volume24h"), ("sold", "number:sold")]
    assert named(library, "volume24h:>1k sold:<0") == {"Coin 1"}

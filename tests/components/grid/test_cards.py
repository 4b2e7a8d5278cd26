"""The large view of coins that a browser names."""

from components.grid.cards import details
from store.library import Library
from tests.store.conftest import address


def test_addresses_that_no_coin_has_are_left_out(library: Library) -> None:
    assert list(details(library, [address(0), "a\ud800", "unknown", ""])) == [address(0)]

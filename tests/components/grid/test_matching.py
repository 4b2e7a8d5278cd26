"""`All that match` decides what was offered, as one decision."""

import json
from typing import Any

import pytest

from components.grid.matching import addresses, offered
from store.catalog.filters import Filter
from store.library import Library
from tests.components.conftest import COINS
from tests.components.grid.decisions import approved, decide, entry, undo
from tests.store.conftest import address, coin


def matching(library: Library, **more: Any) -> dict[str, Any]:
    return {**offered(library, Filter(tier="pending"), total=0), **more}


def test_all_matching_coins_are_decided_and_undone_as_one(library: Library) -> None:
    chosen = entry("approve", matching=matching(library, **{"except": [address(2)]}))
    decide(library, chosen, chosen)
    assert approved(library) == set(library.addresses(Filter())) - {address(2)}
    decide(library, undo(chosen))
    assert approved(library) == set()


def test_coins_added_or_changed_after_the_selection_are_not_decided(library: Library) -> None:
    seen = matching(library)
    library.add([coin(50)])
    library.edit_tags([address(1)], add=["moon"])
    decide(library, entry("approve", matching=seen))
    assert approved(library) == {address(0), *(address(n) for n in range(2, 6))}


@pytest.mark.parametrize(
    "forged", [{}, {"filter": 3}, {"filter": "{", "generation": 9}, {"filter": "{}", "generation": 10**6}]
)
def test_a_malformed_selection_decides_nothing(library: Library, forged: dict[str, Any]) -> None:
    decide(library, entry("approve", matching=forged))
    assert approved(library) == set()


def test_a_filter_selects_all_that_match_without_those_left_out(library: Library) -> None:
    sent = matching(library)
    assert len(addresses(library, sent)) == COINS
    left = addresses(library, {**sent, "except": [address(0), [], {}, 7]})
    assert len(left) == COINS - 1


@pytest.mark.parametrize(
    "sent",
    [
        {"generation": 10**400, "filter": json.dumps({"tier": "pending"})},
        {"generation": 9, "filter": json.dumps({"tier": "pending", "since": 10**30})},
        {"generation": 9, "filter": '{"tier": "pending", "words": "\ud800"}'},
        {"generation": "9", "filter": "{}"},
    ],
)
def test_a_filter_that_no_page_made_selects_nothing(library: Library, sent: dict[str, object]) -> None:
    assert addresses(library, sent) == []

"""Selections are stored under an id, and a line finds their records in every tier."""

import pytest

from store.catalog import coin_sets
from store.catalog.filter_syntax import parsed
from store.catalog.filters import FacetLength, Filter
from store.errors import InvalidRecord, ReadOnly
from store.library import Library
from store.permissions import Actor
from tests.store.conftest import address, approved_with_caption

pytestmark = pytest.mark.usefixtures("without_chroma")


class Viewer(Actor):
    """May look, not change."""

    can_write = False


def test_a_line_finds_the_coins_of_a_selection_in_every_tier(library: Library) -> None:
    approved_with_caption(library, *range(4))
    library.promote([address(0)])
    id = library.coin_sets.store([address(0), address(2), address(2)])
    assert set(library.addresses(parsed(f"set:{id}").filter)) == {address(0), address(2)}
    assert library.addresses(parsed(f"set:{id} tier:library").filter) == [address(0)]
    assert library.coin_sets.addresses(id) == sorted([address(0), address(2)])
    assert library.coin_sets.store([address(2), address(0)]) == id, "stored once"
    library.reject([address(2)])
    assert library.addresses(parsed(f"set:{id} tier:trash").filter) == [address(2)]


def test_what_is_not_stored_finds_nothing(library: Library) -> None:
    approved_with_caption(library, 0)
    assert library.count(Filter(coin_set="0123456789")) == 0
    assert library.coin_sets.addresses("0123456789") is None
    with pytest.raises(InvalidRecord, match="one coin at least"):
        library.coin_sets.store([])


def test_the_oldest_go_unless_a_saved_line_names_them(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coin_sets, "KEPT", 2)
    first, second, third, fourth = (
        library.coin_sets.store([address(number)])
        if number
        else _saved(library, library.coin_sets.store([address(0)]))
        for number in range(4)
    )
    kept = [id for id in (first, second, third, fourth) if library.coin_sets.addresses(id)]
    assert kept == [first, third, fourth]


def _saved(library: Library, id: str) -> str:
    library.filters.save("mine", f"set:{id}")
    return id


def test_a_viewer_opens_selections_and_stores_none(library: Library) -> None:
    approved_with_caption(library, 0)
    id = library.coin_sets.store([address(0)])
    looking = library.for_actor(Viewer("ann"))
    assert looking.addresses(Filter(coin_set=id)) == [address(0)]
    with pytest.raises(ReadOnly):
        looking.coin_sets.store([address(0), address(1)])


def test_a_facets_length_is_counted_in_its_characters(library: Library) -> None:
    approved_with_caption(library, *range(3))
    records = library.records([address(number) for number in range(3)])
    for record in records:
        text = record.caption["entity"]
        exactly = Filter(lengths=(FacetLength("entity", len(text), len(text)),))
        same = [one.address for one in records if len(one.caption["entity"]) == len(text)]
        assert sorted(library.addresses(exactly)) == sorted(same)
    assert library.count(Filter(lengths=(FacetLength("entity", None, 0),))) == 0

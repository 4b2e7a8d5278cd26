"""Records found by what they are called, and how many have each tag."""

import pytest

from store.catalog.filters import Filter
from store.library import Library
from tests.store.conftest import address, coin

pytestmark = pytest.mark.usefixtures("without_chroma")


def named(library: Library, words: str) -> list[str]:
    return [record.name for record in library.named(words, Filter(), limit=10)]


@pytest.fixture
def frogs(library: Library) -> Library:
    names = [("Rain Frog", "RAIN"), ("Frog", "FRG"), ("Toad", "FROG"), ("Cat", "CAT")]
    library.add([coin(n, token_name=name, ticker=ticker) for n, (name, ticker) in enumerate(names)])
    return library


def test_a_ticker_comes_before_a_name_and_both_before_words(frogs: Library) -> None:
    assert named(frogs, "frog") == ["Toad", "Frog", "Rain Frog"]
    assert named(frogs, "$FROG") == ["Toad", "Frog", "Rain Frog"]


def test_an_emoji_finds_the_coins_that_are_called_so(library: Library) -> None:
    library.add([coin(1, ticker="🚀"), coin(2, token_name="To the 🚀"), coin(3, ticker="🐸")])
    assert {*library.addresses(Filter(words="🚀"))} == {address(1), address(2)}
    assert library.addresses(Filter(words='"🐸"')) == [address(3)]
    assert library.addresses(Filter(words='""')) == []


def test_a_coin_joined_the_library_when_it_first_came_there(library: Library) -> None:
    library.add([coin(1, caption={"entity": "a frog", "context": "it jumps"})])
    library.approve([address(1)])
    for moment in (1_700_000_000.0, 1_800_000_000.0):
        then = library.for_actor(library.catalog.actor.as_of(moment))
        assert then.promote([address(1)]).done
        assert then.degrade([address(1)]).done
    library.promote([address(1)])
    assert library.joined() == {address(1): 1_700_000_000}


def test_an_address_finds_its_record_alone(frogs: Library) -> None:
    assert named(frogs, f" {address(0)} ") == ["Rain Frog"]


def test_at_most_the_limit_is_found_each_record_once(frogs: Library) -> None:
    assert [record.name for record in frogs.named("frog", Filter(), limit=2)] == ["Toad", "Frog"]
    assert named(frogs, "no such words") == []


def test_tags_are_counted_alike_in_the_tier_of_most_coins_and_in_others(library: Library) -> None:
    tags = [["dog", "moon"], ["moon"], ["cat"], ["dog"], ["zebra", "moon"], []]
    for number, own in enumerate(tags):
        library.add([coin(number, tags=own)])
    library.approve([address(3), address(4)])
    assert list(library.tag_counts(Filter(tier="pending")).items()) == [("moon", 2), ("cat", 1), ("dog", 1)]
    assert list(library.tag_counts(Filter(tier="approved")).items()) == [
        ("dog", 1),
        ("moon", 1),
        ("zebra", 1),
    ]
    assert library.tag_counts(Filter(tier="trash")) == {}

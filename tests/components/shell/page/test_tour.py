"""What a tour does is done by the library's verbs, and all of it can be taken back."""

from typing import Any

from components.shell.page import tour
from components.shell.page.tour import COPYCAT, DRAFTED, STOPS
from store import demo
from store.captions.suggestions import SuggestedFacet
from store.catalog.filters import Filter
from store.library import Library
from tests.store.conftest import coin

DRAFT: dict[SuggestedFacet, str] = {
    "entity": "A demo owl in neon lights",
    "context": "A pun on a song of the night",
    "tags": "dog",
}


def with_demo_coins(library: Library) -> None:
    library.add([coin(900, token_address=COPYCAT), coin(901, token_address=DRAFTED)])
    library.approve([DRAFTED])
    library.suggestions.save(DRAFTED, DRAFT, model=demo.RECORDED)


def state(library: Library) -> list[Any]:
    """Tier and sidecar of every coin, and the suggestions that wait."""
    coins = [library.get(address) for address in sorted(library.addresses(Filter()))]
    waiting = {one.facet: one.text for one in library.suggestions.of(DRAFTED)}
    return [*((one.address, one.tier, one.caption, one.tags) for one in coins), waiting]


def take(library: Library, *stops: tour.Stop) -> None:
    for stop in stops:
        if stop.do:
            assert not stop.is_done(library)
            stop.do(library)
            assert stop.is_done(library)


def test_at_the_end_of_a_tour_the_library_is_as_it_was(library: Library) -> None:
    with_demo_coins(library)
    before = state(library)
    take(library, *STOPS[:-1])
    assert library.get(COPYCAT).tier == "trash"
    assert library.history(address=COPYCAT, limit=1)[0].reason == "copycat"
    assert library.get(DRAFTED).caption["entity"] == DRAFT["entity"]
    take(library, STOPS[-1])
    assert state(library) == before


def test_a_tour_broken_off_says_what_it_left_and_can_be_taken_twice(library: Library) -> None:
    with_demo_coins(library)
    before = state(library)
    for _ in range(2):
        take(library, STOPS[0])
        assert len(tour.left_behind(library)) == 1
        assert tour.undo_tour(library).refused == []
        assert tour.left_behind(library) == []
        assert state(library) == before


def test_what_a_person_decided_during_a_tour_stays(library: Library) -> None:
    with_demo_coins(library)
    take(library, *STOPS[:-1])
    library.restore([COPYCAT])
    library.approve([COPYCAT])
    assert [refusal.item for refusal in tour.undo_tour(library).refused] == [COPYCAT]
    assert library.get(COPYCAT).tier == "approved"
    assert not library.get(DRAFTED).is_captioned


def test_no_stop_says_that_something_is_undone_before_it_is() -> None:
    assert not any("is undone" in text for stop in STOPS for text in (stop.title, stop.text))


def test_a_library_without_the_demo_has_no_tour(library: Library) -> None:
    assert not tour.is_possible(library)
    with_demo_coins(library)
    assert tour.is_possible(library)


def test_the_demo_has_the_coins_of_the_tour() -> None:
    tiers = {entry.address: entry.tier for entry in demo.entries()}
    assert (tiers[COPYCAT], tiers[DRAFTED]) == ("pending", "approved")

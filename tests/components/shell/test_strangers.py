"""What strangers have open: so much from each address, and the oldest gives way."""

from contextlib import ExitStack

from components.shell.strangers import OpenPlace, Strangers


def opened(strangers: Strangers, lasting: ExitStack, *addresses: str) -> list[OpenPlace]:
    return [lasting.enter_context(strangers.place(address)) for address in addresses]


def ended(places: list[OpenPlace]) -> list[bool]:
    return [place.gives_way.is_set() for place in places]


def test_the_oldest_of_an_address_gives_way_to_a_newer_one_and_no_other_does() -> None:
    strangers = Strangers(most=2, most_of_all=100)
    with ExitStack() as lasting:
        other, *own = opened(strangers, lasting, "b", "a", "a", "a", "a")
        assert ended([other]) == [False]
        assert ended(own) == [True, True, False, False]


def test_the_address_that_has_most_gives_way_if_all_have_too_much() -> None:
    strangers = Strangers(most=9, most_of_all=4)
    with ExitStack() as lasting:
        places = opened(strangers, lasting, "b", "a", "a", "a", "c", "d")
        assert ended(places) == [False, True, True, False, False, False]


def test_a_place_that_was_left_counts_no_more() -> None:
    strangers = Strangers(most=1, most_of_all=1)
    for _ in range(3):
        with strangers.place("a") as place:
            pass
        assert ended([place]) == [False]
    assert strangers._open == {}

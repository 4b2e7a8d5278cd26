"""A selection's common terms are those that the rest of the library has less often."""

from store.maps.common_terms import common_terms, has_term
from tests.store.maps.test_neighbourhoods import record


def test_terms_that_set_a_selection_apart_are_found_with_their_shares_and_usual_ones_are_not() -> None:
    frogs = [record(number, "frog") for number in range(5)]
    rockets = [record(number, "rocket") for number in range(5, 20)]
    [frog] = common_terms(frogs, [*frogs, *rockets])  # all are happy
    assert (frog.term, frog.share, frog.usual) == ("frog", 1.0, 0.25)
    assert has_term(frogs[0], "frog")
    assert not has_term(rockets[0], "frog")


def test_a_selection_like_everything_else_has_nothing_in_common() -> None:
    frogs = [record(number, "frog") for number in range(8)]
    assert common_terms(frogs[:4], frogs) == []

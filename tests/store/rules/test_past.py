"""A rule is asked about coins as they were when people decided about them."""

from store.library import Library
from store.rules import past
from tests.store.conftest import address, coin
from tests.store.rules.conftest import COPY, ORIGINAL, copied, finished, rule


def meant(library: Library, **values: object) -> set[str]:
    return past.meant(library, rule(**values), past.decided(library, since=0))


def test_the_last_decision_of_people_that_stands_counts(pair: Library) -> None:
    pair.reject([COPY], reason="copycat", actor="ann")
    pair.approve([ORIGINAL], actor="ben")
    pair.undo(actor="ben")
    (one,) = past.decided(pair, since=0)
    assert (one.address, one.was, one.reason, one.actor) == (COPY, "rejected", "copycat", "ann")
    assert one.before.tier == "pending"


def test_what_a_rule_decided_is_no_decision_of_people(pair: Library) -> None:
    pair.rules.save("Copies", rule())
    finished(pair, "Copies")
    assert pair.get(COPY).tier == "trash"
    assert past.decided(pair, since=0) == []


def test_an_approved_coin_that_was_rejected_later_counts_as_rejected(pair: Library) -> None:
    pair.approve([ORIGINAL])
    pair.reject([ORIGINAL])
    assert [one.was for one in past.decided(pair, since=0)] == ["rejected"]


def test_a_coin_has_the_tags_and_texts_of_that_moment(pair: Library) -> None:
    pair.approve([ORIGINAL, COPY])
    pair.edit_tags([ORIGINAL], add=["frog"], remove=["dog"])
    pair.caption(COPY, caption={"entity": "a lily pad"})
    assert meant(pair, other="", when="tag:dog") == {ORIGINAL, COPY}
    assert meant(pair, other="", when="tag:frog") == set()
    assert meant(pair, other="", when="lily") == set()
    assert meant(pair, other="", when="name:coin -has:entity") == {ORIGINAL, COPY}


def test_numbers_and_sources_are_asked_as_of_then(pair: Library) -> None:
    pair.reject([ORIGINAL, COPY])
    assert meant(pair, other="", when="holders:>100") == {ORIGINAL}
    assert meant(pair, other="", when="by:ann") == set()


def test_a_copy_counts_only_if_the_other_coin_was_there(library: Library) -> None:
    library.add([copied(2, of=1)])
    library.reject([COPY])
    library.add([coin(1)])  # older, and came later
    library.duplicates.examine()
    assert meant(library) == set()
    assert meant(library, other="", when="dup:yes") == set()
    library.restore([COPY])
    library.reject([COPY])
    assert meant(library) == {COPY}
    assert meant(library, other="", when="dup:exact") == {COPY}


def test_a_verdict_counts_from_when_it_was_given(pair: Library) -> None:
    pair.reject([COPY])
    pair.duplicates.judge(COPY, "different", [ORIGINAL])
    assert meant(pair) == {COPY}


def test_the_coin_that_was_approved_first_was_not_when_the_other_was_decided(pair: Library) -> None:
    pair.reject([COPY])
    pair.approve([ORIGINAL])
    assert meant(pair, other="approved before") == set()
    pair.restore([COPY])
    pair.reject([COPY])
    assert meant(pair, other="approved before") == {COPY}


def test_nothing_of_the_past_is_left_in_the_catalog(pair: Library) -> None:
    pair.reject([COPY])
    before = pair.catalog.rows("SELECT * FROM records ORDER BY id")
    meant(pair, other="", when="tag:dog")
    assert [tuple(row) for row in pair.catalog.rows("SELECT * FROM records ORDER BY id")] == [
        tuple(row) for row in before
    ]


def test_what_cannot_be_asked_as_of_then_is_said() -> None:
    assert past.limits(rule(when="tag:dog", other="")) == []
    assert "pictures and names that they have today" in past.limits(rule())[0]
    assert past.limits(rule(when="unfit:word", other="")) == ["The word list is today's."]


def test_coins_that_were_deleted_for_good_are_passed_over(pair: Library) -> None:
    pair.reject([ORIGINAL, COPY])
    pair.trash.empty(expected=2)
    assert past.decided(pair, since=0) == []
    assert pair.get(address(3)).tier == "pending"

"""Which coins a rule means: by its line, by a comparison with coins like them, and beside other rules."""

import json

import pytest

from store.catalog import advice
from store.library import Library
from store.rules import matching, past
from store.rules.rule import HELD
from tests.store.conftest import address, coin
from tests.store.rules.conftest import COPY, ORIGINAL, OTHER, copied, rule


def meant(library: Library, **values: object) -> list[str]:
    return sorted(match.address for match in matching.found(library, rule(**values)))


def test_a_comparison_means_the_coin_whose_like_is_older(pair: Library) -> None:
    (match,) = matching.found(pair, rule())
    assert (match.address, match.others) == (COPY, (ORIGINAL,))
    assert meant(pair, other="younger") == [ORIGINAL]


def test_numbers_are_compared_where_both_coins_have_them(pair: Library) -> None:
    assert meant(pair, other="more holders") == [COPY]
    assert meant(pair, other="fewer holders") == [ORIGINAL]
    assert meant(pair, other="larger") == []  # neither says how large it is


def test_a_coin_is_compared_with_when_the_other_was_approved(pair: Library) -> None:
    assert meant(pair, other="approved before") == []
    pair.approve([ORIGINAL])
    assert meant(pair, other="approved before") == [COPY]
    pair.send_back([ORIGINAL])
    assert meant(pair, other="approved before") == []


def test_a_pair_that_people_judged_different_is_no_pair(pair: Library) -> None:
    pair.duplicates.judge(COPY, "different", [ORIGINAL])
    assert meant(pair) == []


def test_a_pair_that_people_judged_a_copy_still_is_one(pair: Library) -> None:
    pair.duplicates.judge(COPY, "copy of", [ORIGINAL])
    assert meant(pair) == [COPY]


def test_a_rejected_coin_is_compared_with_no_other(pair: Library) -> None:
    pair.reject([ORIGINAL])
    assert meant(pair) == []


def test_a_coin_that_was_not_compared_yet_waits(pair: Library) -> None:
    pair.add([copied(4, of=1)])
    assert meant(pair) == [COPY]
    pair.duplicates.examine()
    assert meant(pair) == sorted([COPY, address(4)])


def test_exceptions_and_held_coins_are_left_alone(pair: Library) -> None:
    assert meant(pair, exceptions=(COPY,)) == []
    pair.edit_tags([COPY], add=[HELD])
    assert meant(pair) == []


def test_a_tagged_coin_is_not_tagged_again(pair: Library) -> None:
    values = {"do": "tag", "tags": ["frog"], "when": "name:coin", "other": ""}
    assert meant(pair, **values) == sorted([ORIGINAL, COPY, OTHER])
    pair.edit_tags([OTHER], add=["frog"])
    assert meant(pair, **values) == sorted([ORIGINAL, COPY])


@pytest.mark.parametrize(
    ("word", "count"), [("exact", 2), ("mirrored", 0), ("name", 0), ("yes", 2), ("no", 1)]
)
def test_a_line_names_what_coins_share(pair: Library, word: str, count: int) -> None:
    assert len(meant(pair, when=f"dup:{word}", other="")) == count
    assert len(meant(pair, when=f"-dup:{word}", other="")) == 3 - count


def test_only_the_best_of_a_group_is_kept(pair: Library) -> None:
    pair.add([copied(4, of=1)])
    pair.duplicates.examine()
    (match,) = matching.found(pair, rule(do="keep", other="younger"))
    assert (match.address, sorted(match.others)) == (ORIGINAL, sorted([COPY, address(4)]))


def test_the_rule_with_the_higher_priority_has_the_coin_where_two_meet(pair: Library) -> None:
    copies, all_in = rule(), rule("All", do="approve", other="", when="name:coin", priority=1)
    found = matching.found(pair, copies)
    left, (meeting,) = matching.shared_out(pair, copies, [all_in], found)
    assert left == []
    assert (meeting.rule, meeting.coins) == ("All", (COPY,))
    assert (meeting.is_contrary, meeting.goes_first) == (True, True)
    left, (meeting,) = matching.shared_out(pair, all_in, [copies], matching.found(pair, all_in))
    assert sorted(match.address for match in left) == sorted([ORIGINAL, COPY, OTHER])
    assert (meeting.goes_first, meeting.is_open) == (False, False), "this rule has it, and nobody else"


def test_contrary_rules_of_the_same_priority_leave_the_coin_to_people(pair: Library) -> None:
    copies, all_in = rule(), rule("All", do="approve", other="", when="name:coin")
    left, (meeting,) = matching.shared_out(pair, copies, [all_in], matching.found(pair, copies))
    assert left == []
    assert meeting.is_open
    left, _ = matching.shared_out(pair, all_in, [copies], matching.found(pair, all_in))
    assert sorted(match.address for match in left) == sorted([ORIGINAL, OTHER])


def test_rules_that_do_the_same_do_not_stand_in_each_others_way(pair: Library) -> None:
    copies, dogs = rule(), rule("Dogs", other="", when="tag:dog")
    left, (meeting,) = matching.shared_out(pair, copies, [dogs], matching.found(pair, copies))
    assert [match.address for match in left] == [COPY]
    assert not meeting.is_contrary


def test_one_coin_in_twenty_is_always_left_to_people() -> None:
    blind = sum(advice.is_blind(address(number)) for number in range(4_000))
    assert 150 < blind < 250


def test_by_itself_a_rule_leaves_what_people_decided_to_them(library: Library) -> None:
    numbers = (*range(4), next(number for number in range(200) if advice.is_blind(address(number))))
    library.add([coin(number) for number in numbers])
    library.duplicates.examine()
    dogs = rule("Dogs", other="", when="tag:dog")
    library.approve([address(1)])
    library.send_back([address(1)])
    left = matching.left_to_the_rule(library, dogs, matching.found(library, dogs))
    expected = {address(n) for n in numbers if n != 1 and not advice.is_blind(address(n))}
    assert {match.address for match in left} == expected


def test_a_rule_that_this_version_does_not_understand_means_no_coin(pair: Library) -> None:
    newer = {"name": "New", "do": "reject", "when": "smell:odd", "level": "by itself"}
    pair.catalog.set_meta("rules", json.dumps({"New": newer}))
    (read,) = pair.rules.all().values()
    assert (read.level, read.when) == ("shown", "smell:odd")
    assert "Unknown filter 'smell'" in read.told
    assert matching.found(pair, read) == []
    assert past.meant(pair, read, past.decided(pair, since=0)) == set()


@pytest.mark.parametrize(
    "line",
    ["tag:dog", "-tag:dog", "dup:exact", "dup:no", "coin", "holders:>100", f"family:{COPY}", "by:ann",
     "tag:dog OR dup:yes", "-(name:coin holders:>100)", "after:2023 before:2030"],
)  # fmt: skip
def test_a_few_coins_are_judged_as_all_of_them_are(pair: Library, line: str) -> None:
    asked = rule("Any", do="hold", when=line, other="")
    every = {match.address for match in matching.found(pair, asked)}
    for chosen in ([COPY], [ORIGINAL, OTHER], [address(99)], []):
        few = {match.address for match in matching.found(pair, asked, among=chosen)}
        assert few == every & set(chosen)

"""A preview shows what a rule would do beside what people decided."""

from dataclasses import replace

import pytest

from store.errors import InvalidRecord
from store.library import Library
from store.operations import State
from store.rules.past import Decided
from store.rules.preview import Case, Preview, beside, preview
from tests.store.conftest import address
from tests.store.rules.conftest import COPY, OTHER, copied, finished, rule

DAY = 86_400


def said(number: int, was: str) -> Decided:
    return Decided(
        number, "", address(number), was, was, "", "ann", float(number), State("pending", "", "", None)
    )  # type: ignore[arg-type]


def test_people_who_decided_as_the_rule_would_agree_with_it() -> None:
    decided = [said(1, "rejected"), said(2, "approved"), said(3, "approved")]
    cases = beside(rule(), decided, {address(1), address(2)}, {})
    assert [(case.address, case.said, case.agrees) for case in cases] == [
        (address(1), "rejected", True),
        (address(2), "approved", False),
    ]


def test_a_tag_is_compared_with_coins_that_have_tags() -> None:
    decided = [said(1, "approved"), said(2, "approved"), said(3, "approved")]
    every = {address(number) for number in (1, 2, 3)}
    tags = {address(1): ("frog", "dog"), address(2): ("dog",), address(3): ()}
    cases = beside(rule(do="tag", tags=["frog"]), decided, every, tags)
    assert [(case.address, case.agrees) for case in cases] == [(address(1), True), (address(2), False)]


def test_a_preview_says_what_it_would_do_and_would_have_done(pair: Library) -> None:
    pair.add([copied(4, of=1), copied(5, of=1)])
    pair.duplicates.examine()
    pair.reject([COPY], actor="ann")
    pair.approve([address(4)], actor="ben")
    pair.approve([OTHER], actor="ben")
    found = preview(pair, rule())
    assert [match.address for match in found.matches] == [address(5)]
    assert [case.address for case in found.agreements] == [COPY]
    assert [(case.address, case.actor) for case in found.contradictions] == [(address(4), "ben")]
    assert (found.agreement, found.broken) == (0.5, "")  # one contradiction tells too little
    assert found.sentence == (
        "In the last 90 days it would have settled 2 of 3 decisions: 1 as people did, 1 otherwise (50.0%)."
    )


@pytest.mark.parametrize(
    ("agree", "contradict", "keeps"),
    [
        (0, 1, True),
        (0, 2, False),
        (18, 1, True),
        (19, 1, True),
        (18, 2, False),
        (95, 5, True),
        (94, 6, False),
    ],
)
def test_a_promise_is_broken_by_more_than_a_single_contradiction(
    agree: int, contradict: int, *, keeps: bool
) -> None:
    cases = [Case(address(1), "rejected", "ann", 0.0, number < agree) for number in range(agree + contradict)]
    assert (Preview(rule(), (), (), tuple(cases), 200, 90, ()).broken == "") is keeps


def test_earlier_decisions_are_left_out(pair: Library) -> None:
    pair.reject([COPY])
    at = pair.history(address=COPY)[0].created_at
    assert len(preview(pair, rule(), now=at + 89 * DAY).cases) == 1
    assert preview(pair, rule(), now=at + 91 * DAY).cases == ()
    assert len(preview(pair, rule(), now=at + 91 * DAY, days=100).cases) == 1


def test_without_decisions_nothing_tells_whether_a_rule_is_right(pair: Library) -> None:
    found = preview(pair, rule())
    assert (found.agreement, found.broken) == (None, "")
    assert found.sentence == "No decision of the last 90 days tells whether it is right."


def test_holding_a_coin_is_compared_with_nothing(pair: Library) -> None:
    pair.reject([COPY])
    found = preview(pair, rule(do="hold"))
    assert found.cases == ()
    assert "nothing to compare" in found.limits[-1]


def test_what_people_take_back_contradicts_the_rule(pair: Library) -> None:
    pair.rules.save("Copies", rule())
    finished(pair, "Copies")
    assert preview(pair, rule()).cases == ()
    pair.restore([COPY], actor="ann")
    (case,) = preview(pair, rule()).contradictions
    assert (case.address, case.said) == (COPY, "taken back")
    later = replace(rule(), saved_at=pair.history(address=COPY)[0].created_at + 1)
    assert preview(pair, later).cases == ()  # of the rule as it was before


def test_other_rules_are_named_where_they_meet(pair: Library) -> None:
    pair.rules.save("All", rule("All", do="approve", other="", when="tag:dog", priority=2))
    found = preview(pair, rule())
    assert found.matches == ()
    (meeting,) = found.meetings
    assert (meeting.rule, meeting.coins, meeting.goes_first) == ("All", (COPY,), True)


def test_the_days_have_limits(library: Library) -> None:
    for days in (0, 4_000):
        with pytest.raises(InvalidRecord, match="from 1 to 3,650"):
            preview(library, rule(), days=days)


def test_a_preview_says_how_many_coins_were_not_compared_yet(pair: Library) -> None:
    pair.add([copied(4, of=1)])
    assert preview(pair, rule()).limits[-1].startswith("Not compared with the others yet: 1 coins")
    assert all("yet" not in said for said in preview(pair, rule(when="tag:dog", other="")).limits)

"""Every decision of every user can be found, counted and undone."""

import csv
import io
from collections import Counter
from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from store.catalog.filters import Filter
from store.catalog.history import AuditFilter
from store.library import Library
from store.reading import audit, statistics
from tests.store.conftest import address, coin

pytestmark = pytest.mark.usefixtures("without_chroma")

HOUR = 3600.0
TWO = 14 * HOUR  # everything since then is undone


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of decisions; a test can change it."""
    now = [TWO - HOUR]
    monkeypatch.setattr("store.writing.prepare.time.time", lambda: now[0])
    return now


@pytest.fixture
def reviewed(library: Library, clock: list[float]) -> Library:
    """Six coins imported at one o'clock; from two o'clock on, ann approves and rejects, and bob rejects."""
    library.add([coin(number) for number in range(6)], actor="ann")
    clock[0] = TWO
    library.approve([address(0), address(1)], actor="ann")
    library.reject([address(2)], reason="copycat", actor="ann")
    clock[0] = TWO + HOUR
    library.reject([address(3)], reason="copycat", actor="bob")
    library.reject([address(4)], reason="scam", actor="bob")
    return library


def tiers(library: Library) -> dict[str, str]:
    return {record.address: record.tier for record in library.find(Filter())}


def verbs(library: Library, criteria: AuditFilter) -> list[tuple[str, str]]:
    return [(decision.actor, decision.verb) for decision in library.log.find(criteria)]


def test_decisions_are_filtered_by_actor_verb_and_time(reviewed: Library) -> None:
    assert verbs(reviewed, AuditFilter(actor="bob")) == [("bob", "reject")] * 2
    assert verbs(reviewed, AuditFilter(verb="reject", until=TWO + HOUR)) == [("ann", "reject")]
    assert verbs(reviewed, AuditFilter(since=TWO, until=TWO + 1)) == [("ann", "reject"), ("ann", "approve")]
    assert reviewed.log.count() == 5
    assert reviewed.log.find(AuditFilter(), offset=3, limit=1)[0].count == 2
    assert reviewed.log.people() == ["ann", "bob"]
    assert reviewed.log.verbs() == ["approve", "import", "reject"]


def test_figures_show_speed_approval_rate_and_rejection_reasons(reviewed: Library) -> None:
    all_of = audit.figures(reviewed, AuditFilter())
    assert (all_of.approved, all_of.rejected, all_of.hours) == (2, 3, 2)
    assert (all_of.an_hour, all_of.approval) == (2.5, 0.4)
    assert all_of.reasons == {"copycat": 2, "scam": 1}
    assert audit.figures(reviewed, AuditFilter(actor="bob")).approval == 0
    reviewed.undo(actor="bob")
    assert audit.figures(reviewed, AuditFilter()).reasons == {"copycat": 2}, (
        "what was taken back does not count"
    )
    assert audit.figures(reviewed, AuditFilter(actor="eve")).an_hour == 0


def test_a_redone_decision_counts_as_before_however_often(reviewed: Library, clock: list[float]) -> None:
    before = audit.figures(reviewed, AuditFilter())
    clock[0] += 24 * HOUR
    for _ in range(3):
        reviewed.undo(actor="bob")
        undone = audit.figures(reviewed, AuditFilter())
        assert (undone.rejected, undone.reasons) == (2, {"copycat": 2})
        assert len(reviewed.find(Filter(decided_by="bob"))) == 1
        assert statistics.review_speed(reviewed, Filter())[1].rejected == 1
        reviewed.redo(actor="bob")
        assert audit.figures(reviewed, AuditFilter()) == before
        assert statistics.review_speed(reviewed, Filter())[1].rejected == 2
        assert len(reviewed.find(Filter(decided_by="bob"))) == 2
    rows = list(csv.DictReader(io.StringIO(audit.as_csv(reviewed, AuditFilter(verb="reject")))))
    assert [row["taken back"] for row in rows] == [""] * 3
    kinds = Counter[str]()
    for day in audit.decisions_by_day(reviewed, AuditFilter(since=clock[0])):
        kinds[day.verb] += day.decisions
    assert kinds == {"undo": 3, "reject": 3}, "a redo is what it carries out again"


def test_what_the_demo_brings_is_no_persons_speed(reviewed: Library) -> None:
    reviewed.approve([address(5)], actor="demo")
    found = audit.figures(reviewed, AuditFilter())
    assert (found.approved, found.rejected, found.by_people, found.hours) == (3, 3, 5, 2)
    assert found.an_hour == 2.5
    assert [one.actor for one in statistics.review_speed(reviewed, Filter())] == ["ann", "bob"]


def test_any_user_can_undo_any_decision(reviewed: Library) -> None:
    [approval] = reviewed.log.find(AuditFilter(verb="approve"))
    outcome = reviewed.undo_decisions([approval.id], actor="eve")
    assert outcome.done == [address(1), address(0)]
    assert tiers(reviewed)[address(0)] == "pending"
    assert tiers(reviewed)[address(3)] == "trash"
    [undo] = reviewed.log.find(AuditFilter(actor="eve"))
    reviewed.undo_decisions([undo.id], actor="bob")
    assert tiers(reviewed)[address(0)] == "approved"


def test_what_was_redone_stands_in_the_lists_and_can_be_undone_again(reviewed: Library) -> None:
    [approval] = reviewed.log.find(AuditFilter(verb="approve"))

    def shown() -> tuple[bool, bool, bool]:
        [found] = reviewed.log.find(AuditFilter(verb="approve"))
        decision = reviewed.decision(approval.id)
        [event] = [one for one in reviewed.history(address=address(0)) if one.verb == "approve"]
        return found.is_undone, decision.is_undone, event.is_undone

    reviewed.undo_decisions([approval.id], actor="eve")
    assert shown() == (True, True, True)
    assert not reviewed.undo_decisions([approval.id], actor="eve").done, "once is enough"
    [undo] = reviewed.log.find(AuditFilter(actor="eve"))
    reviewed.undo_decisions([undo.id], actor="eve")
    assert shown() == (False, False, False)
    assert reviewed.undo_decisions([approval.id], actor="bob").done
    assert tiers(reviewed)[address(0)] == "pending"
    assert shown() == (True, True, True)


def test_undo_refuses_records_changed_since_and_undoes_the_rest(reviewed: Library) -> None:
    [approval] = reviewed.log.find(AuditFilter(verb="approve"))
    reviewed.edit_tags([address(0)], add=["moon"], actor="bob")
    outcome = reviewed.undo_decisions([approval.id, "no decision"], actor="eve")
    assert outcome.done == [address(1)]
    assert [refusal.item for refusal in outcome.refused] == [address(0), "no decision"]
    assert tiers(reviewed)[address(0)] == "approved"


def test_undoing_everything_since_a_time_includes_earlier_undos_and_redos(
    library: Library, clock: list[float]
) -> None:
    library.add([coin(number) for number in range(3)], actor="ann")
    library.approve([address(0)], actor="ann")
    before = tiers(library)
    clock[0] = TWO
    library.undo(actor="ann")
    library.reject([address(0), address(1)], actor="bob")
    library.approve([address(2)], actor="ann")
    library.undo(actor="ann")
    library.redo(actor="ann")
    library.undo(actor="bob")
    library.redo(actor="bob")
    outcome = library.undo_decisions(library.log.since(TWO, filter=AuditFilter()), actor="eve")
    assert not outcome.refused
    assert tiers(library) == before


def test_undoing_everything_of_one_user_keeps_the_decisions_of_others(reviewed: Library) -> None:
    reviewed.undo_decisions(reviewed.log.since(TWO, filter=AuditFilter(actor="bob")), actor="eve")
    assert [tiers(reviewed)[address(number)] for number in range(5)] == [
        "approved",
        "approved",
        "trash",
        "pending",
        "pending",
    ]


def test_the_csv_lists_every_change_and_contains_no_formulas(library: Library) -> None:
    library.add([coin(0, token_name="=cmd()")], actor="@ann")
    library.reject([address(0)], reason="+1", actor="-bob")
    library.undo(actor="-bob")
    rows = list(csv.DictReader(io.StringIO(audit.as_csv(library, AuditFilter()))))
    assert [row["what"] for row in rows] == ["undo", "reject", "import"]
    assert [rows[1][key] for key in ("who", "name", "from", "to", "reason", "taken back")] == [
        "'-bob", "'=cmd()", "pending", "trash", "'+1", "yes"
    ]  # fmt: skip
    assert rows[2]["who"] == "'@ann"
    assert (rows[2]["from"], rows[2]["to"]) == ("", "pending")


def test_days_are_those_of_a_time_zone_also_when_its_clock_changes(
    library: Library, clock: list[float]
) -> None:
    library.add([coin(number) for number in range(3)])
    berlin = ZoneInfo("Europe/Berlin")
    # Summer time ends on 26 October 2025; both are half an hour after midnight, so in UTC the day before.
    for number, text in enumerate(("2025-10-26T00:30+02:00", "2025-10-27T00:30+01:00")):
        clock[0] = datetime.fromisoformat(text).timestamp()
        library.approve([address(number)])
    days = [date(2025, 10, day).toordinal() - date(1970, 1, 1).toordinal() for day in (25, 26, 27)]
    approved = AuditFilter(verb="approve")
    utc = audit.decisions_by_day(library, approved)
    local = audit.decisions_by_day(library, approved, berlin)
    assert [one.day for one in utc] == days[:2]
    assert [one.day for one in local] == days[1:]
    assert [one.day for one in audit.reviews_by_day(library, AuditFilter(), berlin)] == days[1:]
    moves = audit.moves_by_day(library, since=days[0] * 86_400.0, zone=berlin)
    assert [day for day, _, come, _ in moves if come == "approved"] == days[1:]


def test_daily_counts_add_up_to_the_totals(reviewed: Library, clock: list[float]) -> None:
    day = 86_400.0
    clock[0] = TWO + 2 * day
    reviewed.reject([address(5)], actor="bob")
    reviewed.undo(actor="bob")
    reviewed.send_back([address(0)], actor="ann")
    reviewed.reject([address(0)], actor="ann")
    found = audit.decisions_by_day(reviewed, AuditFilter())
    assert sum(one.decisions for one in found) == reviewed.log.count()
    assert [one for one in found if one.verb in ("approve", "reject")] == [
        (0, "approve", 1),
        (0, "reject", 3),
        (2, "reject", 2),
    ]
    reviews = audit.reviews_by_day(reviewed, AuditFilter())
    figures = audit.figures(reviewed, AuditFilter())
    assert reviews == [(0, 2, 3), (2, 0, 1)], "what was undone is no review"
    assert sum(one.approved for one in reviews) == figures.approved
    assert sum(one.rejected for one in reviews) == figures.rejected
    assert audit.reviews_by_day(reviewed, AuditFilter(actor="bob")) == [(0, 0, 2)]
    assert audit.decisions_by_day(reviewed, AuditFilter(verb="import")) == [(0, "import", 1)]

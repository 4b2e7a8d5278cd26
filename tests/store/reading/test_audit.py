"""Every decision is found again, counted, and taken back, whoever made it."""

import csv
import io

import pytest

from store.catalog.filters import Filter
from store.library import Library
from store.reading import audit
from store.reading.audit import AuditFilter
from tests.store.conftest import address, coin

pytestmark = pytest.mark.usefixtures("without_chroma")

HOUR = 3600.0
TWO = 14 * HOUR  # the moment everything is taken back to


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of decisions, to be set."""
    now = [TWO - HOUR]
    monkeypatch.setattr("store.writing.prepare.time.time", lambda: now[0])
    return now


@pytest.fixture
def reviewed(library: Library, clock: list[float]) -> Library:
    """Six coins at one o'clock; from two on ann approves and rejects, bob rejects."""
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


def verbs(library: Library, asked: AuditFilter) -> list[tuple[str, str]]:
    return [(decision.actor, decision.verb) for decision in audit.find(library, asked)]


def test_decisions_are_found_by_who_what_and_when(reviewed: Library) -> None:
    assert verbs(reviewed, AuditFilter(actor="bob")) == [("bob", "reject")] * 2
    assert verbs(reviewed, AuditFilter(verb="reject", until=TWO + HOUR)) == [("ann", "reject")]
    assert verbs(reviewed, AuditFilter(since=TWO, until=TWO + 1)) == [("ann", "reject"), ("ann", "approve")]
    assert audit.count(reviewed, AuditFilter()) == 5
    assert audit.find(reviewed, AuditFilter(), offset=3, limit=1)[0].count == 2
    assert audit.people(reviewed) == ["ann", "bob"]
    assert audit.verbs(reviewed) == ["approve", "import", "reject"]


def test_figures_say_how_fast_how_strict_and_why(reviewed: Library) -> None:
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


def test_any_decision_can_be_taken_back_by_anybody(reviewed: Library) -> None:
    [approval] = audit.find(reviewed, AuditFilter(verb="approve"))
    outcome = reviewed.undo_decisions([approval.id], actor="eve")
    assert outcome.done == [address(1), address(0)]
    assert tiers(reviewed)[address(0)] == "pending"
    assert tiers(reviewed)[address(3)] == "trash"
    [undo] = audit.find(reviewed, AuditFilter(actor="eve"))
    reviewed.undo_decisions([undo.id], actor="bob")
    assert tiers(reviewed)[address(0)] == "approved"


def test_what_was_changed_since_is_refused_and_the_rest_taken_back(reviewed: Library) -> None:
    [approval] = audit.find(reviewed, AuditFilter(verb="approve"))
    reviewed.edit_tags([address(0)], add=["moon"], actor="bob")
    outcome = reviewed.undo_decisions([approval.id, "no decision"], actor="eve")
    assert outcome.done == [address(1)]
    assert [refusal.item for refusal in outcome.refused] == [address(0), "no decision"]
    assert tiers(reviewed)[address(0)] == "approved"


def test_everything_since_two_is_taken_back_also_through_undo_and_redo(
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
    outcome = library.undo_decisions(audit.since(library, TWO, asked=AuditFilter()), actor="eve")
    assert not outcome.refused
    assert tiers(library) == before


def test_everything_since_two_of_one_person_is_only_theirs(reviewed: Library) -> None:
    reviewed.undo_decisions(audit.since(reviewed, TWO, asked=AuditFilter(actor="bob")), actor="eve")
    assert [tiers(reviewed)[address(number)] for number in range(5)] == [
        "approved", "approved", "trash", "pending", "pending"
    ]  # fmt: skip


def test_the_table_says_what_was_done_to_each_record_and_runs_in_no_spreadsheet(library: Library) -> None:
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


def test_days_hold_as_many_decisions_and_reviews_as_are_counted(
    reviewed: Library, clock: list[float]
) -> None:
    day = 86_400.0
    clock[0] = TWO + 2 * day
    reviewed.reject([address(5)], actor="bob")
    reviewed.undo(actor="bob")
    reviewed.send_back([address(0)], actor="ann")
    reviewed.reject([address(0)], actor="ann")
    found = audit.decisions_by_day(reviewed, AuditFilter())
    assert sum(one.decisions for one in found) == audit.count(reviewed, AuditFilter())
    assert [one for one in found if one.verb in ("approve", "reject")] == [
        (0, "approve", 1), (0, "reject", 3), (2, "reject", 2)
    ]  # fmt: skip
    reviews = audit.reviews_by_day(reviewed, AuditFilter())
    figures = audit.figures(reviewed, AuditFilter())
    assert reviews == [(0, 2, 3), (2, 0, 1)], "what was undone is no review"
    assert sum(one.approved for one in reviews) == figures.approved
    assert sum(one.rejected for one in reviews) == figures.rejected
    assert audit.reviews_by_day(reviewed, AuditFilter(actor="bob")) == [(0, 0, 2)]
    assert audit.decisions_by_day(reviewed, AuditFilter(verb="import")) == [(0, "import", 1)]

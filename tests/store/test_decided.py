"""Every decision is found again, counted, and taken back, whoever made it."""

import csv
import io

import pytest

from store import decided
from store.decided import Asked
from store.filter import Filter
from store.library import Library
from tests.store.conftest import address, coin

pytestmark = pytest.mark.usefixtures("without_chroma")

HOUR = 3600.0
TWO = 14 * HOUR  # the moment everything is taken back to


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of decisions, to be set."""
    now = [TWO - HOUR]
    monkeypatch.setattr("store.writing.write_path.time.time", lambda: now[0])
    return now


@pytest.fixture
def reviewed(library: Library, clock: list[float]) -> Library:
    """Six coins at one o'clock; from two on ann approves and rejects, bob rejects."""
    library.add([coin(number) for number in range(6)], who="ann")
    clock[0] = TWO
    library.approve([address(0), address(1)], who="ann")
    library.reject([address(2)], reason="copycat", who="ann")
    clock[0] = TWO + HOUR
    library.reject([address(3)], reason="copycat", who="bob")
    library.reject([address(4)], reason="scam", who="bob")
    return library


def tiers(library: Library) -> dict[str, str]:
    return {record.address: record.tier for record in library.find(Filter())}


def verbs(library: Library, asked: Asked) -> list[tuple[str, str]]:
    return [(decision.who, decision.verb) for decision in decided.find(library, asked)]


def test_decisions_are_found_by_who_what_and_when(reviewed: Library) -> None:
    assert verbs(reviewed, Asked(who="bob")) == [("bob", "reject")] * 2
    assert verbs(reviewed, Asked(verb="reject", until=TWO + HOUR)) == [("ann", "reject")]
    assert verbs(reviewed, Asked(since=TWO, until=TWO + 1)) == [("ann", "reject"), ("ann", "approve")]
    assert decided.count(reviewed, Asked()) == 5
    assert decided.find(reviewed, Asked(), offset=3, limit=1)[0].count == 2
    assert decided.people(reviewed) == ["ann", "bob"]
    assert decided.verbs(reviewed) == ["approve", "import", "reject"]


def test_figures_say_how_fast_how_strict_and_why(reviewed: Library) -> None:
    all_of = decided.figures(reviewed, Asked())
    assert (all_of.approved, all_of.rejected, all_of.hours) == (2, 3, 2)
    assert (all_of.an_hour, all_of.approval) == (2.5, 0.4)
    assert all_of.reasons == {"copycat": 2, "scam": 1}
    assert decided.figures(reviewed, Asked(who="bob")).approval == 0
    reviewed.undo(who="bob")
    assert decided.figures(reviewed, Asked()).reasons == {"copycat": 2}, "what was taken back does not count"
    assert decided.figures(reviewed, Asked(who="eve")).an_hour == 0


def test_any_decision_can_be_taken_back_by_anybody(reviewed: Library) -> None:
    [approval] = decided.find(reviewed, Asked(verb="approve"))
    outcome = reviewed.take_back([approval.id], who="eve")
    assert outcome.done == [address(1), address(0)]
    assert tiers(reviewed)[address(0)] == "pending"
    assert tiers(reviewed)[address(3)] == "trash"
    [undo] = decided.find(reviewed, Asked(who="eve"))
    reviewed.take_back([undo.id], who="bob")
    assert tiers(reviewed)[address(0)] == "approved"


def test_what_was_changed_since_is_refused_and_the_rest_taken_back(reviewed: Library) -> None:
    [approval] = decided.find(reviewed, Asked(verb="approve"))
    reviewed.edit_tags([address(0)], add=["moon"], who="bob")
    outcome = reviewed.take_back([approval.id, "no decision"], who="eve")
    assert outcome.done == [address(1)]
    assert [refusal.item for refusal in outcome.refused] == [address(0), "no decision"]
    assert tiers(reviewed)[address(0)] == "approved"


def test_everything_since_two_is_taken_back_also_through_undo_and_redo(
    library: Library, clock: list[float]
) -> None:
    library.add([coin(number) for number in range(3)], who="ann")
    library.approve([address(0)], who="ann")
    before = tiers(library)
    clock[0] = TWO
    library.undo(who="ann")
    library.reject([address(0), address(1)], who="bob")
    library.approve([address(2)], who="ann")
    library.undo(who="ann")
    library.redo(who="ann")
    library.undo(who="bob")
    library.redo(who="bob")
    outcome = library.take_back(decided.since(library, TWO, asked=Asked()), who="eve")
    assert not outcome.refused
    assert tiers(library) == before


def test_everything_since_two_of_one_person_is_only_theirs(reviewed: Library) -> None:
    reviewed.take_back(decided.since(reviewed, TWO, asked=Asked(who="bob")), who="eve")
    assert [tiers(reviewed)[address(number)] for number in range(5)] == [
        "approved", "approved", "trash", "pending", "pending"
    ]  # fmt: skip


def test_the_table_says_what_was_done_to_each_record_and_runs_in_no_spreadsheet(library: Library) -> None:
    library.add([coin(0, token_name="=cmd()")], who="@ann")
    library.reject([address(0)], reason="+1", who="-bob")
    library.undo(who="-bob")
    rows = list(csv.DictReader(io.StringIO(decided.as_csv(library, Asked()))))
    assert [row["what"] for row in rows] == ["undo", "reject", "import"]
    assert [rows[1][key] for key in ("who", "name", "from", "to", "reason", "taken back")] == [
        "'-bob", "'=cmd()", "pending", "trash", "'+1", "yes"
    ]  # fmt: skip
    assert rows[2]["who"] == "'@ann"
    assert (rows[2]["from"], rows[2]["to"]) == ("", "pending")

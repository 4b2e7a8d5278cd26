"""The book of decisions as a page."""

from datetime import UTC, datetime, timedelta

import pytest

from store import decided
from store.decided import Asked
from store.library import Library
from store.settings import settings
from tests.browser.coins import COINS, PENDING, UNCAPTIONED
from tests.pages.conftest import opened, ran, words


def test_it_tells_every_decision_with_who_and_when(library: Library) -> None:
    library.reject([PENDING.address], reason="=copycat", who="bob@x.org")
    said = words(opened("history"))
    assert "Rejected New Fish" in said
    assert "bob@x.org" in said
    assert "Promoted 4 coins" in said


def test_it_counts_speed_and_approval(library: Library) -> None:
    library.reject([PENDING.address], reason="copycat")
    figures = {metric.label: metric.value for metric in opened("history").metric}
    assert figures["Approved"] == str(len(COINS) + 1)
    assert figures["Rejected"] == "1"
    assert figures["Approval rate"] == "83%"


def test_a_link_shows_one_persons_decisions(library: Library) -> None:
    library.reject([PENDING.address], who="bob")
    said = words(opened("history", history_who="bob", history_what="reject"))
    assert "1 decision" in said
    assert "Promoted" not in said


def test_one_decision_of_somebody_else_is_taken_back(library: Library) -> None:
    library.reject([PENDING.address], who="bob")
    library.give_back([UNCAPTIONED.address], who="ann")
    [decision] = decided.find(library, Asked(who="bob"))
    app = opened("history")
    app.button(key=f"take-back-{decision.id}").click()
    ran(app)
    assert library.get(PENDING.address).tier == "pending"
    assert library.get(UNCAPTIONED.address).tier == "pending"
    assert decided.find(library, Asked(verb="undo"))[0].who == "tester"


def test_everything_since_a_moment_is_taken_back(library: Library) -> None:
    app = opened("history")
    app.date_input(key="history-since-day").set_value(datetime.now(UTC).date() - timedelta(days=1))
    ran(app)
    [button] = [button for button in app.button if button.label == "Take them back"]
    button.click()
    ran(app)
    assert library.counts() == {"pending": 0, "approved": 0, "library": 0, "trash": 6}


def test_a_viewer_takes_nothing_back(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings(), "read_only", True)
    assert not opened("history").button

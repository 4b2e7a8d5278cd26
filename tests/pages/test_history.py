"""The History page."""

from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from components.review import decision_charts
from store.library import Library
from store.reading import audit
from store.reading.audit import AuditFilter
from store.search.saved_searches import SavedSearch
from store.settings import settings
from tests.browser.coins import COINS, PENDING, UNCAPTIONED
from tests.pages.conftest import opened, rerun, words


def test_the_page_lists_every_decision_with_its_actor_and_time(library: Library) -> None:
    library.reject([PENDING.address], reason="=copycat", actor="bob@x.org")
    said = words(opened("history"))
    assert "Rejected New Fish" in said
    assert "bob@x.org" in said
    assert "Promoted 4 coins" in said


def test_the_page_shows_decision_counts_and_the_approval_rate(library: Library) -> None:
    library.reject([PENDING.address], reason="copycat")
    figures = {metric.label: metric.value for metric in opened("history").metric}
    assert figures["Approved"] == str(len(COINS) + 1)
    assert figures["Rejected"] == "1"
    assert figures["Approval rate"] == "83%"


def test_charts_show_the_filtered_decisions(library: Library) -> None:
    library.reject([PENDING.address], actor="bob")
    assert len(opened("history").get("plotly_chart")) == 2
    decisions = pd.DataFrame(
        audit.decisions_by_day(library, AuditFilter()), columns=audit.DecisionsOfDay._fields
    )
    drawn = decision_charts.by_kind(decisions)
    assert drawn["value"].sum() == audit.count(library, AuditFilter())
    assert dict(zip(drawn["kind"], drawn["value"], strict=True)) == {
        "Approved": 1, "Other": 1, "Promoted": 1, "Rejected": 1
    }  # fmt: skip
    reviews = pd.DataFrame(audit.reviews_by_day(library, AuditFilter()), columns=audit.ReviewsOfDay._fields)
    assert list(decision_charts.approval(reviews)["text"]) == ["5 of 6 coins"]
    assert len(opened("history", history_what="import").get("plotly_chart")) == 2
    assert not opened("history", history_to="2020-01-01").get("plotly_chart")


def test_a_library_without_decisions_shows_no_charts(empty: Library) -> None:
    app = opened("history")
    assert not app.get("plotly_chart")
    assert "No matching decisions" in words(app)


def test_a_link_shows_one_persons_decisions(library: Library) -> None:
    library.reject([PENDING.address], actor="bob")
    said = words(opened("history", history_who="bob", history_what="reject"))
    assert "1 decision" in said
    assert "Promoted" not in said


def test_a_decision_of_somebody_else_can_be_undone(library: Library) -> None:
    library.reject([PENDING.address], actor="bob")
    library.send_back([UNCAPTIONED.address], actor="ann")
    [decision] = audit.find(library, AuditFilter(actor="bob"))
    app = opened("history")
    app.button(key=f"take-back-{decision.id}").click()
    rerun(app)
    assert library.get(PENDING.address).tier == "pending"
    assert library.get(UNCAPTIONED.address).tier == "pending"
    assert audit.find(library, AuditFilter(verb="undo"))[0].actor == "tester"


def test_all_decisions_since_a_date_can_be_undone(library: Library) -> None:
    app = opened("history")
    app.date_input(key="history-since-day").set_value(datetime.now(UTC).date() - timedelta(days=1))
    rerun(app)
    [button] = [button for button in app.button if button.label == "Undo them"]
    button.click()
    rerun(app)
    assert library.counts() == {"pending": 0, "approved": 0, "library": 0, "trash": 6}


def test_a_viewer_cannot_undo(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings(), "read_only", True)
    assert not opened("history").button


def test_a_removed_saved_search_is_listed_with_its_actor_and_restored(library: Library) -> None:
    library.searches.save("frogs", SavedSearch("frog"))
    library.searches.delete("frogs", actor="bob@x.org")
    app = opened("history")
    assert "frogs" in words(app)
    assert "bob@x" in words(app).replace("\\", "")
    [one] = library.removed.all()
    app.button(key=f"put-back-{one.id}").click()
    rerun(app)
    assert library.searches.all() == {"frogs": SavedSearch("frog")}
    assert library.removed.all()[0].put_back_by == "tester"

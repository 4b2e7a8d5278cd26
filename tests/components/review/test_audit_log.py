"""Decisions of all people: undone, one or all since a date, but not by a viewer; counts, rates, charts."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

from components.review import audit_log
from components.shell.page import local_time
from store.library import Library
from store.reading import audit
from store.reading.audit import AuditFilter
from store.settings import settings
from tests.browser.coins import COINS, PENDING, UNCAPTIONED
from tests.pages.conftest import opened, rerun, send, sendable, words


def test_a_decision_of_somebody_else_can_be_undone(library: Library) -> None:
    library.reject([PENDING.address], actor="bob")
    library.send_back([UNCAPTIONED.address], actor="ann")
    [decision] = audit.find(library, AuditFilter(actor="bob"))
    app = opened("history")
    send(app, f"take-back-{decision.id}")
    assert library.get(PENDING.address).tier == "pending"
    assert library.get(UNCAPTIONED.address).tier == "pending"
    assert audit.find(library, AuditFilter(verb="undo"))[0].actor == "tester"


def test_all_decisions_since_a_date_can_be_undone(library: Library) -> None:
    app = opened("history")
    app.date_input(key="history-since-day").set_value(datetime.now(UTC).date() - timedelta(days=1))
    rerun(app)
    send(app, "undo-since")
    assert library.counts() == {"pending": 0, "approved": 0, "library": 0, "trash": 6}


def test_a_viewer_cannot_undo(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings(), "read_only", True)
    assert not opened("history").button
    assert sendable() == []


def test_the_page_shows_decision_counts_and_the_approval_rate(library: Library) -> None:
    library.reject([PENDING.address], reason="copycat")
    figures = {metric.label: metric.value for metric in opened("history").metric}
    assert figures["Coins approved"] == str(len(COINS) + 1)
    assert figures["Coins rejected"] == "1"
    assert figures["Approval rate"] == "83%"


def test_reasons_for_rejecting_are_counted_in_a_chart(library: Library) -> None:
    assert len(opened("history").get("plotly_chart")) == 2, "nothing was rejected"
    library.reject([PENDING.address], reason="copycat")
    library.reject([UNCAPTIONED.address])
    app = opened("history")
    assert len(app.get("plotly_chart")) == 3
    assert "Rejected for" in words(app)
    shown = audit_log.by_reason(audit.figures(library, AuditFilter()).reasons)
    assert dict(zip(shown["name"], shown["count"], strict=True)) == {"copycat": 1, "no reason given": 1}


def test_charts_show_the_filtered_decisions(library: Library) -> None:
    library.reject([PENDING.address], actor="bob")
    assert len(opened("history").get("plotly_chart")) == 3
    decisions = pd.DataFrame(
        audit.decisions_by_day(library, AuditFilter()), columns=audit.DecisionsOfDay._fields
    )
    drawn = audit_log.by_kind(decisions)
    assert drawn["value"].sum() == audit.count(library, AuditFilter())
    assert dict(zip(drawn["kind"], drawn["value"], strict=True)) == {
        "Approved": 1,
        "Other": 1,
        "Promoted": 1,
        "Rejected": 1,
    }
    reviews = pd.DataFrame(audit.reviews_by_day(library, AuditFilter()), columns=audit.ReviewsOfDay._fields)
    assert list(audit_log.approval(reviews)["text"]) == ["5 of 6 coins"]
    assert len(opened("history", history_what="import").get("plotly_chart")) == 3
    assert not opened("history", history_to="2020-01-01").get("plotly_chart")


def test_days_are_named_by_the_zone_of_the_browser(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_time, "zone", lambda: ZoneInfo("Asia/Tokyo"))
    message = words(opened("history"))
    assert "Decisions per day (Asia/Tokyo), last 90 days" in message
    assert "UTC" not in message


def test_a_library_without_decisions_shows_no_charts(empty: Library) -> None:
    app = opened("history")
    assert not app.get("plotly_chart")
    assert "No matching decisions" in words(app)

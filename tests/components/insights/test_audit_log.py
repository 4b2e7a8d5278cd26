"""Decisions of all people: undone, one or all since a date, but not by a viewer; counts, rates, charts."""

import csv
import io
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

from components.insights import audit_log
from components.memory import open_memory
from components.shell.page import local_time
from store.library import Library
from store.memory.memory import Memory
from store.reading import audit
from store.reading.audit import AuditFilter
from store.settings import settings
from tests.browser.coins import COINS, PENDING, UNCAPTIONED
from tests.pages.conftest import opened, rerun, send, sendable, words


def test_a_decision_of_somebody_else_can_be_undone(library: Library) -> None:
    library.reject([PENDING.address], actor="bob")
    library.send_back([UNCAPTIONED.address], actor="ann")
    [decision] = audit.find(library, AuditFilter(actor="bob"))
    app = opened("activity")
    send(app, f"take-back-{decision.id}")
    assert library.get(PENDING.address).tier == "pending"
    assert library.get(UNCAPTIONED.address).tier == "pending"
    assert audit.find(library, AuditFilter(verb="undo"))[0].actor == "tester"


def test_decisions_about_texts_are_listed_among_those_about_coins_and_undone_there(
    library: Library, empty_memory: Memory
) -> None:
    memories = empty_memory.memories
    library.reject([PENDING.address], actor="bob")
    memories.store_memory("Ann prefers short tickers", actor="ann")
    [stored] = memories.passages.find()
    library.send_back([UNCAPTIONED.address], actor="bob")
    [decision] = empty_memory.decisions()
    app = opened("activity")
    said = words(app)
    assert said.index("Returned") < said.index("Stored 1 memory") < said.index("Rejected New Fish")
    send(app, f"take-back-{decision.id}")
    assert memories.passages.find() == []
    assert "Undid: stored 1 memory" in words(app)
    [undo, _] = empty_memory.decisions()
    send(app, f"take-back-{undo.id}")
    assert memories.passages.find() == [stored]
    assert library.get(PENDING.address).tier == "trash"
    mine = opened("activity", history_who="ann")
    assert "1 decision" in words(mine)
    [*_, line] = csv.DictReader(io.StringIO(_csv(library, AuditFilter(actor="ann"))))
    assert (line["who"], line["what"], line["name"], line["taken back"]) == ("ann", "store", "1 memory", "")


def test_texts_and_coins_are_taken_back_to_one_moment(library: Library, empty_memory: Memory) -> None:
    empty_memory.memories.store_memory("Ann prefers short tickers", actor="ann")
    app = opened("activity")
    app.date_input(key="history-since-day").set_value(datetime.now(UTC).date() - timedelta(days=1))
    rerun(app)
    send(app, "undo-since")
    assert [toast.value for toast in app.toast] == ["Undone for 1 text and 6 coins."]
    assert empty_memory.memories.passages.find() == []
    assert library.counts()["trash"] == 6


def _csv(library: Library, filter: AuditFilter) -> str:
    memory = open_memory.existing(library)
    return audit.as_csv(library, filter, others=audit_log.csv_lines(memory, filter))


def test_all_decisions_since_a_date_can_be_undone(library: Library) -> None:
    app = opened("activity")
    app.date_input(key="history-since-day").set_value(datetime.now(UTC).date() - timedelta(days=1))
    rerun(app)
    send(app, "undo-since")
    assert library.counts() == {"pending": 0, "approved": 0, "library": 0, "trash": 6}


def test_a_viewer_cannot_undo(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings(), "read_only", True)
    assert not opened("activity").button
    assert sendable() == []


def test_the_page_shows_decision_counts_and_the_approval_rate(library: Library) -> None:
    library.reject([PENDING.address], reason="copycat")
    figures = {metric.label: metric.value for metric in opened("activity").metric}
    assert figures["Coins approved"] == str(len(COINS) + 1)
    assert figures["Coins rejected"] == "1"
    assert figures["Approval rate"] == "83%"


def test_reasons_for_rejecting_are_counted_in_a_chart(library: Library) -> None:
    assert len(opened("activity").get("plotly_chart")) == 2, "nothing was rejected"
    library.reject([PENDING.address], reason="copycat")
    library.reject([UNCAPTIONED.address])
    app = opened("activity")
    assert len(app.get("plotly_chart")) == 3
    assert "Rejected for" in words(app)
    shown = audit_log.by_reason(audit.figures(library, AuditFilter()).reasons)
    assert dict(zip(shown["name"], shown["count"], strict=True)) == {"copycat": 1, "no reason given": 1}


def test_charts_show_the_filtered_decisions(library: Library) -> None:
    library.reject([PENDING.address], actor="bob")
    assert len(opened("activity").get("plotly_chart")) == 3
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
    assert len(opened("activity", history_what="import").get("plotly_chart")) == 3
    assert not opened("activity", history_to="2020-01-01").get("plotly_chart")


def test_days_are_named_by_the_zone_of_the_browser(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_time, "zone", lambda: ZoneInfo("Asia/Tokyo"))
    message = words(opened("activity"))
    assert "Decisions about coins per day (Asia/Tokyo), last 90 days" in message
    assert "UTC" not in message


def test_a_library_without_decisions_shows_no_charts(empty: Library) -> None:
    app = opened("activity")
    assert not app.get("plotly_chart")
    assert "No matching decisions" in words(app)

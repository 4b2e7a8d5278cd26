"""Decisions of others can be undone, one or all since a date, but not by a viewer."""

from datetime import UTC, datetime, timedelta

import pytest

from store.library import Library
from store.reading import audit
from store.reading.audit import AuditFilter
from store.settings import settings
from tests.browser.coins import PENDING, UNCAPTIONED
from tests.pages.conftest import opened, rerun, send, sendable


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

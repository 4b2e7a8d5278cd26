"""Decisions and approvals per day."""

from zoneinfo import ZoneInfo

import pytest

from components.insights import insights
from components.shell.page import local_time
from store.catalog.history import AuditFilter
from store.library import Library
from store.reading import audit
from tests.browser.coins import PENDING
from tests.pages.conftest import opened, words


def test_decisions_are_counted_by_kind_and_approvals_as_a_share(library: Library) -> None:
    library.reject([PENDING.address], actor="bob")
    drawn = insights.by_kind(audit.decisions_by_day(library, AuditFilter()))
    assert sum(count for _, _, count in drawn) == library.log.count()
    assert {kind: count for _, kind, count in drawn} == {
        "Approved": 1,
        "Other": 1,
        "Promoted": 1,
        "Rejected": 1,
    }
    [(_, share, text)] = insights.approval(audit.reviews_by_day(library, AuditFilter()))
    assert (share, text) == (5 / 6, "83% approved\n5 of 6 coins")


def test_days_are_named_by_the_zone_of_the_browser(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_time, "zone", lambda: ZoneInfo("Asia/Tokyo"))
    message = words(opened("insights", view="Reviewing"))
    assert "Decisions about coins per day (Asia/Tokyo), last 90 days" in message
    assert "UTC" not in message

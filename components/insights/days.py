"""Decisions per day, and the share of reviewed coins that were approved."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import streamlit as st

from components.shell import format
from components.shell.page import charts, local_time
from store import Library
from store.catalog import history
from store.reading import audit

if TYPE_CHECKING:
    from streamlit.elements.lib.grid_container import GridContainer

DAYS = 90
_KINDS = {
    "approve": "Approved", "reject": "Rejected", "delete": "Rejected", "promote": "Promoted",
    "caption": "Edited", "captions": "Edited", "complete": "Edited", "replace": "Edited",
    "correct text": "Edited", "comment": "Edited", "flag": "Edited", "tag": "Edited", "rename tag": "Edited",
    "remove tag": "Edited",
}  # fmt: skip
_OTHER = "Other"
_COLORS = {
    "Approved": charts.TIERS["Approved"],
    "Rejected": charts.TIERS["Rejected"],
    "Promoted": charts.TIERS["Library"],
    "Edited": charts.PURPLE,
    _OTHER: charts.QUIET,
}


def show(library: Library, grid: "GridContainer") -> None:
    """Both figures of the last days, of all coins; nothing if nothing was decided then."""
    zone, name = local_time.zone(), local_time.zone_name()
    first = local_time.now().date() - timedelta(days=DAYS - 1)
    filter = history.AuditFilter(since=local_time.midnight(first))
    decisions = audit.decisions_by_day(library, filter, zone)
    if not decisions:
        return
    with grid.cell():
        st.caption(f"Decisions about coins per day ({name}), last {DAYS} days")
        figure = charts.days(by_kind(decisions), title="Decisions", colors=_COLORS)
        charts.show(figure, key="decisions-by-day", alt="Decisions about coins per day, by kind")
    reviews = audit.reviews_by_day(library, filter, zone)
    if not reviews:
        return
    with grid.cell():
        st.caption(f"Approval rate per day ({name}), last {DAYS} days")
        figure = charts.shares(approval(reviews), title="Approved", over=[one.day for one in decisions])
        alt = "Share of reviewed coins that were approved, by day"
        charts.show(figure, key="approval-by-day", alt=alt)


def by_kind(decisions: Sequence[audit.DecisionsOfDay]) -> list[tuple[int, str, int]]:
    """The number of decisions by day and kind."""
    counts: Counter[tuple[int, str]] = Counter()
    for one in decisions:
        counts[one.day, _KINDS.get(one.verb, _OTHER)] += one.decisions
    return [(day, kind, count) for (day, kind), count in counts.items()]


def approval(reviews: Sequence[audit.ReviewsOfDay]) -> list[tuple[int, float, str]]:
    """Each day's share of reviewed coins that were approved, with its text."""
    shares = []
    for day, approved, rejected in reviews:
        total = approved + rejected
        text = f"{approved / total:.0%} approved\n{approved:,} of {format.counted(total, 'coin')}"
        shares.append((day, approved / total, text))
    return shares

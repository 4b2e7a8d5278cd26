"""Charts of the history: decisions per day by kind, approval rate, and reasons for rejecting."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import streamlit as st

from components.shell import format
from components.shell.page import charts, local_time
from store import Library
from store.reading import audit

if TYPE_CHECKING:
    import pandas as pd

DAYS = 90  # shown by default
_KINDS = {
    "approve": "Approved", "reject": "Rejected", "delete": "Rejected", "promote": "Promoted",
    "caption": "Edited", "captions": "Edited", "complete": "Edited", "replace": "Edited",
    "correct text": "Edited", "flag": "Edited", "tag": "Edited", "rename tag": "Edited",
}  # fmt: skip
_OTHER = "Other"
_REASONS = 8  # that are drawn, the most frequent
_COLORS = {
    "Approved": charts.GREEN,
    "Rejected": charts.RED,
    "Promoted": charts.ACCENT,
    "Edited": charts.YELLOW,
    _OTHER: charts.QUIET,
}


def show(library: Library, filter: audit.AuditFilter) -> None:
    """Decisions per day, approval rate and reasons side by side, or one sentence if there are none."""
    import pandas as pd

    filter, when = _recent(filter)
    decisions = pd.DataFrame(
        audit.decisions_by_day(library, filter, local_time.zone()), columns=audit.DecisionsOfDay._fields
    )
    if decisions.empty:
        if when:  # of any other time the list below says so
            st.caption(f"No matching decisions in the {when}.")
        return
    reviews = pd.DataFrame(
        audit.reviews_by_day(library, replace(filter, verb=""), local_time.zone()),
        columns=audit.ReviewsOfDay._fields,
    )
    suffix = f", {when}" if when else ""
    why = audit.figures(library, replace(filter, verb="")).reasons
    grid = st.grid(3 if why else 2, min_column_width=320, gap=("small", "medium"))
    with grid.cell():
        st.caption(f"Decisions per day ({local_time.zone_name()}){suffix}")
        figure = charts.days(by_kind(decisions), title="Decisions", colors=_COLORS)
        charts.show(figure, key="decisions-by-day", alt="Decisions per day, by kind")
    with grid.cell():
        st.caption(f"Approval rate per day ({local_time.zone_name()}){suffix}")
        if reviews.empty:
            st.caption("No coin was approved or rejected in these days.")
        else:
            figure = charts.shares(
                approval(reviews), title="Approved", hover="approved", over=decisions["day"]
            )
            alt = "Share of reviewed coins that were approved, by day"
            charts.show(figure, key="approval-by-day", alt=alt)
    if why:
        with grid.cell():
            st.caption(f"Rejected for{suffix}")
            figure = charts.ranked(by_reason(why), title="Coins")
            charts.show(figure, key="reasons", alt="How many coins were rejected for which reason")


def by_kind(decisions: "pd.DataFrame") -> "pd.DataFrame":
    """Decisions by day and kind: columns day, kind and value."""
    kinds = decisions["verb"].map(_KINDS).fillna(_OTHER)
    found = decisions.assign(kind=kinds).groupby(["day", "kind"], as_index=False)["decisions"].sum()
    return found.rename(columns={"decisions": "value"})


def approval(reviews: "pd.DataFrame") -> "pd.DataFrame":
    """The share of each day's reviewed coins that were approved, with its text."""
    looked_at = reviews["approved"] + reviews["rejected"]
    text = [
        f"{approved:,} of {format.counted(total, 'coin')}"
        for approved, total in zip(reviews["approved"], looked_at, strict=True)
    ]
    return reviews.assign(share=reviews["approved"] / looked_at, text=text)[["day", "share", "text"]]


def by_reason(why: Mapping[str, int]) -> "pd.DataFrame":
    """The most frequent reasons for rejecting: columns name and count."""
    import pandas as pd

    named = [(reason or "no reason given", number) for reason, number in why.items()]
    return pd.DataFrame(named[:_REASONS], columns=["name", "count"])


def _recent(filter: audit.AuditFilter) -> tuple[audit.AuditFilter, str]:
    """The filter limited to the last days unless it has a start, and their label."""
    if filter.since is not None:
        return filter, ""
    until = (
        local_time.now() if filter.until is None else datetime.fromtimestamp(filter.until, local_time.zone())
    )
    since = local_time.midnight(until.date() - timedelta(days=DAYS - 1))
    return replace(filter, since=since), f"last {DAYS} days" if filter.until is None else ""

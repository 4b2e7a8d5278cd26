"""Decisions per day, and the share of reviewed coins that were approved."""

from datetime import timedelta
from typing import TYPE_CHECKING

import streamlit as st

from components.shell import format
from components.shell.page import charts, local_time
from store import Library
from store.reading import audit

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.elements.lib.grid_container import GridContainer

DAYS = 90
_KINDS = {
    "approve": "Approved", "reject": "Rejected", "delete": "Rejected", "promote": "Promoted",
    "caption": "Edited", "captions": "Edited", "complete": "Edited", "replace": "Edited",
    "correct text": "Edited", "flag": "Edited", "tag": "Edited", "rename tag": "Edited",
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
    import pandas as pd

    zone, name = local_time.zone(), local_time.zone_name()
    first = local_time.now().date() - timedelta(days=DAYS - 1)
    filter = audit.AuditFilter(since=local_time.midnight(first))
    decisions = pd.DataFrame(
        audit.decisions_by_day(library, filter, zone), columns=audit.DecisionsOfDay._fields
    )
    if decisions.empty:
        return
    with grid.cell():
        st.caption(f"Decisions about coins per day ({name}), last {DAYS} days")
        figure = charts.days(by_kind(decisions), title="Decisions", colors=_COLORS)
        charts.show(figure, key="decisions-by-day", alt="Decisions about coins per day, by kind")
    reviews = pd.DataFrame(audit.reviews_by_day(library, filter, zone), columns=audit.ReviewsOfDay._fields)
    if reviews.empty:
        return
    with grid.cell():
        st.caption(f"Approval rate per day ({name}), last {DAYS} days")
        figure = charts.shares(approval(reviews), title="Approved", hover="approved", over=decisions["day"])
        alt = "Share of reviewed coins that were approved, by day"
        charts.show(figure, key="approval-by-day", alt=alt)


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

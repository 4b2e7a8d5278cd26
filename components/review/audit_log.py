"""The audit log: filter, count, draw and export decisions, undo them, and restore what was deleted."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, time, timedelta
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from components.shell import format
from components.shell.page import charts, forms, local_time, streamlit_style, thumbnails
from components.shell.page import undo as shell_undo
from components.shell.page.forms import Button
from components.shell.page.undo import AT_ONCE, sentence
from components.shell.session import presenter
from store import DeletedItem, Library, PastDecision
from store.catalog import history
from store.reading import audit
from store.tasks import undo as undo_task

if TYPE_CHECKING:
    import pandas as pd


_PER_PAGE = 50
_EVERYBODY, _EVERYTHING = "Everybody", "Everything"
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
_DELETED = 50


def controls(library: Library) -> audit.AuditFilter:
    """Draw the controls and return their values; all are in the page's address."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        actor = st.selectbox(
            "Who", [_EVERYBODY, *audit.people(library)], key="history_who", bind="query-params", width=240,
            format_func=lambda one: one if one == _EVERYBODY else presenter.name(one),
        )  # fmt: skip
        verb = st.selectbox(
            "What", [_EVERYTHING, *audit.verbs(library)], key="history_what", bind="query-params", width=160
        )
        first = st.date_input("From", value=None, key="history_from", bind="query-params", width=185)
        last = st.date_input("To", value=None, key="history_to", bind="query-params", width=185)
    return audit.AuditFilter(
        actor="" if actor == _EVERYBODY else actor,
        verb="" if verb == _EVERYTHING else verb,
        since=local_time.midnight(first) if first else None,
        until=local_time.midnight(last + timedelta(days=1)) if last else None,
    )


def figures(library: Library, filter: audit.AuditFilter) -> None:
    """How many coins were reviewed, the speed, and the approval rate."""
    found = audit.figures(library, replace(filter, verb=""))
    with st.grid(4, min_column_width=150):
        st.metric("Coins approved", f"{found.approved:,}", border=True)
        st.metric("Coins rejected", f"{found.rejected:,}", border=True)
        st.metric(
            "Reviewed per hour",
            f"{found.an_hour:,.0f}",
            border=True,
            help="Coins that people approved or rejected, for each hour in which one of them did.",
        )
        looked_at = found.approved + found.rejected
        st.metric("Approval rate", f"{found.approval:.0%}" if looked_at else "–", border=True)


def tools(library: Library, filter: audit.AuditFilter) -> None:
    """Export the table, and undo everything since a moment."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.download_button(
            "Download as CSV",
            lambda: audit.as_csv(library, filter),
            "history.csv",
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
        )
        if library.can_write:
            with st.popover("Undo everything since …", icon=":material/history:"):
                _since(library, filter)


def _since(library: Library, filter: audit.AuditFilter) -> None:
    now = local_time.now()
    day = st.date_input("Day", value=now.date(), key="history-since-day")
    hour = st.time_input(f"Time ({local_time.zone_name()})", value=time(now.hour), key="history-since-time")
    if day is None or hour is None:
        return
    chosen = audit.since(library, local_time.at(day, hour), filter=filter)
    whose = f" of {format.plain(presenter.name(filter.actor))}" if filter.actor else ""
    what = f" ({format.done(filter.verb)})" if filter.verb else ""
    st.markdown(f"{format.counted(len(chosen), 'decision')}{whose}{what} since then")
    forms.show(
        "undo-since", library, partial(_undo, library, chosen),
        button=Button("Undo them", kind="primary", disabled=not chosen),
    )  # fmt: skip


def table(library: Library, filter: audit.AuditFilter) -> None:
    """The decisions, newest first, each with an undo button."""
    total = audit.count(library, filter)
    if not total:
        st.info("No matching decisions.", icon=":material/search_off:")
        return
    pages = -(-total // _PER_PAGE)
    page = 1
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{format.counted(total, 'decision')} · times in {local_time.zone_name()}")
        if pages > 1:
            if st.session_state.get("history_page", 1) > pages:
                st.session_state["history_page"] = pages
            page = st.pagination(pages, key="history_page", bind="query-params", max_visible_pages=5)
    for decision in audit.find(library, filter, offset=(page - 1) * _PER_PAGE, limit=_PER_PAGE):
        _line(library, decision)


def _line(library: Library, decision: PastDecision) -> None:
    words = sentence(library, decision)
    words = words[:1].upper() + words[1:]
    key = f"{streamlit_style.DECISION}-{decision.id}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=key):
        events = library.history(decision=decision.id, limit=thumbnails.SHOWN)
        thumbnails.row(library, [event.address for event in events])
        with st.container(width=150, gap=None):  # one above the other: the row is as high as its button
            st.text(
                presenter.name(decision.actor) + (" (you)" if decision.actor == library.actor_name else "")
            )
            st.caption(local_time.text(decision.created_at, "%Y-%m-%d %H:%M:%S"))
        st.markdown(f":gray[~~{words}~~]" if decision.is_undone else words, width="stretch")
        if library.can_write and not decision.is_undone and decision.verb not in history.FINAL:
            label = "Undo" if decision.verb != "undo" else "Redo"
            forms.show(
                f"take-back-{decision.id}", library, partial(_undo, library, [decision.id]),
                button=Button(label, icon=label.lower(), kind="tertiary"),
            )  # fmt: skip


def _undo(library: Library, chosen: list[str], sent: forms.Sent) -> str:
    if len(chosen) == 1:
        return shell_undo.one(library, chosen[0], sent)
    if undo_task.start(library, chosen, at_once=AT_ONCE, decision=sent.decision):
        return ""
    return shell_undo.result(library.undo_decisions(chosen), message="Undone for")


def decision_charts(library: Library, filter: audit.AuditFilter) -> None:
    """Decisions per day, approval rate and reasons side by side, or one sentence if there are none."""
    import pandas as pd

    filter, when = _last_days(filter)
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


def _last_days(filter: audit.AuditFilter) -> tuple[audit.AuditFilter, str]:
    """The filter limited to the last days unless it has a start, and their label."""
    if filter.since is not None:
        return filter, ""
    until = (
        local_time.now() if filter.until is None else datetime.fromtimestamp(filter.until, local_time.zone())
    )
    since = local_time.midnight(until.date() - timedelta(days=DAYS - 1))
    return replace(filter, since=since), f"last {DAYS} days" if filter.until is None else ""


def deleted_items(library: Library) -> None:
    """Who deleted what, and when, newest first; nothing if there is none."""
    found = library.removed.all(limit=_DELETED)
    if not found:
        return
    with st.expander(f"Removed searches, filters, golden queries and jobs ({len(found)})"):
        for one in found:
            _deleted_item(library, one)


def _deleted_item(library: Library, one: DeletedItem) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(one.what, color="gray")
        st.text(one.name, width="stretch")
        actor = presenter.name(one.actor) or "removed to make room"
        st.caption(f"{format.plain(actor)} · {format.ago(one.removed_at)}", width="content")
        if one.restored_at:
            st.caption(f"restored by {format.plain(presenter.name(one.restored_by))}", width="content")
        elif library.can_write and library.removed.can_restore(one):
            forms.button(
                f"put-back-{one.id}", library, partial(library.removed.restore, one.id),
                button=Button("Restore", icon="restore"), message=f"{one.what.capitalize()} restored.",
            )  # fmt: skip

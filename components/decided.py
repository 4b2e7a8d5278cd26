"""The book of decisions: filtered, counted, taken back one by one or since a moment, kept as a table."""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

import streamlit as st

from components import decisions, wording
from components.grid.ledger import AT_ONCE
from components.told import sentence
from store import decided, reversing
from store.decided import Asked
from store.history import Decision
from store.library import Library
from store.outcome import Outcome

_PER_PAGE = 50
_EVERYBODY, _EVERYTHING = "Everybody", "Everything"


def ask(library: Library) -> Asked:
    """Draw the controls and give what they ask for; all of it in the address. Days are those of UTC."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        who = st.selectbox(
            "Who", [_EVERYBODY, *decided.people(library)], key="history_who", bind="query-params", width=240
        )
        verb = st.selectbox(
            "What", [_EVERYTHING, *decided.verbs(library)], key="history_what", bind="query-params", width=160
        )
        first = st.date_input("From", value=None, key="history_from", bind="query-params", width=150)
        last = st.date_input("To", value=None, key="history_to", bind="query-params", width=150)
    return Asked(
        who="" if who == _EVERYBODY else who,
        verb="" if verb == _EVERYTHING else verb,
        since=_midnight(first) if first else None,
        until=_midnight(last + timedelta(days=1)) if last else None,
    )


def figures(library: Library, asked: Asked) -> None:
    """How fast, how strict, and why rejected."""
    found = decided.figures(library, replace(asked, verb=""))
    with st.grid(4, min_column_width=180):
        st.metric("Approved", f"{found.approved:,}", border=True)
        st.metric("Rejected", f"{found.rejected:,}", border=True)
        st.metric(
            "Decisions an hour", f"{found.an_hour:,.0f}", border=True,
            help="Coins approved or rejected, for each hour in which a person decided anything.",
        )  # fmt: skip
        looked_at = found.approved + found.rejected
        st.metric("Approval rate", f"{found.approval:.0%}" if looked_at else "–", border=True)
    reasons = [(reason or "no reason given", number) for reason, number in list(found.reasons.items())[:8]]
    if reasons:
        with st.container(horizontal=True, gap="xsmall"):
            st.caption("Rejected for:", width="content")
            for reason, number in reasons:
                st.badge(f"{wording.plain(reason, limit=60)} · {number:,}", color="gray")


def tools(library: Library, asked: Asked) -> None:
    """The table to keep, and taking back everything since a moment."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.download_button(
            "Download as CSV", lambda: decided.as_csv(library, asked), "history.csv", "text/csv",
            icon=":material/download:", on_click="ignore",
        )  # fmt: skip
        if library.can_write:
            with st.popover("Take back everything since …", icon=":material/history:"):
                _since(library, asked)


def _since(library: Library, asked: Asked) -> None:
    now = datetime.now(UTC)
    day = st.date_input("Day (UTC)", value=now.date(), key="history-since-day")
    hour = st.time_input("Time (UTC)", value=time(now.hour), key="history-since-time")
    if day is None or hour is None:
        return
    at = datetime.combine(day, hour, UTC).timestamp()
    chosen = decided.since(library, at, asked=asked)
    whose = f" of {wording.plain(asked.who)}" if asked.who else ""
    what = f" ({wording.done(asked.verb)})" if asked.verb else ""
    st.markdown(f"{wording.counted(len(chosen), 'decision')}{whose}{what} since then")
    st.button(
        "Take them back",
        type="primary",
        disabled=not chosen,
        on_click=_take_back,
        args=(library, chosen),
    )


def book(library: Library, asked: Asked) -> None:
    """The decisions, newest first, each with a button that takes it back."""
    total = decided.count(library, asked)
    if not total:
        st.info("No decision passes these filters.", icon=":material/search_off:")
        return
    pages = -(-total // _PER_PAGE)
    page = 1
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(wording.counted(total, "decision"))
        if pages > 1:
            if st.session_state.get("history_page", 1) > pages:
                st.session_state["history_page"] = pages
            page = st.pagination(pages, key="history_page", bind="query-params", max_visible_pages=5)
    for decision in decided.find(library, asked, offset=(page - 1) * _PER_PAGE, limit=_PER_PAGE):
        _line(library, decision)


def _line(library: Library, decision: Decision) -> None:
    words = sentence(library, decision)
    words = words[:1].upper() + words[1:]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(width=130, gap=None):  # one above the other: the row is as high as its button
            st.text(decision.who)
            st.caption(datetime.fromtimestamp(decision.at, UTC).strftime("%Y-%m-%d %H:%M:%S"))
        st.markdown(f":gray[~~{words}~~]" if decision.is_undone else words, width="stretch")
        if library.can_write and not decision.is_undone:
            st.button(
                "Take back" if decision.verb != "undo" else "Do again",
                key=f"take-back-{decision.id}",
                type="tertiary",
                icon=":material/undo:" if decision.verb != "undo" else ":material/redo:",
                on_click=_take_back,
                args=(library, [decision.id]),
            )


def _take_back(library: Library, chosen: list[str]) -> None:
    def decide() -> Outcome:
        in_background = reversing.begun(library, chosen, at_once=AT_ONCE)
        return Outcome() if in_background else library.take_back(chosen)

    decisions.take_back(decide)


def _midnight(day: date) -> float:
    return datetime.combine(day, time(), UTC).timestamp()

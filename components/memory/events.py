"""Events of recorded sessions, filtered by type, tool, level, error, model, date and session."""

import streamlit as st

from components.shell import format
from components.shell.page import tables
from store import Memory
from store.memory.values import EventColumn, EventFilter

_PER_PAGE = 100
_STRUCTURE: tuple[tuple[str, EventColumn, str], ...] = (
    ("Type", "event", "event"),
    ("Tool", "tool_name", "tool"),
    ("Level", "lvl", "level"),
    ("Error", "error_type", "error"),
    ("Model", "model_used", "model"),
)


def show(memory: Memory, *, session: str | None, projects: list[str] | None) -> None:
    """Filters, and a page of the events that match, newest first."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        type_, tool, level, error, model = (
            st.selectbox(
                label,
                memory.transcripts.event_values(column),
                index=None,
                key=key,
                bind="query-params",
                placeholder="any",
            )
            for label, column, key in _STRUCTURE
        )
        since = st.date_input("Since", None, key="events_since", bind="query-params")
        until = st.date_input("Until", None, key="events_until", bind="query-params")
    filter = EventFilter(
        event=type_, tool_name=tool, lvl=level, error_type=error, model_used=model, session_id=session,
        project_slug=projects, since=since.isoformat() if since else None,
        until=until.isoformat() if until else None,
    )  # fmt: skip
    total = memory.transcripts.count_events(filter)
    pages = max(1, -(-total // _PER_PAGE))
    if st.session_state.get("page_events", 1) > pages:
        st.session_state["page_events"] = pages
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(format.counted(total, "event"), width="stretch")
        page = (
            st.pagination(pages, key="page_events", bind="query-params", max_visible_pages=5)
            if pages > 1
            else 1
        )
    rows = memory.transcripts.find_events(filter, offset=(page - 1) * _PER_PAGE, limit=_PER_PAGE)
    if not rows:
        st.info("No event passes these filters.", icon=":material/search_off:")
        return
    columns = ("ts", "event", "lvl", "tool_name", "error_type", "model_used", "session_id", "data")
    shown = [{name: row[name] for name in columns} for row in rows]
    tables.show(shown, height=min(15, len(rows) + 1) * 36, alt="Events, newest first")

"""Actions on one record beside its caption."""

import streamlit as st

from components.shell import format, job_bar, session
from store.library import Library
from store.records import Record


def verbs(library: Library, record: Record) -> None:
    """Draw the buttons for what can be done with this record."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        if not library.can_write:
            _more_like(record)
        elif record.tier == "approved":
            reason = (
                "Write entity and context first."
                if not record.is_captioned
                else "Save first."
                if library.drafts.own(record.address)
                else ""
            )
            st.button(
                "Promote to the library",
                icon=":material/publish:",
                disabled=bool(reason),
                help=reason or "Embeds it and makes it searchable.",
                on_click=_promote,
                args=(library, record),
            )
        else:
            st.button(
                "Remove from library",
                icon=":material/undo:",
                help="Moves it back to Approved and out of search; caption, tags and vectors are kept.",
                on_click=_degrade,
                args=(library, record),
            )
            _more_like(record)
        st.page_link(
            "pages/lore.py",
            label="In lore and memory",
            icon=":material/auto_stories:",
            query_params={"view": "Connections", "coin": record.address},
        )


def _more_like(record: Record) -> None:
    st.page_link(
        "pages/search.py",
        label="More like this",
        icon=":material/travel_explore:",
        query_params={"like": record.address},
    )


def _promote(library: Library, record: Record) -> None:
    job_bar.start(
        library.jobs, "move", [record.address], name=f"Promote {record.name}", options={"verb": "promote"}
    )


def _degrade(library: Library, record: Record) -> None:
    outcome = library.degrade([record.address])
    for refusal in outcome.refused:
        session.queue_message(format.plain(refusal.reason, limit=300), icon=":material/error:")
    if outcome.done:
        session.queue_message(
            f"{format.plain(record.name)} was removed from the library and is back in Approved.",
            icon=":material/undo:",
        )

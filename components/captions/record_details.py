"""The stored data of one record: its sidecar, its fields in Chroma, its vectors, its history."""

import streamlit as st

from components.shell import format
from components.shell.page import tables
from components.shell.session import presenter
from store import Library, Record
from store.records import FACETS, chroma_metadata


def show(library: Library, record: Record) -> None:
    """Two closed sections, whose content is fetched when they are opened."""
    drawer = st.expander("What is stored", icon=":material/database:", on_change="rerun", key="stored-drawer")
    if drawer.open:
        with drawer:
            _stored(library, record)
    drawer = st.expander(
        "History of this coin", icon=":material/history:", on_change="rerun", key="history-drawer"
    )
    if drawer.open:
        with drawer:
            _history(library, record)


def _stored(library: Library, record: Record) -> None:
    st.caption(
        f"Model: {format.plain(format.model(library.model))} · revision {record.revision} of this record"
    )
    with st.container(horizontal=True, gap="xsmall"):
        embedded = library.embedded_facets(record.address)
        for facet in FACETS:
            there = facet in embedded
            st.badge(
                facet,
                icon=":material/check:" if there else ":material/remove:",
                color="green" if there else "gray",
            )
    st.caption(
        "Which facets have a vector. They are kept when the coin is removed from the library, so promoting "
        "again costs nothing."
    )
    if record.tier == "library":
        st.markdown("**In Chroma**, with each vector")
        tables.fields(chroma_metadata(record))
    st.markdown("**Sidecar**")
    tables.fields(record.sidecar)


def _history(library: Library, record: Record) -> None:
    rows = [
        {
            "when": tables.moment(event.created_at),
            "what": format.done(event.verb) + (" (undone)" if event.is_undone else ""),
            "from": event.before_tier or "",
            "to": event.after_tier or "",
            "who": presenter.name(event.actor),
            "why": event.reason,
        }
        for event in library.history(address=record.address, limit=50)
    ]
    tables.show(rows, alt="What was done to this coin, newest first", columns={"when": tables.when()})

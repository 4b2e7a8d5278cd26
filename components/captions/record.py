"""One record next to its caption: what can be done with it, and what is stored of it."""

from functools import partial

import streamlit as st

from components.shell import format
from components.shell.page import forms, job_bar, places, tables
from components.shell.page.forms import Button
from components.shell.session import presenter, safe_mode
from store import Library, Record
from store.errors import InvalidRecord
from store.records import FACETS, chroma_metadata
from store.tasks import move


def verbs(library: Library, record: Record) -> None:
    """Draw the buttons for what can be done with this record."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
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
            forms.show(
                f"promote-{record.address}", library,
                job_bar.starting(partial(move.start_promotion, library, record.address)),
                button=Button(
                    "Promote to the library", icon="publish", disabled=bool(reason),
                    help=reason or "Embeds it and makes it searchable.",
                ),
            )  # fmt: skip
        else:
            st.badge("In the library", icon=":material/check:", color="green")  # where "Promote" was
            _more_like(record)
        st.page_link(
            **places.memory_of(record.address), label="In lore and memory", icon=":material/auto_stories:"
        )
        if library.can_write and record.tier != "approved":
            st.space("stretch")
            forms.show(
                f"remove-{record.address}", library, partial(_degrade, library, record),
                button=Button(
                    "Remove from library", icon="undo",
                    help="Moves it back to Approved and out of search; caption, tags and vectors are kept.",
                ),
            )  # fmt: skip


def _more_like(record: Record) -> None:
    st.page_link(
        "pages/search.py",
        label="More like this",
        icon=":material/travel_explore:",
        query_params={"like": record.address},
    )


def _degrade(library: Library, record: Record, sent: forms.Sent) -> str:
    for refusal in library.degrade([record.address], decision=sent.decision).refused:
        raise InvalidRecord(refusal.reason)
    name = format.plain(safe_mode.shown(library, record).name)
    return f"{name} was removed from the library and is back in Approved."


def details(library: Library, record: Record) -> None:
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
        "Which of picture and captions have a vector. They are kept when the coin is removed from the "
        "library, so promoting again costs nothing."
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

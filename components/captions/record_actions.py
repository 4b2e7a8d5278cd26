"""Actions on one record next to its caption."""

from functools import partial

import streamlit as st

from components.shell import format
from components.shell.page import forms, job_bar
from components.shell.page.forms import Button
from components.shell.session import safe_mode
from store import Library, Record
from store.errors import InvalidRecord
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
            "pages/lore.py",
            label="In lore and memory",
            icon=":material/auto_stories:",
            query_params={"view": "Connections", "coin": record.address},
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

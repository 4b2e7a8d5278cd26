"""Deleted searches, filters, weights, golden queries and jobs, and their restoration."""

import streamlit as st

from components.shell import format, session
from store.catalog.removed import Removed
from store.errors import MemedexError
from store.library import Library

_SHOWN = 50


def show(library: Library) -> None:
    """Who deleted what, and when, newest first; nothing if there is none."""
    found = library.removed.all(limit=_SHOWN)
    if not found:
        return
    with st.expander(f"Removed searches, filters, golden queries and jobs ({len(found)})"):
        for one in found:
            _line(library, one)


def _line(library: Library, one: Removed) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(one.what, color="gray")
        st.text(one.name, width="stretch")
        actor = one.actor or "removed to make room"
        st.caption(f"{format.plain(actor)} · {format.ago(one.removed_at)}", width="content")
        if one.put_back_at:
            st.caption(f"put back by {format.plain(one.put_back_by)}", width="content")
        elif library.can_write and library.removed.can_restore(one):
            st.button(
                "Put back", key=f"put-back-{one.id}", icon=":material/restore:", on_click=_put_back,
                args=(library, one),
            )  # fmt: skip


def _put_back(library: Library, one: Removed) -> None:
    try:
        library.removed.restore(one.id)
    except MemedexError as error:
        session.queue_message(format.plain(str(error), limit=200), icon=":material/error:")
    else:
        session.queue_message(f"The {one.what} is back.", icon=":material/check:")

"""Deleted searches, filters, weights, golden queries and jobs, and their restoration."""

from functools import partial

import streamlit as st

from components.shell import format
from components.shell.page import forms
from components.shell.page.forms import Button
from components.shell.session import presenter
from store import DeletedItem, Library

_SHOWN = 50


def show(library: Library) -> None:
    """Who deleted what, and when, newest first; nothing if there is none."""
    found = library.removed.all(limit=_SHOWN)
    if not found:
        return
    with st.expander(f"Removed searches, filters, golden queries and jobs ({len(found)})"):
        for one in found:
            _line(library, one)


def _line(library: Library, one: DeletedItem) -> None:
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

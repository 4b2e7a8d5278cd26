"""The watched folder as one sees it: where it is, and what of it was not taken and why."""

import streamlit as st

from components import wording
from store import inbox
from store.library import Library
from store.settings import settings

_SHOWN = 200


def show(library: Library) -> None:
    """Nothing where no folder is watched."""
    folder = settings().inbox
    if folder is None:
        return
    taken, refused = inbox.taken(library), inbox.refused(library, limit=_SHOWN)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(":material/move_to_inbox: **Inbox**", width="content")
        st.caption(wording.plain(str(folder), limit=120), width="stretch")
        st.badge(f"{taken:,} taken", color="gray")
        if refused:
            st.badge(f"{len(refused):,} refused", icon=":material/block:", color="red")
    if not folder.expanduser().is_dir():
        st.warning("This folder does not exist: make it, or set MEMEDEX_INBOX.", icon=":material/folder_off:")
    elif not refused:
        st.caption("What you put there arrives in pending by itself, and stays where it is.")
    if refused:
        rows = [{"file": one.path, "reason": one.reason, "when": wording.ago(one.at)} for one in refused]
        with st.expander(f"Refused and why ({len(rows):,})"):
            st.dataframe(rows, hide_index=True, alt="Files of the inbox that were not taken, and why")

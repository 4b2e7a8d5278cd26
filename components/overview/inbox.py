"""The watched folder: where it is, and which files were refused and why."""

from pathlib import Path

import streamlit as st

from components.shell import format
from components.shell.page import tables
from components.shell.server import server_paths
from store import Library
from store.disk import files
from store.settings import settings
from store.tasks import inbox

_SHOWN = 200


def show(library: Library) -> None:
    """Show the inbox; nothing if no folder is watched."""
    folder = settings().inbox
    if folder is None:
        return
    taken, refused = inbox.taken_files(library), inbox.refused(library, limit=_SHOWN)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(":material/move_to_inbox: **Inbox**", width="content")
        st.caption(format.plain(server_paths.shown(folder), limit=120), width="stretch")
        st.badge(f"{taken:,} imported", color="gray")
        if refused:
            st.badge(f"{len(refused):,} refused", icon=":material/block:", color="red")
    if not files.expanded(folder).is_dir():
        st.warning("This folder does not exist: make it, or set MEMEDEX_INBOX.", icon=":material/folder_off:")
    elif not refused:
        st.caption("What you put there arrives in Review by itself, and stays where it is.")
    if refused:
        rows = [
            {"file": server_paths.shown(Path(one.path)), "reason": one.reason, "when": tables.moment(one.at)}
            for one in refused
        ]
        with st.expander(f"Refused and why ({len(rows):,})"):
            tables.show(
                rows, alt="Files of the inbox that were refused, and why", columns={"when": tables.when()}
            )

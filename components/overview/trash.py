"""Rejected and deleted records, and their restoration."""

import streamlit as st

from components.grid import RESTORE, browse, show_view
from store.catalog.filters import Filter
from store.library import Library


def show(library: Library) -> bool:
    """A section with everything in the trash, fetched when it is opened; returns whether it is open."""
    if not library.counts()["trash"]:
        return False
    # No count in its name: with another name it would be another drawer, shut after every coin brought back.
    drawer = st.expander(
        "Rejected: each coin can be restored", icon=":material/delete:", on_change="rerun", key="trash-drawer"
    )
    if drawer.open:
        with drawer:
            view = browse("trash", library, base=Filter(tier="trash"))
            show_view(
                "trash",
                library,
                view,
                actions=[RESTORE],
                handlers={},
            )
    return bool(drawer.open)

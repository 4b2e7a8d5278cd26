"""What was rejected or deleted, and bringing it back."""

import streamlit as st

from components import wording
from components.grid import RESTORE, browse, show_cards, turning
from store.library import Library
from store.listing import Filter


def show(library: Library) -> bool:
    """A drawer with everything in the trash, fetched once it is opened; gives whether it is open."""
    count = library.counts()["trash"]
    if not count:
        return False
    label = f"Trash: {wording.counted(count, 'coin')}, each can be restored"
    drawer = st.expander(label, icon=":material/delete:", on_change="rerun", key="trash-drawer")
    if drawer.open:
        with drawer:
            view = browse("trash", library, base=Filter(tier="trash"))
            show_cards(
                "trash",
                library,
                view.records,
                actions=[RESTORE],
                handlers=turning("trash"),
                pages=view.pages > 1,
                matching=view.matching,
            )
    return bool(drawer.open)

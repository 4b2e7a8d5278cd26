"""Review: new coins in a grid; approve or reject, one or many, and take it back."""

import streamlit as st

from components import live, promoting, tagging, wording
from components.frame import open_page
from components.grid import APPROVE, LIKE, REJECT, TAGS, browse, resembling, show_cards, turning
from store.filter import Filter

library = open_page("Pending")

live.follow(library)
view = browse("pending", library, base=Filter(tier="pending"))
show_cards(
    "pending",
    library,
    view.records,
    actions=[APPROVE, REJECT, TAGS, LIKE],
    handlers={**turning("pending"), **resembling("pending"), **tagging.WAYS},
    mark=promoting.on_their_way(library, view.records),
    pages=view.pages > 1,
    matching=view.matching,
)

tagging.dialog(library)

if not view.records and view.is_filtered:
    st.info(
        "No pending coin passes these filters.",
        icon=":material/search_off:",
    )
elif not view.records:
    counts = library.counts()
    st.success("Nothing is waiting for review.", icon=":material/check_circle:")
    with st.container(horizontal=True):
        st.page_link("overview.py", label="Import more coins", icon=":material/download:")
        if counts["approved"]:
            waiting = wording.counted(counts["approved"], "approved coin")
            st.page_link("pages/approved.py", label=f"Go on with {waiting}", icon=":material/task_alt:")

"""Review: new coins in a grid; approve or reject, one or many, and take it back."""

import streamlit as st

from components import live, wording
from components.frame import open_page
from components.grid import APPROVE, LIKE, REJECT, browse, resembling, show_cards, turning

library = open_page("Pending")

live.follow(library)
view = browse("pending", library, tier="pending")
show_cards(
    "pending",
    library,
    view.records,
    actions=[APPROVE, REJECT, LIKE],
    handlers={**turning("pending"), **resembling("pending")},
    pages=view.pages > 1,
    sentence=view.sentence,
    matching=view.matching,
)

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

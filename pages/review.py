"""Review: new coins in a grid; approve or reject one or many, and undo it."""

from functools import partial

import streamlit as st

from components.grid import browse, no_matches, show_view, verbs
from components.review import promote
from components.review.verbs import handlers
from components.shell import format
from components.shell.page import live, places
from components.shell.page.frame import open_page
from store import Filter

library = open_page("Review", is_grid=True)

live.follow_badges(library)
view = browse("pending", library, base=Filter(tier="pending"), more=partial(promote.to_compare, library))
show_view(
    "pending",
    library,
    view,
    actions=verbs("pending"),
    handlers=handlers("pending"),
    mark=promote.on_their_way(library, view.records),
)

if not view.records and view.is_filtered:
    no_matches("pending", view)
elif not view.records:
    counts = library.counts()
    st.success("Nothing is waiting for review.", icon=":material/check_circle:")
    with st.container(horizontal=True):
        st.page_link(**places.IMPORT, label="Import coins", icon=":material/download:")
        if counts["approved"]:
            waiting = format.counted(counts["approved"], "approved coin")
            st.page_link("pages/approved.py", label=f"Continue with {waiting}", icon=":material/task_alt:")

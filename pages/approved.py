"""The approved queue: promote coins with a caption, write the caption of the others."""

from functools import partial

import streamlit as st

from components.grid.actions import verbs
from components.grid.browse import browse, no_matches, show_view
from components.review import promote
from components.review.verbs import handlers
from components.shell import format
from components.shell.page import live
from components.shell.page.frame import open_page

library = open_page("Approved", is_grid=True)

promote.why_not(library)
live.follow_badges(library)
view = browse("approved", library, base=promote.choose, more=partial(promote.controls, library))
show_view(
    "approved",
    library,
    view,
    actions=verbs("approved"),
    handlers=handlers("approved"),
    mark=promote.marks(library, view.records),
)

if not view.records and view.is_filtered:
    no_matches("approved", view)
elif not view.records:
    waiting = library.counts()["pending"]
    st.success("No approved coin is waiting.", icon=":material/check_circle:")
    with st.container(horizontal=True):
        if waiting:
            label = f"Review {format.counted(waiting, 'new coin')}"
            st.page_link("pages/review.py", label=label, icon=":material/inbox:")
        st.page_link("pages/search.py", label="Search the library", icon=":material/search:")

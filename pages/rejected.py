"""Rejected: every rejected or deleted coin with its reason; restore some, or delete old ones for good."""

import streamlit as st

from components.grid import RESTORE, browse, no_matches, show_reasons, show_view
from components.review import rejected
from components.shell.page import live
from components.shell.page.frame import open_page
from store import Filter

library = open_page("Rejected")

live.follow_badges(library)
view = browse("trash", library, base=Filter(tier="trash"))
with st.container(horizontal=True, vertical_alignment="center", gap="small"):
    show_reasons("trash", library, view)
    st.space("stretch")
    if library.can_write and library.counts()["trash"]:
        rejected.empty(library)
show_view(
    "trash",
    library,
    view,
    actions=[RESTORE],
    handlers={},
    mark=rejected.marks(library, view.records),
)

if not view.records and view.is_filtered:
    no_matches("trash", view)
elif not view.records:
    st.info("No coin is rejected. Rejected coins stay here until you delete them.", icon=":material/delete:")
    st.page_link("pages/pending.py", label="Review", icon=":material/inbox:")

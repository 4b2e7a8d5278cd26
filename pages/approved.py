"""The approved queue: what is captioned goes into the library, what is not is captioned first."""

import streamlit as st

from components import live, promoting, replacing, wording
from components.frame import open_page
from components.grid import CAPTION, DELETE, PROMOTE, REPLACE, RETURN, browse, go_to, show_cards, turning

CHOICES = {"All": None, "Ready to promote": True, "Needs caption": False}

library = open_page("Approved")

with st.container(horizontal=True, vertical_alignment="center", gap="small"):
    chosen = st.segmented_control(
        "Show", list(CHOICES), key="approved_show", default="All", required=True, bind="query-params",
        label_visibility="collapsed",
    )  # fmt: skip
    st.space("stretch")
    promoting.controls(library)

live.follow(library)
view = browse("approved", library, tier="approved", captioned=CHOICES[chosen])
show_cards(
    "approved",
    library,
    view.records,
    actions=[PROMOTE, CAPTION, REPLACE, RETURN, DELETE],
    handlers={
        "promote": promoting.handler(library),
        "caption": go_to("pages/captions.py", "address"),
        "replace": replacing.bring,
        **turning("approved"),
    },
    mark=promoting.marks(library),
    pages=view.pages > 1,
    sentence=view.sentence,
    matching=view.matching,
)

if not view.records and view.is_filtered:
    st.info("No approved coin passes these filters.", icon=":material/search_off:")
elif not view.records:
    waiting = library.counts()["pending"]
    st.success("No approved coin is waiting.", icon=":material/check_circle:")
    with st.container(horizontal=True):
        if waiting:
            label = f"Review {wording.counted(waiting, 'pending coin')}"
            st.page_link("pages/pending.py", label=label, icon=":material/inbox:")
        st.page_link("pages/search.py", label="Search the library", icon=":material/search:")

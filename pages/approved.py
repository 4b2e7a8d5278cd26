"""The approved queue: what is captioned goes into the library, what is not is captioned first."""

import streamlit as st

from components import draft_run, exporting, live, promoting, replacing, tagging, wording
from components.frame import open_page
from components.grid import (
    CAPTION,
    DELETE,
    DRAFT,
    EXPORT,
    PROMOTE,
    REJECT,
    REPLACE,
    RETURN,
    TAGS,
    browse,
    go_to,
    show_cards,
    turning,
)

library = open_page("Approved")

with st.container(horizontal=True, vertical_alignment="center", gap="small"):
    base = promoting.choose(library)
    st.space("stretch")
    promoting.controls(library)

promoting.why_not(library)
live.follow(library)
view = browse("approved", library, base=base)
show_cards(
    "approved",
    library,
    view.records,
    actions=[PROMOTE, CAPTION, RETURN, REJECT, TAGS, DELETE, DRAFT, REPLACE, EXPORT],
    handlers={
        "promote": promoting.handler(library),
        "caption": go_to("pages/captions.py", "address"),
        "draft": draft_run.bring,
        "replace": replacing.bring,
        "export": exporting.bring,
        **tagging.WAYS,
        **turning("approved"),
    },
    mark=promoting.marks(library, view.records),
    pages=view.pages > 1,
    matching=view.matching,
)
tagging.dialog(library)

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

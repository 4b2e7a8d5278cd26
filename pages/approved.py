"""The approved queue: what is captioned goes into the library, what is not is captioned first."""

import streamlit as st

from components import wording
from components.frame import open_page
from components.grid import CAPTION, DELETE, PROMOTE, RETURN, Mark, browse, go_to, show_cards, turning
from components.promoting import promote, promote_all
from store.records import Record

library = open_page("Approved")


def mark(record: Record) -> Mark:
    """What stands between the coin and the library."""
    if record.address in promoting:
        return {"label": "being promoted", "tone": "busy"}
    return (
        {"label": "ready", "tone": "good"}
        if record.is_captioned
        else {"label": "needs caption", "tone": "warn"}
    )


promoting = promote_all(library)
choices = {"All": None, "Ready to promote": True, "Needs caption": False}
chosen = st.segmented_control(
    "Show", list(choices), key="approved_show", default="All", required=True, bind="query-params"
)
view = browse("approved", library, tier="approved", captioned=choices[chosen])
show_cards(
    "approved",
    library,
    view.records,
    actions=[PROMOTE, CAPTION, RETURN, DELETE],
    handlers={
        "promote": promote(library),
        "caption": go_to("pages/captions.py", "address"),
        **turning("approved"),
    },
    mark=mark,
    pages=view.pages > 1,
    sentence=view.sentence,
)

if not view.records and view.is_filtered:
    st.info("No approved coin passes these filters.", icon=":material/search_off:")
elif not view.records:
    waiting = library.counts()["pending"]
    st.success("Every approved coin is in the library.", icon=":material/check_circle:")
    if waiting:
        label = f"Review {wording.counted(waiting, 'pending coin')}"
        st.page_link("pages/pending.py", label=label, icon=":material/inbox:")
    st.page_link("pages/search.py", label="Search the library", icon=":material/search:")

"""Library: every coin of every tier, page by page, in every order and by every filter."""

import streamlit as st

from components.captions import replace
from components.exchange import export
from components.grid import (
    CAPTION,
    EXPORT,
    LIKE,
    REPLACE,
    TAGS,
    browse,
    go_to,
    no_matches,
    resembling,
    show_tiers,
    show_view,
    tier_mark,
)
from components.shell.page import live
from components.shell.page.frame import open_page
from store import Filter

library = open_page("Library")

live.follow_badges(library)
view = browse("library", library, base=Filter())
show_tiers("library", library, view)
show_view(
    "library",
    library,
    view,
    actions=[LIKE, CAPTION, TAGS, REPLACE, EXPORT],
    handlers={
        **resembling("library"),
        "caption": go_to("pages/captions.py", "address"),
        "replace": replace.preselect,
        "export": export.preselect,
    },
    mark=tier_mark,
)

if not view.records and view.is_filtered:
    no_matches("library", view)
elif not view.records:
    st.info("There are no coins yet.", icon=":material/photo_library:")
    st.page_link("pages/exchange.py", label="Import coins", icon=":material/download:")

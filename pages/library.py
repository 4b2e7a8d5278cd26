"""Library: the promoted coins, the rejected ones with their reasons, and all of them."""

import streamlit as st

from components.captions import replace
from components.exchange import export
from components.grid import (
    CAPTION,
    EXPORT,
    LIKE,
    REPLACE,
    RESTORE,
    TAGS,
    browse,
    go_to,
    no_matches,
    resembling,
    show_reasons,
    show_tiers,
    show_view,
    tier_mark,
)
from components.review import rejected
from components.shell.page import live, places, views
from components.shell.page.frame import open_page
from store import Filter

library = open_page("Library")

live.follow_badges(library)
counts = library.counts()
tab = views.choose(
    ("Library", "Rejected", "All"),
    parameter="tab",
    counts=(counts["library"], counts["trash"], sum(counts.values())),
)
# Keys are part of addresses: "trash" and "library" were pages of their own, the latter with all coins.
if tab == "Rejected":
    key = "trash"
    view = browse(key, library, base=Filter(tier="trash"))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        show_reasons(key, library, view)
        st.space("stretch")
        if library.can_write and counts["trash"]:
            rejected.empty(library)
    mark = rejected.marks(library, view.records)
    show_view(key, library, view, actions=[RESTORE], handlers={}, mark=mark)
else:
    key = "library" if tab == "All" else "promoted"
    view = browse(key, library, base=Filter() if tab == "All" else Filter(tier="library"))
    if tab == "All":
        show_tiers(key, library, view)
    show_view(
        key,
        library,
        view,
        actions=[LIKE, CAPTION, TAGS, REPLACE, EXPORT],
        handlers={
            **resembling(key),
            "caption": go_to("pages/captions.py", "address"),
            "replace": replace.preselect,
            "export": export.preselect,
        },
        mark=tier_mark if tab == "All" else lambda _: None,
    )

if not view.records and view.is_filtered:
    no_matches(key, view)
elif not view.records and tab == "Rejected":
    st.info("No coin is rejected. Rejected coins stay here until you delete them.", icon=":material/delete:")
    st.page_link("pages/review.py", label="Review", icon=":material/inbox:")
elif not view.records and tab == "Library" and counts["approved"]:
    st.info("No coin is promoted yet.", icon=":material/photo_library:")
    st.page_link("pages/approved.py", label="Approved coins", icon=":material/task_alt:")
elif not view.records:
    st.info("There are no coins yet.", icon=":material/photo_library:")
    st.page_link(**places.IMPORT, label="Import coins", icon=":material/download:")

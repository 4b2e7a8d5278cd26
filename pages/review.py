"""Review: new coins in a grid, to approve or reject; and the rules and the co-pilot that do so with many."""

from functools import partial

import streamlit as st

from components.grid.actions import verbs
from components.grid.browse import browse, no_matches, show_view
from components.review import copilot, promote, rules, second_opinions, waves
from components.review.verbs import handlers
from components.shell import format
from components.shell.page import live, places, views
from components.shell.page.frame import open_page
from store import Filter, Library

VIEWS = ("Coins", "Rules", "Co-pilot", "Second opinions")


def _coins(library: Library) -> None:
    live.follow_badges(library)
    view = browse("pending", library, base=Filter(tier="pending"), more=partial(promote.to_compare, library))
    if not view.is_filtered:
        waves.show(library)
    show_view(
        "pending",
        library,
        view,
        actions=verbs("pending"),
        handlers=handlers("pending"),
        mark=rules.marks(library, view.records, promote.on_their_way(library, view.records)),
    )
    if not view.records and view.is_filtered:
        no_matches("pending", view)
    elif not view.records:
        _nothing_waits(library)


def _nothing_waits(library: Library) -> None:
    counts = library.counts()
    st.success("Nothing is waiting for review.", icon=":material/check_circle:")
    with st.container(horizontal=True):
        st.page_link(**places.IMPORT, label="Import coins", icon=":material/download:")
        if counts["approved"]:
            waiting = format.counted(counts["approved"], "approved coin")
            st.page_link("pages/approved.py", label=f"Continue with {waiting}", icon=":material/task_alt:")


view = views.shown(VIEWS)
library = open_page("Review", is_grid=view in ("Coins", "Second opinions"))
of_person = VIEWS if library.can_write else VIEWS[:-1]  # what others are asked is not for viewers
if view == "Coins" or view not in of_person:
    _coins(library)
else:
    views.choose(of_person)
    {"Rules": rules.show, "Co-pilot": copilot.show, "Second opinions": second_opinions.show}[view](library)

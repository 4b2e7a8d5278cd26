"""The page Insights: its sets, its three views, and what an empty library shows."""

import streamlit as st

from components.insights import coin_sets, content, quality, reviewing
from store import Library

_CONTENT, _REVIEWING, _QUALITY = "Content", "Reviewing", "Search quality"


def show(library: Library) -> None:
    """One view at a time, so that nothing is counted that is not looked at."""
    if not sum(library.counts().values()):
        st.info("There are no coins yet. Figures appear with the first.", icon=":material/insights:")
        st.page_link("pages/exchange.py", label="Import coins", icon=":material/download:")
        return
    view = st.segmented_control(
        "View", (_CONTENT, _REVIEWING, _QUALITY), default=_CONTENT, required=True, key="insights_view",
        bind="query-params", label_visibility="collapsed",
    )  # fmt: skip
    if view == _QUALITY:
        quality.show(library)
        return
    sets = coin_sets.choose(library)
    if not sets:
        return
    st.caption("Click a bar to see its coins.")
    if view == _REVIEWING:
        reviewing.show(library, sets)
    else:
        content.show(library, sets)

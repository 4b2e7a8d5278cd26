"""The three views of the captions page: write one, check all, replace in many."""

from typing import Literal, get_args

import streamlit as st

View = Literal["Write", "Check up", "Replace"]
# Not "view", which Lore & memory binds: Streamlit keeps one value for a name, whichever page it is from.
_KEY = "captions_view"


def choose() -> View:
    """Draw the choice; the page's address has it, so that a link shows the same view."""
    chosen: View = st.segmented_control(
        "View", get_args(View), key=_KEY, default="Write", bind="query-params", required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    return chosen


def turn_to(view: View) -> None:
    """Show this view on the next run; for callbacks."""
    st.session_state[_KEY] = view

"""The three sides of the captions page: write one, look through all, replace in many."""

from typing import Literal, get_args

import streamlit as st

View = Literal["Write", "Check up", "Replace"]
_KEY = "view"


def choose() -> View:
    """Draw the choice; the address holds it, so that a link shows the same side."""
    if _KEY not in st.query_params:  # with `default`, turning by a callback would be warned about
        st.session_state.setdefault(_KEY, "Write")
    chosen: View = st.segmented_control(
        "View", get_args(View), key=_KEY, bind="query-params", required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    return chosen


def turn_to(view: View) -> None:
    """Show this side on the next run; for callbacks."""
    st.session_state[_KEY] = view

"""The number of a grid's page: turned by keys, and by the control above the cards.

A browser sends the number it shows with everything it asks for. What it sends before it has heard of a turned
page still carries the number from before; that must not turn the page back.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from components.grid.actions import Handler


def turning(key: str) -> Mapping[str, Handler]:
    """Handlers for the keys that turn the page."""
    return {"next": _turn(key, 1), "previous": _turn(key, -1)}


def draw(key: str, pages: int) -> int:
    """Draw the control if there are several pages; returns the page to show."""
    name = f"{key}_page"
    if st.session_state.get(name, 1) > pages:  # decided away, or an old link
        turn_to(key, pages)
    page = 1
    if pages > 1:
        page = st.pagination(
            pages,
            key=name,
            bind="query-params",
            max_visible_pages=5,
            width=250,
            on_change=partial(_changed, key),
        )
    st.session_state[_shown(key)] = page
    return page


def turn_to(key: str, page: int) -> None:
    """Show this page from now on."""
    if st.session_state.get(f"{key}_page", 1) != page:
        st.session_state[f"{key}_page"] = page
    st.session_state[_shown(key)] = page


def keep(key: str) -> None:
    """Stay on the page that was shown last, after a message that is no click on a number."""
    if _shown(key) in st.session_state:
        turn_to(key, st.session_state[_shown(key)])


def shown(key: str) -> int:
    """The page that was shown last."""
    return int(st.session_state.get(_shown(key), 1))


def _turn(key: str, by: int) -> Handler:
    def handler(_: Sequence[str]) -> None:
        turn_to(key, max(1, st.session_state.get(_shown(key), 1) + by))

    return handler


def _changed(key: str) -> None:
    context = get_script_run_ctx()
    if context and context.fragment_ids_this_run:  # by a timer: a click asks for the whole page
        keep(key)


def _shown(key: str) -> str:
    return f"{key}.page"

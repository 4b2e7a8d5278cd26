"""Filters kept under a name, for everybody; each opens by a link with `filter=` and its name."""

from collections.abc import Callable

import streamlit as st

from components import state, wording
from store.errors import MemedexError
from store.library import Library

PARAMETER = "filter"


def named_in_link(library: Library) -> str | None:
    """The line of the filter that the address names, once: from then on the line itself stands there."""
    name = st.query_params.pop(PARAMETER, None)
    if name is None:
        return None
    line = library.filters.all().get(name)
    if line is None:
        state.say(f"There is no saved filter {wording.plain(name, limit=60)}.", icon=":material/error:")
        state.show_what_was_said()
    return line


def show(key: str, library: Library, *, line: str, opened: Callable[[str, str], None]) -> None:
    """The saved filters, each put into the line by a press; and saving what is asked now."""
    for name, kept in library.filters.all().items():
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.button(
                wording.plain(name, limit=60), key=f"{key}-saved-{name}", type="tertiary",
                help=wording.plain(kept, limit=200),
                icon=":material/filter_alt:", on_click=opened, args=(key, kept), width="stretch",
            )  # fmt: skip
            if library.can_write:
                st.button(
                    "Forget", key=f"{key}-forget-{name}", type="tertiary", on_click=library.filters.forget,
                    args=(name,),
                )  # fmt: skip
    if library.can_write and line:
        with st.form(f"{key}-save-filter", border=False, clear_on_submit=True):
            with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
                name = st.text_input("Save what is asked now as", key=f"{key}-filter-name", max_chars=60)
                kept = st.form_submit_button("Save filter")
            if kept:
                _save(library, name or "", line)


def _save(library: Library, name: str, line: str) -> None:
    try:
        library.filters.save(name, line)
    except MemedexError as error:
        state.say(wording.plain(str(error), limit=200), icon=":material/error:")
    st.rerun()

"""Filters kept under a name, for everybody; each opens by a link."""

import streamlit as st

from components import state, wording
from store.errors import MemedexError
from store.library import Library


def show(key: str, library: Library, *, line: str) -> None:
    """The saved filters, each put into the line by a press; and saving what is asked now."""
    for name, kept in library.saved_filters().items():
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.button(
                wording.plain(name, limit=60), key=f"{key}-saved-{name}", type="tertiary",
                help=wording.plain(kept, limit=200),
                icon=":material/filter_alt:", on_click=_open, args=(key, kept), width="stretch",
            )  # fmt: skip
            if library.can_write:
                st.button(
                    "Forget", key=f"{key}-forget-{name}", type="tertiary", on_click=library.forget_filter,
                    args=(name,),
                )  # fmt: skip
    if library.can_write and line:
        with st.form(f"{key}-save-filter", border=False, clear_on_submit=True):
            name = st.text_input("Save this filter as", key=f"{key}-filter-name", max_chars=60)
            st.caption(wording.plain(line, limit=200))
            if st.form_submit_button("Save filter"):
                _save(library, name or "", line)


def _open(key: str, line: str) -> None:
    st.session_state[f"{key}_words"] = line
    st.session_state[f"{key}_tags"] = []


def _save(library: Library, name: str, line: str) -> None:
    try:
        library.save_filter(name, line)
    except MemedexError as error:
        state.say(wording.plain(str(error), limit=200), icon=":material/error:")
    st.rerun()

"""Filters saved under a name for everybody; a link with `filter=` and the name opens one."""

from collections.abc import Callable

import streamlit as st

from components.shell import format, session
from store.errors import MemedexError
from store.library import Library

PARAMETER = "filter"


def named_in_link(library: Library) -> str | None:
    """The line of the filter in the page's address, once; from then on the line itself is there."""
    name = st.query_params.pop(PARAMETER, None)
    if name is None:
        return None
    line = library.filters.all().get(name)
    if line is None:
        session.queue_message(
            f"There is no saved filter {format.plain(name, limit=60)}.", icon=":material/error:"
        )
        session.show_messages()
    return line


def show(key: str, library: Library, *, line: str, opened: Callable[[str, str], None]) -> None:
    """The saved filters, each a button; and saving the current one."""
    for name, kept in library.filters.all().items():
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.button(
                format.plain(name, limit=60), key=f"{key}-saved-{name}", type="tertiary",
                help=format.plain(kept, limit=200),
                icon=":material/filter_alt:", on_click=opened, args=(key, kept), width="stretch",
            )  # fmt: skip
            if library.can_write:
                st.button(
                    "Remove", key=f"{key}-forget-{name}", type="tertiary", on_click=library.filters.delete,
                    args=(name,),
                )  # fmt: skip
    if library.can_write and line:
        with st.form(f"{key}-save-filter", border=False, clear_on_submit=True):
            with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
                name = st.text_input("Save this filter as", key=f"{key}-filter-name", max_chars=60)
                is_pressed = st.form_submit_button("Save filter")
            if is_pressed:
                _save(library, name or "", line)


def _save(library: Library, name: str, line: str) -> None:
    try:
        library.filters.save(name, line)
    except MemedexError as error:
        session.queue_message(format.plain(str(error), limit=200), icon=":material/error:")
    st.rerun()

"""Filters saved under a name for everybody; a link with `filter=` and the name opens one."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from components.shell import format
from components.shell.page import forms
from components.shell.page.forms import Button, Field
from components.shell.session import presenter, session
from store import Library
from store.catalog import named_values

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
    return None if line is None else presenter.concealed(line)


def show(key: str, library: Library, *, line: str, opened: Callable[[str, str], None]) -> None:
    """The saved filters, each a button; and saving the current one."""
    for name, kept in library.filters.all().items():
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.button(
                format.plain(name, limit=60), key=f"{key}-saved-{name}", type="tertiary",
                help=format.plain(presenter.concealed(kept), limit=200),
                icon=":material/filter_alt:", width="stretch",
                on_click=opened, args=(key, presenter.concealed(kept)),
            )  # fmt: skip
            if library.can_write:
                forms.button(
                    f"{key}-forget-{name}", library, partial(library.filters.delete, name),
                    button=Button("Remove", kind="tertiary"),
                )  # fmt: skip
    if library.can_write and line:
        forms.show(
            f"{key}-save-filter", library, partial(_save, library, line), row=True,
            fields=[Field("name", "Save this filter as", longest=named_values.MAX_NAME)],
            button=Button("Save filter"),
        )  # fmt: skip


def _save(library: Library, line: str, given: Mapping[str, Any]) -> str:
    library.filters.save(given["name"], presenter.revealed(line))
    return ""

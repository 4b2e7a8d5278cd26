"""The text memory with the permissions of the current user."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from components.memory.kinds import counted
from components.shell import format, login
from components.shell import undo as shell_undo
from store.errors import LibraryInUse, MemedexError
from store.library import Library
from store.memory.memory import Memory
from store.settings import settings

_READ_ONLY = "memedex.memory_read_only"


def memory(*, can_write: bool) -> Memory:
    """The text memory of this server; if it cannot be opened the page says why, and stops.

    `can_write` is the library's: beside a library that is only read, the memory is only read.
    """
    try:
        return _opened(can_write=can_write)
    except LibraryInUse as error:
        _offer_reading(str(error))
    except MemedexError as error:
        st.error("The text memory could not be opened. Nothing was changed. What went wrong:")
        st.text(str(error))
    return st.stop()


def undo_button(library: Library) -> None:
    """A button that undoes one's own last decision about the text memory, and names it."""
    try:
        opened = _opened(can_write=library.can_write)
    except MemedexError:  # the page says it
        return
    if not opened.can_write:
        return
    last = opened.last_decision(by=login.person())
    description = f"{last[1].verb} ({counted(last[0], last[1].count)})" if last else ""
    shell_undo.button(
        "undo-memory",
        library,
        partial(_undo, opened),
        about=f"Undo: {format.plain(description)}"
        if description
        else _sentence(opened.why_no_undo(by=login.person())),
        disabled=last is None,
    )


def _undo(memory: Memory, _: Mapping[str, Any]) -> str:
    memory.undo()
    return "Undone."


def _sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:]}."


def _opened(*, can_write: bool) -> Memory:
    reading = not can_write or st.session_state.get(_READ_ONLY)
    opened = (_for_reading if reading else _for_writing)(settings().root)
    return opened.for_actor(login.actor())


@st.cache_resource(show_spinner="Opening the text memory …")
def _for_writing(root: Path) -> Memory:
    return Memory.open(root)


@st.cache_resource(show_spinner="Opening the text memory …")
def _for_reading(root: Path) -> Memory:
    return Memory.open_for_reading(root)


def _offer_reading(reason: str) -> None:
    st.warning("Another program writes to the text memory.", icon=":material/lock:")
    st.text(reason)
    with st.container(horizontal=True):
        st.button("Try again", type="primary")
        st.button("Open for reading", on_click=lambda: st.session_state.update({_READ_ONLY: True}))

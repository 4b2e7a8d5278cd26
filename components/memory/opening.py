"""The text memory as whoever asks may use it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import streamlit as st

from components import access, state, wording
from components.memory.kinds import counted
from store.desk import Desk
from store.errors import LibraryInUse, MemedexError
from store.library import Library
from store.memory import Memory
from store.settings import settings

_READ_ONLY = "memedex.memory_read_only"


def memory(*, can_write: bool) -> Memory:
    """The text memory of this server; where it cannot be opened the page says why, and ends.

    `can_write` is the library's: beside a library that is only read, the memory is only read.
    """
    try:
        return _desk(can_write=can_write)
    except LibraryInUse as error:
        _offer_reading(str(error))
    except MemedexError as error:
        st.error("The text memory could not be opened. Nothing was changed. What went wrong:")
        st.text(str(error))
    return st.stop()


def undo_button(library: Library) -> None:
    """A button that takes back one's own last decision about the text memory, and says which that is."""
    try:
        opened = _desk(can_write=library.can_write)
    except MemedexError:  # the page says it
        return
    if not opened.can_write:
        return
    last = opened.last_decision(by=access.person())
    told = f"{last[1].verb} ({counted(last[0], last[1].count)})" if last else ""
    st.button(
        "Undo",
        key="memedex.memory_undo",
        icon=":material/undo:",
        help=f"Take back: {wording.plain(told)}" if told else "There is nothing to take back here.",
        disabled=last is None,
        on_click=done,
        args=(opened.undo,),
        kwargs={"said": "Taken back."},
    )


def done(verb: Callable[..., Any], *arguments: Any, said: str = "", **keywords: Any) -> bool:
    """Carry out a verb of the memory and say on the next run what came of it; for callbacks."""
    try:
        verb(*arguments, **keywords)
    except MemedexError as error:
        state.say(wording.plain(str(error), limit=300), icon=":material/error:")
        return False
    if said:
        state.say(said, icon=":material/check:")
    return True


def _desk(*, can_write: bool) -> Memory:
    reading = not can_write or st.session_state.get(_READ_ONLY)
    opened = (_for_reading if reading else _for_writing)(settings().root)
    # A desk may stand where a Memory is expected: components ask `can_write` before they offer anything.
    return cast(Memory, Desk(opened, who=access.person()))


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

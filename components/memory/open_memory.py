"""The text memory with the permissions of the current user."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from components.memory.kinds import counted
from components.shell import format
from components.shell.page import undo as shell_undo
from components.shell.page.forms import Sent
from components.shell.page.undo import Reversal
from components.shell.session import login, session
from store import Library, MemedexError, Memory, PastDecision
from store.memory.values import has_memory
from store.settings import settings


def memory(*, can_write: bool) -> Memory:
    """The text memory of this server; if it cannot be opened the page says why, and stops.

    `can_write` is the library's: with a library that is only read, the memory is only read.
    """
    try:
        return _opened(can_write=can_write)
    except MemedexError as error:
        st.error("The text memory could not be opened. What went wrong:")
        st.text(str(error))
    return st.stop()


def is_there() -> bool:
    """Whether there is a text memory, even one that cannot be opened."""
    return has_memory(settings().root)


def existing(library: Library) -> Memory | None:
    """The text memory, for pages about coins; None if there is none, or if it cannot be opened."""
    if not is_there():
        return None
    try:
        return _opened(can_write=library.can_write)
    except MemedexError:  # its own page says why
        return None


def last_decision(library: Library) -> Sequence[Reversal]:
    """One's own last decision about the text memory, to undo, and the last undo, to redo."""
    try:
        opened = _opened(can_write=library.can_write)
    except MemedexError:  # the page says it
        return []
    if not opened.can_write:
        return []
    last = _first(opened, opened.log.to_undo(login.person()))
    decision = last.id if last else ""
    about = _about(last) if last else f"{opened.log.why_no_undo(login.person())}."
    undo = partial(_undo, opened, decision, login.session())
    found = [Reversal("undo-memory", "Undo", "z", decision, format.capital(about), undo, _at(last))]
    if undone := _first(opened, opened.log.to_redo(login.person())):
        redo = partial(_redo, opened, undone.id)
        about = format.capital(_about(undone))
        found.append(Reversal("redo-memory", "Redo", "Z", undone.id, about, redo, _at(undone)))
    return found


def _first(memory: Memory, ids: Sequence[str]) -> PastDecision | None:
    return next(map(memory.decision, ids), None)


def _at(decision: PastDecision | None) -> float:
    return decision.created_at if decision else 0.0


def _about(decision: PastDecision) -> str:
    return format.plain(format.did(decision.verb, counted((decision.kinds or ("",))[0], decision.count)))


def _undo(memory: Memory, shown: str, place: str, sent: Sent) -> str:
    """Undo what the page's run named, or what the page decided since and shows already."""
    own = session.decisions_of(place)
    chosen = next((id for id in memory.log.to_undo(memory.actor.name) if id in own), shown)
    return shell_undo.said(memory.undo_decisions([chosen], decision=sent.decision), "Undone.")


def _redo(memory: Memory, undone: str, sent: Sent) -> str:
    return shell_undo.said(memory.undo_decisions([undone], decision=sent.decision), "Redone.")


def _opened(*, can_write: bool) -> Memory:
    opened = (_for_writing if can_write else _for_reading)(settings().root)
    return opened.for_actor(login.actor())


@st.cache_resource(show_spinner="Opening the text memory …")
def _for_writing(root: Path) -> Memory:
    return Memory.open(root)


@st.cache_resource(show_spinner="Opening the text memory …")
def _for_reading(root: Path) -> Memory:
    return Memory.open_for_reading(root)

"""The text memory with the permissions of the current user."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from components.memory.kinds import KINDS, counted
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
    by, log = login.person(), opened.log
    last = next(map(log.get, log.to_undo(by)), None)
    about = format.capital(sentence(opened, last) if last else f"{log.why_no_undo(by)}.")
    undo = partial(_undo, opened, last.id if last else "", login.session())
    found = [Reversal("undo-memory", "Undo", "z", last, about, undo)]
    for undone in filter(None, map(log.get, log.to_redo(by))):
        about, redo = format.capital(sentence(opened, undone)), partial(_redo, opened, undone.id)
        found.append(Reversal("redo-memory", "Redo", "Z", undone, about, redo))
    return found


def sentence(memory: Memory, decision: PastDecision) -> str:
    """ "stored 1 memory", "undid: edited 2 passages"."""
    original = shell_undo.original(memory.log.get, decision)
    did = format.did(original.verb if original else decision.verb, texts_of(decision))
    return f"{format.done(decision.verb)}: {did}" if original else did


def texts_of(decision: PastDecision) -> str:
    """ "3 memories"; of several kinds "12 texts"."""
    kinds = kinds_of(decision)
    if not decision.count:
        return " and ".join(KINDS[kind].label.lower() for kind in kinds)
    return counted(kinds[0], decision.count) if len(kinds) == 1 else format.counted(decision.count, "text")


def kinds_of(decision: PastDecision) -> list[str]:
    """The kinds of text that a decision changed, as pages have them."""
    return [kind for kind in decision.kinds or () if kind in KINDS]


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

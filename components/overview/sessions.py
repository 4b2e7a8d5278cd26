"""Who is logged in, for administrators, who may end a session in all its tabs."""

import time

import streamlit as st

from components.shell import format, known_sessions, login
from components.shell import session as shell_session
from store.errors import MemedexError
from store.sessions.sessions import LoginSession

_MOST = 50


def are_shown() -> bool:
    """Whether the current user may see them, and there can be any."""
    return login.is_required() and login.actor().can_administer


def show() -> None:
    """Each login that is still valid, and a button that ends it."""
    now = time.time()
    valid = [one for one in known_sessions.sessions(login.actor()).all() if not one.is_over(now)]
    if not valid:
        st.caption("Nobody is logged in.")
    with st.container(gap="small"):
        for session in valid[:_MOST]:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.text(_describe(session), width="stretch")
                st.button(
                    "End", key=f"end-session-{session.id}", icon=":material/logout:",
                    on_click=_end, args=(session.id,),
                )  # fmt: skip
    if len(valid) > _MOST:
        st.caption(f"and {len(valid) - _MOST:,} more: `python -m store sessions`")


def _describe(session: LoginSession) -> str:
    where = f" from {session.address}" if session.address else ""
    began, seen = format.ago(session.began), format.ago(session.seen)
    return f"{format.cut(session.person, limit=80)} · logged in {began}{where} · seen {seen} · {session.id}"


def _end(id: str) -> None:
    try:
        session = known_sessions.sessions(login.actor()).end(id)
    except MemedexError as error:
        shell_session.queue_message(format.plain(str(error)), icon=":material/error:")
        return
    known_sessions.look_again()
    shell_session.queue_message(f"Ended: {format.plain(session.person)}", icon=":material/logout:")

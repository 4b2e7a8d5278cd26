"""Who is logged in, for administrators, who may end a session in all its tabs."""

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from components.shell import format
from components.shell.page import forms
from components.shell.page.forms import Button
from components.shell.session import login, logins, presenter, resources
from store.sessions import LoginSession, LoginSessions

_MOST = 50


def are_shown() -> bool:
    """Whether the current user may see them, and there can be any."""
    return login.is_required() and login.actor().can_administer


def show() -> None:
    """Each login that is still valid, and a button that ends it."""
    now = time.time()
    known, library = logins.sessions(login.actor()), resources.library()
    valid = [one for one in known.all() if not one.is_over(now)]
    if not valid:
        st.caption("No one is logged in.")
    with st.container(gap="small"):
        for session in valid[:_MOST]:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.text(_describe(session), width="stretch")
                forms.show(
                    f"end-session-{session.id}", library, partial(_end, known, session.id),
                    button=Button("End", icon="logout"), changes_library=False,
                )  # fmt: skip
    if len(valid) > _MOST:
        st.caption(f"and {len(valid) - _MOST:,} more: `python -m store sessions`")


def _describe(session: LoginSession) -> str:
    where = f" from {session.address}" if session.address else ""
    began, seen = format.ago(session.began), format.ago(session.seen)
    person = format.cut(presenter.name(session.person), limit=80)
    return f"{person} · logged in {began}{where} · seen {seen} · {session.id}"


def _end(known: LoginSessions, id: str, _: Mapping[str, Any]) -> str:
    session = known.end(id)
    logins.invalidate()
    return f"Ended: {format.plain(presenter.name(session.person))}"

"""What one browser session remembers between runs; the store has the truth."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from components.shell.session import presenter
from store import Job, Library, LruCache
from store.tasks import QUIET

_MESSAGES = "memedex.messages"
_BEGINNING = "memedex.beginning"
_NEWEST = 20  # jobs among which there is one that somebody began
_SESSIONS = 1_000  # for whose next run a route has messages

_from_routes: LruCache[str, tuple[tuple[str, str | None], ...]] = LruCache(_SESSIONS)
_DECISIONS = 50  # of one session
_decided: LruCache[str, tuple[str, ...]] = LruCache(_SESSIONS)
_lock = threading.Lock()


@dataclass(frozen=True)
class RunState:
    """The state of the library before a run read anything else: what the run shows is at least as new."""

    generation: int
    derived: int
    jobs: str  # as of `jobs_text`


def jobs_text(library: Library, under_way: Sequence[Job]) -> str:
    """Identifies the jobs that run or wait, and the newest: a short one may be over within a page's run.

    Quiet ones do not count: a page is not run because the program tidies up.
    """
    numbers = " ".join(str(number) for number in sorted(job.id for job in under_way if job.kind not in QUIET))
    newest = next((job.id for job in library.jobs.all(limit=_NEWEST) if job.kind not in QUIET), 0)
    return f"{numbers} #{newest}"


def begin(library: Library) -> None:
    """Note the state of the library before this run reads anything of it."""
    jobs = jobs_text(library, library.jobs.under_way())
    st.session_state[_BEGINNING] = RunState(library.generation, library.derived, jobs)


def beginning() -> RunState:
    """What `begin` noted in this run."""
    found: RunState = st.session_state[_BEGINNING]
    return found


def sent(key: str) -> Mapping[str, Any]:
    """What the browser's part of the component with this key sent last."""
    state = st.session_state.get(key)
    return state if isinstance(state, Mapping) else {}


def queue_message(message: str, *, icon: str | None = None) -> None:
    """Show this on the next run, because a toast before a rerun is never seen. Markdown; escape names."""
    st.session_state.setdefault(_MESSAGES, []).append((message, icon))


def queue_message_of(session: str, message: str, *, icon: str | None = None) -> None:
    """The same from a route, for the session that asked it."""
    with _lock:
        _from_routes[session] = (*(_from_routes.get(session) or ()), (message, icon))


def note_decision(session: str, decision: str) -> None:
    """Note that this session's page has sent a decision, which it shows before its next run."""
    with _lock:
        _decided[session] = (*(_decided.get(session) or ())[1 - _DECISIONS :], decision)


def decisions_of(session: str) -> tuple[str, ...]:
    """The last decisions that this session's pages have sent."""
    return _decided.get(session) or ()


def show_messages() -> None:
    """Show the stored messages once; a run that is interrupted leaves the rest to the next."""
    waiting = st.session_state.setdefault(_MESSAGES, [])
    run = get_script_run_ctx()
    if run:
        with _lock:
            waiting.extend(_from_routes.get(run.session_id) or ())
            _from_routes[run.session_id] = ()
    while waiting:
        message, icon = waiting[0]
        if not presenter.is_on():
            st.toast(message, icon=icon)
        del waiting[0]

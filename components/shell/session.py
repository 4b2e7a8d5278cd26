"""What one browser session remembers between runs; the store has the truth."""

import threading
from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from store.lru import LruCache
from store.reading.reader import Reader

LINK = "memedex.link"  # where a verb leads, until one is there
_SAID = "memedex.said"
_GENERATION = "memedex.generation"
_SESSIONS = 1_000  # for whose next run a route has messages

_from_routes: LruCache[str, tuple[tuple[str, str | None], ...]] = LruCache(_SESSIONS)
_lock = threading.Lock()


def drop_old_links() -> None:
    """Drop links that were made before: the browser's Back button follows none of them."""
    run = get_script_run_ctx()
    if run and run.is_history_navigation:
        st.session_state.pop(LINK, None)


def begin(library: Reader) -> None:
    """Note the library's generation before this run reads anything of it."""
    st.session_state[_GENERATION] = library.generation


def generation(library: Reader) -> int:
    """The generation that this run shows at least."""
    return int(st.session_state.get(_GENERATION, library.generation))


def sent(key: str) -> Mapping[str, Any]:
    """What the browser's part of the component with this key sent last."""
    state = st.session_state.get(key)
    return state if isinstance(state, Mapping) else {}


def queue_message(message: str, *, icon: str | None = None) -> None:
    """Show this on the next run, because a toast before a rerun is never seen. Markdown; escape names."""
    st.session_state.setdefault(_SAID, []).append((message, icon))


def queue_message_of(session: str, message: str, *, icon: str | None = None) -> None:
    """The same from a route, for the session that asked it."""
    with _lock:
        _from_routes[session] = (*(_from_routes.get(session) or ()), (message, icon))


def show_messages() -> None:
    """Show the stored messages once; a run that is interrupted leaves the rest to the next."""
    waiting = st.session_state.setdefault(_SAID, [])
    run = get_script_run_ctx()
    if run:
        with _lock:
            waiting.extend(_from_routes.get(run.session_id) or ())
            _from_routes[run.session_id] = ()
    while waiting:
        message, icon = waiting[0]
        st.toast(message, icon=icon)
        del waiting[0]

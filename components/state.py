"""What one browser session remembers between runs; truth is in the store, never here."""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

LINK = "memedex.link"  # where a verb leads, until one is there
DIALOG = "memedex.dialog"  # what the open dialog is about
_PAGE = "memedex.page"
_SAID = "memedex.said"


def arrive(page: str) -> None:
    """Whoever comes from another page has left its dialog behind; by the browser's way back, the link too."""
    run = get_script_run_ctx()
    if run and run.is_history_navigation:
        st.session_state.pop(LINK, None)
    if st.session_state.get(_PAGE) != page:
        st.session_state[_PAGE] = page
        st.session_state.pop(DIALOG, None)


def has_dialog() -> bool:
    """Whether a dialog is open."""
    return bool(st.session_state.get(DIALOG))


def say(message: str, *, icon: str | None = None) -> None:
    """Show this on the next run: a toast before a rerun is never seen. Markdown; escape strangers' words."""
    st.session_state.setdefault(_SAID, []).append((message, icon))


def show_what_was_said() -> None:
    """Show, once, what `say` kept; a run that is overtaken here leaves the rest to the next."""
    waiting = st.session_state.get(_SAID, [])
    while waiting:
        message, icon = waiting[0]
        st.toast(message, icon=icon)
        del waiting[0]

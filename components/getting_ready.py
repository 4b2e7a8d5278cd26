"""What a page waits for: it says what, where it can how far, and heeds a click elsewhere meanwhile."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

import streamlit as st

from components import state

_T = TypeVar("_T")
_AT_ONCE = 0.3  # seconds that need no explanation
_HEEDED = 0.05  # seconds until a click is


def watch(thread: threading.Thread, told: Callable[[], tuple[float, str]]) -> None:
    """Until the thread has ended; meanwhile how far it is (0 to 1), and in words."""
    bar = st.empty()  # also where none is shown: what stands below must not be drawn anew without it
    thread.join(_AT_ONCE)
    while thread.is_alive():
        fraction, words = told()
        bar.progress(fraction, text=words)
        thread.join(_AT_ONCE)
    bar.empty()


def outcome(work: Callable[[], _T], words: str) -> _T:
    """What the function gives or raises, worked out beside the page; the words say what is waited for."""
    future: Future[_T] = Future()

    def carry_out() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001  raised again on the page that waits
            future.set_exception(error)

    thread = threading.Thread(target=carry_out, name="memedex-waited-for", daemon=True)
    with st.spinner(words, show_time=True):
        thread.start()
        thread.join(_HEEDED)
        while thread.is_alive():
            state.has_dialog()  # a look into the session is where Streamlit ends a run that was overtaken
            thread.join(_HEEDED)
    return future.result()

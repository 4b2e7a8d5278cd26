"""A progress bar for work that a page waits for."""

import threading
from collections.abc import Callable

import streamlit as st

_AT_ONCE = 0.3  # seconds that need no explanation


def watch(thread: threading.Thread, progress_of: Callable[[], tuple[float, str]]) -> None:
    """Show progress (0 to 1) and a sentence until the thread has ended."""
    bar = st.empty()  # even if none is shown: what is below must not be redrawn without it
    thread.join(_AT_ONCE)
    while thread.is_alive():
        fraction, words = progress_of()
        bar.progress(fraction, text=words)
        thread.join(_AT_ONCE)
    bar.empty()

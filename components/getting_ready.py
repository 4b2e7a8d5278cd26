"""What is done once, before a page can say anything: a bar tells what it is, and how far."""

import threading
from collections.abc import Callable

import streamlit as st

_AT_ONCE = 0.3  # seconds that need no explanation


def watch(thread: threading.Thread, told: Callable[[], tuple[float, str]]) -> None:
    """Until the thread has ended; meanwhile how far it is (0 to 1), and in words."""
    bar = st.empty()  # also where none is shown: what stands below must not be drawn anew without it
    thread.join(_AT_ONCE)
    while thread.is_alive():
        fraction, words = told()
        bar.progress(fraction, text=words)
        thread.join(_AT_ONCE)
    bar.empty()

"""What is done once, before the first search: the page says what it is, and how far."""

import streamlit as st

from components import resources, wording
from store.library import Library

_AT_ONCE = 0.3  # seconds that need no explanation


def wait(library: Library) -> None:
    """Until the model and the vectors are there; returns at once when they are."""
    thread = resources.warm(library)
    thread.join(_AT_ONCE)
    if not thread.is_alive():
        return
    bar = st.progress(0.0)
    while thread.is_alive():
        reading = library.reading_vectors
        told = (
            f"Reading the vectors of {wording.counted(reading.total, 'coin')} for the first search · "
            f"{reading.done:,}"
            if reading.total
            else "Loading the model for the first search …"
        )
        bar.progress(reading.fraction, text=told)
        thread.join(_AT_ONCE)
    bar.empty()

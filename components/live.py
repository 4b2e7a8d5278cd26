"""What somebody else decides shows here within seconds."""

import streamlit as st

from store.library import Library

_EVERY = 3.0  # seconds


def follow(library: Library) -> None:
    """Run the page anew once the library has changed since this run."""
    shown = library.generation

    def look() -> None:
        if library.generation != shown:
            st.rerun()

    st.fragment(look, run_every=_EVERY)()

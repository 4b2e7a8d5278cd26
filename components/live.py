"""What is decided or done elsewhere shows here within seconds, and never under a hand that is at work."""

import itertools
from collections.abc import Callable

import streamlit as st

from components import state
from store.library import Library

_EVERY = 3.0  # seconds


def follow(library: Library) -> None:
    """Run the page anew once the library has changed since this run."""
    shown = library.generation
    catch_up = catching_up()

    def look() -> None:
        catch_up(library.generation != shown)

    st.fragment(look, run_every=_EVERY)()


def catching_up() -> Callable[[bool], None]:
    """For one run of a page: a function that every look of a fragment tells whether the page is out of date,
    and that runs it anew.

    Not in the run itself, nor in the first look after it: the browser may have sent that before it knew of
    the run, and it would bring back what fields held before. And not under an open dialog, which would be
    drawn anew under the hand.
    """
    looks = itertools.count()

    def catch_up(is_outdated: bool) -> None:
        if next(looks) > 1 and is_outdated and not state.has_dialog():
            st.rerun()

    return catch_up

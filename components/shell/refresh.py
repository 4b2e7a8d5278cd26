"""Show changes made elsewhere within seconds, but never while somebody is interacting."""

import itertools
from collections.abc import Callable

import streamlit as st

from store.library import Library

_EVERY = 3.0  # seconds


def follow(library: Library) -> None:
    """Rerun the page once the library has changed since this run."""
    _follow(lambda: library.generation)


def follow_badges(library: Library) -> None:
    """The same, for a page that also shows background findings about records."""
    _follow(lambda: (library.generation, library.derived))


def _follow(state_now: Callable[[], object]) -> None:
    shown = state_now()
    catch_up = catching_up()

    def look() -> None:
        catch_up(state_now() != shown)

    st.fragment(look, run_every=_EVERY)()


def catching_up() -> Callable[[bool], None]:
    """For one run of a page: a function that its fragments call with whether the page is outdated.

    It reruns the page, but not in the run itself, nor in the first call after it: the browser may have sent
    that before it knew of the run, and it would restore old values of fields.
    """
    looks = itertools.count()

    def catch_up(is_outdated: bool) -> None:
        if next(looks) > 1 and is_outdated:
            st.rerun()

    return catch_up

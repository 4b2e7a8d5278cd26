"""The parts of a question as the search needs them: pictures and examples found by their names."""

from functools import partial

import streamlit as st

from store.library import Library
from store.search import parts, samples
from store.search.query import Part
from store.search.question import Question

LINE = "q"  # the line of the search box, in the session and in the address
_SHOWN = "search.pictures"  # by name, of those who may not keep any


def keep(library: Library, content: bytes) -> str:
    """The name of a picture that is searched with; BadPicture for what is none.

    It is kept for everybody who follows the link, or only for this visit where nothing may be changed.
    """
    if library.can_write:
        return library.samples.keep(content)
    name, normal = samples.named(content)
    st.session_state.setdefault(_SHOWN, {})[name] = normal
    return name


def picture(library: Library, said: str) -> bytes | None:
    """The picture that a question means: one that was shown, or that of a coin; None where there is none."""
    shown: bytes | None = st.session_state.get(_SHOWN, {}).get(said)
    return shown or (parts.picture(library, said) if said else None)


def parts_of(library: Library, question: Question) -> tuple[tuple[Part, ...], list[str]]:
    """What of the question can be searched with, and what is wrong with the rest."""
    return parts.parts_of(library, question, pictures=partial(picture, library))

"""The parts of a query with their pictures and examples found by name."""

from functools import partial

import streamlit as st

from store import Library, Part
from store.reading import query_binding
from store.search import Question, query_pictures

LINE = "q"  # the line of the search box, in the session and in the address
_SHOWN = "search.pictures"  # by name, of those who may not keep any


def store(library: Library, content: bytes) -> str:
    """Store a query picture and return its name. Raises BadPicture.

    Stored for everybody who follows the link, or only for this visit if nothing may be changed.
    """
    if library.can_write:
        return library.samples.store(content)
    name, normal = query_pictures.named(content)
    st.session_state.setdefault(_SHOWN, {})[name] = normal
    return name


def picture(library: Library, name: str) -> bytes | None:
    """The picture that a query names: an uploaded one, or that of a coin; None if there is none."""
    shown: bytes | None = st.session_state.get(_SHOWN, {}).get(name)
    return shown or (query_binding.picture(library, name) if name else None)


def parts_of(library: Library, question: Question) -> tuple[tuple[Part, ...], list[str]]:
    """The parts that can be searched with, and what is wrong with the rest."""
    return query_binding.parts_of(library, question, pictures=partial(picture, library))

"""The parts of a question as the search needs them: pictures and examples found by their names."""

import streamlit as st

from store.errors import MemedexError
from store.library import Library
from store.search import samples
from store.search.query import Part
from store.search.question import Question, Term

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
    content: bytes | None = st.session_state.get(_SHOWN, {}).get(said) or library.samples.get(said)
    if content is None:
        try:
            content = library.picture(said).read_bytes()
        except (MemedexError, OSError):
            return None
    return content


def parts_of(library: Library, question: Question) -> tuple[tuple[Part, ...], list[str]]:
    """What of the question can be searched with, and what is wrong with the rest."""
    parts: list[Part] = []
    faults: list[str] = []
    for term in question.terms:
        made = _part(library, term)
        if isinstance(made, str):
            faults.append(made)
        else:
            parts.append(made)
    if parts and not any(part.weight for part in parts):
        return (), [*faults, "every part of the question weighs nothing"]
    return tuple(parts), faults


def _part(library: Library, term: Term) -> Part | str:
    try:
        if term.source == "text":
            return Part(text=term.said, weight=term.weight, facets=term.facets)
        if term.source == "like":
            record = library.get(library.spelling_of(term.said) or term.said)
            if record.tier != "library":
                return f"{record.name} is not in the library, so nothing can be compared with it"
            return Part(like=record.address, weight=term.weight, facets=term.facets)
        content = picture(library, term.said) if term.said else None
        if content is None:
            return f"no picture {term.said} is kept here" if term.said else "drop, paste or choose a picture"
        return Part(image=content, weight=term.weight, facets=term.facets)
    except MemedexError as error:
        return f"the example is not there: {error}" if term.source == "like" else str(error)

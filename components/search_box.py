"""What is asked: one line, which the chips below it and the address say as well, and among which coins."""

from dataclasses import dataclass, replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components import picture_well, search_chips, search_filter, searches, trends, wording
from components.search_terms import LINE, keep, parts_of
from store.errors import BadPicture, MemedexError
from store.filter import Filter
from store.library import Library
from store.search.query import Part
from store.search.question import Question, Term, read, written

EXAMPLES = ("a frog in the rain", "to the moon", "cyberpunk city at night", "sad but funny", "pixel art dog")
_FAULT = "search.fault"  # why a picture that was shown is none
_LIKE = "like"  # an address in a link: coins like this one


@dataclass(frozen=True, slots=True)
class Asked:
    """The question, the parts of it that can be searched with, and whether copies are folded into one."""

    question: Question
    parts: tuple[Part, ...]
    folded: bool
    bar: DeltaGenerator  # beside the filter: for what is said of the answer

    @property
    def narrows(self) -> bool:
        """Whether it asks for some of the coins without comparing them: by a tag, a date, another tier."""
        return not self.question.terms and self.question.filter != Filter(tier="library")


def ask(library: Library) -> Asked:
    """The line, the place for a picture, filters and saved searches; below it a chip for each part."""
    _take_example()
    searches.take_link(library)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        with st.container(width="stretch"):
            line = st.text_input(
                "Search", key=LINE, bind="query-params", type="search", icon=":material/search:",
                placeholder="Words, or: 2 × \"frog\" + picture − \"text\"", label_visibility="collapsed",
                help=None,
            )  # fmt: skip
        with st.container(width=190):
            picture_well.picture(lambda content: _add_picture(library, content), key="search-picture")
    chips = st.container()
    bar = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with bar:
        chosen, folded = search_filter.choose(library)
        question = read(line or "", base=chosen, who=library.who)
        searches.menu(library, question)
    if question.filter.tier is None:
        question = replace(question, filter=replace(question.filter, tier="library"))
    parts, faults = parts_of(library, question)
    with chips:
        search_chips.show(library, question)
    refused = st.session_state.pop(_FAULT, None)
    if refused:
        st.error("This picture cannot be searched with:", icon=":material/broken_image:")
        st.text(refused)
    for fault in (*question.faults, *faults):
        st.caption(f":orange[{wording.plain(fault, limit=200)}]")
    return Asked(question, parts, folded, bar)


def invite(library: Library) -> None:
    """What an empty box says: some questions to begin with, and what is in fashion."""
    st.caption("Describe a coin, show a picture, or start from one of these:")
    with st.container(horizontal=True, gap="small"):
        for example in EXAMPLES:
            st.button(example, on_click=_try, args=(example,))
    trends.suggest(library, partial(_add_picture, library))


def _try(example: str) -> None:
    st.session_state[LINE] = example


def _take_example() -> None:
    """A link may name a coin to search like: it becomes a part of the line."""
    address = st.query_params.get(_LIKE)
    if address:
        st.query_params.pop(_LIKE)
        question = read(st.query_params.get(LINE, ""))
        line = written(replace(question, terms=(*question.terms, Term("like", address))))
        st.session_state[LINE] = line
        st.query_params[LINE] = line  # which is stronger than the session, and is copied as a link
        st.rerun()


def _add_picture(library: Library, content: bytes) -> None:
    try:
        name = keep(library, content)
    except BadPicture as error:
        st.session_state[_FAULT] = str(error)
    except MemedexError as error:
        st.session_state[_FAULT] = str(error)
    else:
        question = read(st.session_state.get(LINE) or "")
        known = [term for term in question.terms if (term.source, term.said) != ("picture", name)]
        # `picture` in the line, without a name, has waited for this one.
        waiting = [replace(t, said=name) if t.source == "picture" and not t.said else t for t in known]
        terms = waiting if waiting != known else [*known, Term("picture", name)]
        st.session_state[LINE] = written(replace(question, terms=tuple(terms)))

"""The parts of a query as chips: each opens to change its weight, sign or facets, or to remove it."""

from collections import Counter
from dataclasses import replace
from functools import partial
from io import BytesIO

import streamlit as st

from components.shell import format
from components.shell.page.query_pictures import LINE, picture
from components.shell.server import pictures
from components.shell.session import safe_mode
from store import Library, MemedexError
from store.disk import files
from store.records import FACETS
from store.search import Question, Term, query_syntax


def show(library: Library, question: Question) -> None:
    """One chip for each part; none for plain words, which the line itself shows best."""
    terms = question.terms
    if not terms or (len(terms) == 1 and terms[0] == Term("text", terms[0].text)):
        return
    seen: Counter[tuple[str, str]] = Counter()
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        for number, term in enumerate(terms):
            seen[term.source, term.text] += 1
            key = f"chip-{term.source}-{term.text[:60]}-{seen[term.source, term.text]}"
            chip = st.popover(_label(library, term, first=not number), key=key, on_change="rerun")
            if chip.open:  # a browser says of controls that it does not show what they once were
                with chip:
                    _body(library, question, number, key=key)


def _label(library: Library, term: Term, *, first: bool) -> str:
    sign = "− " if term.weight < 0 else "" if first else "+ "
    weight = "" if abs(term.weight) == 1 else f"{abs(term.weight):g} × "
    facets = "" if term.facets == FACETS else f"{', '.join(term.facets)}: "
    return f"{sign}{weight}{facets}{_source(library, term)}"


def _source(library: Library, term: Term) -> str:
    if term.source == "text":
        return f"“{format.plain(term.text, limit=40)}”"
    try:
        record = library.get(term.text)
    except MemedexError:
        if term.source == "like":
            return f"like {format.shortened(term.text)}"
        kept = library.samples.get(term.text)
        image = f"![]({pictures.address(library, files.content_hash(kept))})" if kept else ":material/image:"
        return f"{image} picture"
    image = f"![]({pictures.address(library, record.image_hash)})"
    word = "like" if term.source == "like" else "picture of"
    return f"{image} {word} {format.plain(safe_mode.shown(library, record).name, limit=32)}"


def _body(library: Library, question: Question, number: int, *, key: str) -> None:
    term = question.terms[number]
    content = picture(library, term.text) if term.source != "text" and term.text else None
    if content:
        st.image(BytesIO(content), width=160)
    for name, value in (
        ("weight", abs(term.weight)),
        ("minus", term.weight < 0),
        ("facets", list(term.facets)),
    ):
        st.session_state[f"{key}-{name}"] = value  # the line is the truth, also when it was typed again
    change = partial(_change, question, number, key)
    st.number_input(
        "Weight",
        min_value=0.0,
        max_value=max(100.0, abs(term.weight)),
        step=0.5,
        key=f"{key}-weight",
        on_change=change,
    )
    st.toggle("Minus: away from this", key=f"{key}-minus", on_change=change)
    st.pills("Compared with", FACETS, selection_mode="multi", key=f"{key}-facets", on_change=change)
    if term.source == "like":
        st.button(
            "Same style, another subject",
            key=f"{key}-style",
            icon=":material/palette:",
            on_click=_put,
            args=(question, number, same_style(term.text)),
            width="stretch",
        )
    st.button(
        "Remove",
        key=f"{key}-remove",
        icon=":material/close:",
        on_click=_put,
        args=(question, number, ()),
        width="stretch",
    )


def same_style(address: str) -> tuple[Term, Term]:
    """Similar to this coin in style, unlike it in content."""
    return Term("like", address, 1.0, ("visual",)), Term("like", address, -1.0, ("entity",))


def _change(question: Question, number: int, key: str) -> None:
    held = st.session_state
    weight = float(held[f"{key}-weight"]) * (-1 if held[f"{key}-minus"] else 1)
    facets = tuple(facet for facet in FACETS if facet in held[f"{key}-facets"]) or FACETS
    _put(question, number, (replace(question.terms[number], weight=weight, facets=facets),))
    held[key] = True  # with another label it is another chip to Streamlit; this one is in use


def _put(question: Question, number: int, instead: tuple[Term, ...]) -> None:
    """Replace one part of the line."""
    terms = (*question.terms[:number], *instead, *question.terms[number + 1 :])
    own = query_syntax.read(st.session_state.get(LINE) or "")  # without what the line's controls add to it
    st.session_state[LINE] = query_syntax.written(replace(own, terms=terms))

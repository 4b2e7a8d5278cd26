"""Coins that are listed and not ranked: outside of the library, or without a question."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.exchange import export
from components.grid import CAPTION, EXPORT, LIKE, TAGS, newest, show_cards
from components.search import filter as search_filter
from components.search.box import SearchRequest
from components.shell import format
from store import Library
from store.reading import query_binding


def show(library: Library, request: SearchRequest, foot: DeltaGenerator, *, shown: int) -> None:
    """Coins that are not compared with anything: those that match, best by words or newest first."""
    question, tier = request.question, request.question.filter.tier
    place = format.TIERS[tier or "library"]
    words = query_binding.words_of(question)
    if question.terms and not words:
        st.info(
            "Only the library can be searched by picture or example; elsewhere, ask with words.",
            icon=":material/search_off:",
        )
        return
    found = query_binding.records_listed(library, question, limit=shown)
    facts = [
        f"results with these words in {place}: only the library is searched by meaning"
        if words
        else f"results · the newest of {format.counted(library.count(question.filter), 'coin')} in {place}"
    ]
    with foot:
        st.caption(
            " · ".join(filter(None, [*facts, search_filter.describe(question.filter)])), width="stretch"
        )
    if not found:
        st.info(f"No matches in {place}.", icon=":material/search_off:")
        return
    show_cards(
        f"search-listed-{tier}",
        library,
        found,
        actions=[LIKE, CAPTION, TAGS, EXPORT] if tier == "library" else [CAPTION, TAGS, EXPORT],
        handlers={**newest.WAYS, "export": export.preselect},
    )

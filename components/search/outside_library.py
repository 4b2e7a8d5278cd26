"""Where a coin is that the query names, if it is not in the library."""

from dataclasses import replace

import streamlit as st

from components.shell import format
from components.shell.session import safe_mode
from store import Library
from store.reading import query_binding
from store.records import Tier
from store.search import Question

_MOST = 3
# The page of each tier, and the parameter of its filter.
_PAGES: dict[Tier, tuple[str, str]] = {
    "pending": ("pages/pending.py", "pending_words"),
    "approved": ("pages/approved.py", "approved_words"),
    "trash": ("pages/rejected.py", "trash_words"),
}


def show(library: Library, question: Question, line: str) -> None:
    """A link for each coin outside of the library whose ticker, name or address is in the line."""
    anywhere = replace(question, filter=replace(question.filter, tier=None))
    for record in query_binding.exact_matches(library, anywhere, line, limit=_MOST):
        if record.tier not in _PAGES:
            continue
        page, words = _PAGES[record.tier]
        shown = safe_mode.shown(library, record)
        named = f"{shown.name} ({shown.ticker})" if shown.ticker else shown.name
        st.page_link(
            page,
            label=f"**{format.plain(named)}** is not in the library: open it in {format.TIERS[record.tier]}",
            icon=":material/arrow_forward:",
            query_params={words: (record.ticker or record.name) if shown is record else record.address},
        )

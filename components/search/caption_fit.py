"""Coins whose captions fit their picture no better than a stranger's would, the worst first."""

import streamlit as st

from components.grid import CAPTION, LIKE, Mark, show_cards
from components.shell import format
from components.shell.session import resources
from store import Library, MemedexError, Record
from store.evaluation import similarity

PER_PAGE = 60


def show(library: Library) -> None:
    """One page of them, each with its fit."""
    try:
        resources.ready_to_search(library)
        with st.spinner("Comparing every picture with its captions …"):
            found = similarity.disagreements(library.snapshot(), scale=library.embedder.cross_modal_scale)
    except MemedexError as error:
        st.error("Pictures and captions could not be compared:", icon=":material/error:")
        st.text(str(error))
        return
    if not found:
        st.info(
            f"Fewer than {similarity.FEWEST_PAIRS} coins in the library: too few to say what is unusual.",
            icon=":material/troubleshoot:",
        )
        return
    odd = sum(one.fit < similarity.AT_ODDS for one in found)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"{format.counted(odd, 'caption') if odd else 'No caption'} of {len(found):,} probably belongs "
            f"to another picture (fit below {similarity.AT_ODDS:+.2f}). The lowest fit comes first.",
            width="stretch",
            help="The cosine of picture and captions, in standard deviations above what this picture reaches "
            "with the captions of other coins, and these captions with the pictures of other coins.",
        )
        pages = -(-len(found) // PER_PAGE)
        page = st.pagination(pages, key="page", bind="query-params", width=250) if pages > 1 else 1
    fits = {one.address: one for one in found[(page - 1) * PER_PAGE : page * PER_PAGE]}
    show_cards(
        "suspicious",
        library,
        library.records(fits),
        actions=[CAPTION, LIKE],
        mark=lambda record: _mark(fits, record),
    )


def _mark(fits: dict[str, similarity.Fit], record: Record) -> Mark:
    fit = fits[record.address].fit
    return {"label": f"fit {fit:+.1f}", "tone": "bad" if fit < similarity.AT_ODDS else "quiet"}

"""Filters, order and pages above a grid; all of it in the address, so that a link shows the same view."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from components import wording
from components.grid import filters, ordering, saved
from components.grid.ledger import Entry, Handler
from components.grid.matching import offered
from store.filter import Filter
from store.library import Library
from store.query_line import parsed
from store.records import Record

SIZES = (24, 60, 120, 240)
_ASKING = 530  # px: words, filter and order, as wide as all there is beside the navigation at 800


@dataclass(frozen=True, slots=True)
class View:
    """One page of the records that pass the filters."""

    records: list[Record]
    pages: int
    is_filtered: bool
    matching: Mapping[str, Any]  # all of them, for `show_cards`


def browse(key: str, library: Library, *, base: Filter) -> View:
    """Draw the controls and find what they ask for among the records that pass `base`."""
    if (line := saved.named_in_link(library)) is not None:
        filters.open_line(key, line)
    # Two groups: a narrow window has one line for what is asked and one for where one is.
    with st.container(horizontal=True, horizontal_alignment="distribute", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width=_ASKING):
            words = st.text_input(
                "Words", key=f"{key}_words", bind="query-params", icon=":material/search:",
                placeholder="words, tag:dog …", type="search", live=True, label_visibility="collapsed",
            )  # fmt: skip
            asked = parsed(words or "", base=base, who=library.who)
            filters.drawer(key, library, asked.filter)
            sort, like = ordering.choose(key)
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
            size = st.selectbox(
                "Coins on a page", SIZES, index=1, key=f"{key}_per", bind="query-params", width=125,
                format_func="{} a page".format, label_visibility="collapsed",
            )  # fmt: skip
            total = library.count(asked.filter)
            pages = max(1, -(-total // size))
            counted = st.container(width="content")
            page = _page(key, pages)
            counted.caption(_sentence(total, page, size))
    for fault in asked.faults:
        st.caption(f":orange[{wording.plain(fault, limit=160)}]")
    records = ordering.page_of(
        key, library, asked.filter, sort=sort, like=like, offset=(page - 1) * size, limit=size
    )
    matching = offered(library, asked.filter, total=total)
    return View(records, pages, not asked.filter.is_open, matching)


def turning(key: str) -> Mapping[str, Handler]:
    """Handlers for the keys that turn the page."""
    return {"next": _turn(key, 1), "previous": _turn(key, -1)}


def _turn(key: str, by: int) -> Handler:
    def handler(_: Entry) -> None:
        name = f"{key}_page"
        st.session_state[name] = max(1, st.session_state.get(name, 1) + by)

    return handler


def _page(key: str, pages: int) -> int:
    name = f"{key}_page"
    if st.session_state.get(name, 1) > pages:  # decided away, or an old link
        st.session_state[name] = pages
    if pages == 1:
        return 1
    return st.pagination(pages, key=name, bind="query-params", max_visible_pages=5, width=250)


def _sentence(total: int, page: int, size: int) -> str:
    """How many there are, and which of them these are."""
    first, last = (page - 1) * size + 1, min(page * size, total)
    return wording.counted(total, "coin") if total <= size else f"{first:,}–{last:,} of {total:,}"

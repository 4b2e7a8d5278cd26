"""Filters, order and pages above a grid; all of it in the address, so that a link shows the same view."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from components import wording
from components.grid import saved
from components.grid.ledger import Entry, Handler
from components.grid.matching import offered
from store.library import Library
from store.listing import Filter
from store.query_line import parsed, written
from store.records import Record, Tier

# The address holds what the control shows: hence words that make a link readable, and no counts.
SORTS = ("Newest", "Oldest", "Name", "Moved")
SIZES = (24, 60, 120, 240)
_COUNTED = 40  # tags and categories shown with how many there are
_LINE = (
    "The search line also understands `tag:dog`, `-tag:nsfw`, `category:animals`, `-category:…`, "
    "`after:2025-01`, `before:2025-02-15` (UTC) and `dup:yes`, all together with words. "
    '`tag:"two words"` for a tag with a space.'
)
_TAGS = 300  # the most frequent ones are offered


@dataclass(frozen=True, slots=True)
class View:
    """One page of the records that pass the filters."""

    records: list[Record]
    sentence: str  # how many there are, and which of them these are
    pages: int
    is_filtered: bool
    matching: Mapping[str, Any]  # all of them, for `show_cards`


def browse(key: str, library: Library, *, tier: Tier, captioned: bool | None = None) -> View:
    """Draw the controls and find what they ask for."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        words = st.text_input(
            "Words", key=f"{key}_words", bind="query-params", icon=":material/search:", width=190,
            placeholder="words, tag:dog …", type="search", live=True, label_visibility="collapsed",
        )  # fmt: skip
        frequent = library.tag_counts(Filter(tier=tier))
        tags = st.multiselect(
            "Tags", list(frequent)[:_TAGS], key=f"{key}_tags", bind="query-params", width=170,
            placeholder="any tags", label_visibility="collapsed",
        )  # fmt: skip
        sort = st.selectbox(
            "Order", SORTS, key=f"{key}_sort", bind="query-params", width=120, label_visibility="collapsed",
        )  # fmt: skip
        size = st.selectbox(
            "Coins on a page", SIZES, index=1, key=f"{key}_per", bind="query-params", width=130,
            format_func="{} a page".format, label_visibility="collapsed",
        )  # fmt: skip
        line = parsed(words or "", base=Filter(tier=tier, tags=tuple(tags), captioned=captioned))
        asked = line.filter
        total = library.count(asked)
        pages = max(1, -(-total // size))
        _help(key, library, asked)
        st.space("stretch")
        page = _page(key, pages)
    for fault in line.faults:
        st.caption(f":orange[{wording.plain(fault, limit=160)}]")
    records = library.find(asked, sort=sort.lower(), offset=(page - 1) * size, limit=size)
    matching = offered(library, asked, total=total)
    return View(records, _sentence(total, page, size), pages, not asked.is_open, matching)


def _help(key: str, library: Library, asked: Filter) -> None:
    """What the line understands, lines kept under a name, and how often each tag occurs in what passes."""
    drawer = st.popover("", icon=":material/tune:", help="What can be asked, and tags with counts")
    with drawer:
        st.markdown(_LINE)
        saved.show(key, library, line=written(asked))
        for name, counts in (
            ("Tags", library.tag_counts(asked)),
            ("Categories", library.category_counts(asked)),
        ):
            if counts:
                st.caption(name)
                with st.container(horizontal=True, gap="xsmall"):
                    for label, number in list(counts.items())[:_COUNTED]:
                        st.badge(f"{wording.plain(label, limit=40)} · {number:,}", color="gray")


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
    if not total:
        return ""
    first, last = (page - 1) * size + 1, min(page * size, total)
    coins = wording.counted(total, "coin")
    return coins if total <= size else f"{first:,} to {last:,} of {coins}"

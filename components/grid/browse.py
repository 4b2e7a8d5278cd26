"""Filter, order and pages above a grid; all of it in the page's address, so that a link shows the same."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from components.grid import ordering, page_number, saved
from components.grid.actions import Action, Handler
from components.grid.cards import Mark
from components.grid.filters import Drawer, mended
from components.grid.grid import show_cards, tools_place
from components.grid.matching import offered
from components.grid.page_number import turning
from components.shell import format
from components.shell.page import address
from components.shell.page.streamlit_style import BAR, PAGES
from components.shell.session import presenter
from store import Filter, Library, Record
from store.catalog import filter_syntax

SIZES = (24, 60, 120, 240)


@dataclass(frozen=True, slots=True)
class View:
    """One page of the records that match."""

    records: list[Record]
    filter: Filter
    pages: int
    is_filtered: bool
    line: str
    names_tier: bool  # whether the line may name a tier
    faults: Sequence[str]  # what of the line was not understood: then nothing is shown
    better: str  # the line with its misspelt filters and tags corrected, if nothing is shown
    matching: Mapping[str, Any]  # all of them, for `show_cards`
    order: str
    counted: str  # which of them are shown, if these are not all


def show_view(
    key: str,
    library: Library,
    view: View,
    *,
    actions: Sequence[Action],
    handlers: Mapping[str, Handler],
    mark: Callable[[Record], Mark | None] = lambda _: None,
    table: bool = False,
) -> None:
    """Show the records of a view as cards, with `handlers` in addition to turning its pages."""
    show_cards(
        key,
        library,
        view.records,
        actions=actions,
        handlers={**handlers, **turning(key)},
        mark=mark,
        pages=view.pages > 1,
        matching=view.matching,
        order=view.order,
        names_tier=view.names_tier,
        counted=view.counted,
        table=table,
    )


def browse(
    key: str,
    library: Library,
    *,
    base: Filter | Callable[[], Filter],
    lead: Callable[[], object] | None = None,
    more: Callable[[], object] | None = None,
) -> View:
    """Draw the row of controls and find the records that match.

    They match within `base`, which may draw a control of its own in the row; `lead` and `more` draw others,
    at its beginning and after the order.
    """
    drawer = _drawer(key)
    if (line := saved.named_in_link(library)) is not None:
        drawer.put(line)
    with st.container(key=BAR, horizontal=True, vertical_alignment="center", gap="small"):
        if lead:
            lead()
        words = st.text_input(
            "Words", **address.kept(f"{key}_words"), icon=":material/search:",
            placeholder="words, tag:dog …", type="search", live=True, label_visibility="collapsed",
        )  # fmt: skip
        within = base() if callable(base) else base
        query = filter_syntax.parsed(presenter.revealed(words or ""), base=within, actor=library.actor_name)
        size = replace(drawer, names_tier=within.tier is None).show(
            library, query.filter, more=partial(_size, key)
        )
        sort = ordering.choose(key, library)
        if more:
            more()
        tools_place()
    like = ordering.compared_with(key, sort)
    # Without what was not understood, unwanted coins would be shown, and decided.
    total = 0 if query.faults else library.count(query.filter)
    pages = max(1, -(-total // size))
    with st.container(key=PAGES):
        page = page_number.draw(key, pages)
    mended(query.hints)
    records = []
    if not query.faults:
        records = ordering.page_of(
            key, library, query.filter, sort=sort, like=like, offset=(page - 1) * size, limit=size
        )
    matching = offered(library, query.filter, total=total)
    line = words or ""
    if query.faults:
        matching["filter"] = line  # another question than before, by which nothing can be chosen
    is_filtered = bool(query.faults) or not query.filter.is_open
    return View(
        records,
        query.filter,
        pages,
        is_filtered,
        line,
        within.tier is None,
        query.faults,
        line
        if total
        else filter_syntax.corrected(line, names_tier=within.tier is None, tags=library.tag_counts(Filter())),
        matching,
        f"{sort} {like}",
        _sentence(total, page, size) if pages > 1 else "",
    )


def no_matches(key: str, view: View) -> None:
    """Explain why nothing is shown, with a way on."""
    for fault in view.faults:
        st.warning(format.plain(fault, limit=200), icon=":material/help:")
    if not view.faults:
        st.info("No matches.", icon=":material/search_off:")
    with st.container(horizontal=True, gap="small"):
        if view.better != view.line:
            st.button(
                f"Use {format.plain(view.better, limit=60)}",
                key=f"{key}-corrected",
                type="primary",
                on_click=_drawer(key).put,
                args=(view.better,),
            )
        if view.line.strip():
            st.button("Clear filters", key=f"{key}-clear", on_click=_drawer(key).put, args=("",))


def _drawer(key: str) -> Drawer:
    return Drawer(key, f"{key}_words")


def _size(key: str) -> int:
    """How many coins are on a page."""
    size: int = st.selectbox(
        "Coins on a page", SIZES, index=1, key=f"{key}_per", bind="query-params", width=150,
        format_func="{} a page".format,
    )  # fmt: skip
    return size


def _sentence(total: int, page: int, size: int) -> str:
    """Which of them are shown."""
    return f"{(page - 1) * size + 1:,}–{min(page * size, total):,} of {total:,}"

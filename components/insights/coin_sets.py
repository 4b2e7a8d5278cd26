"""The sets of coins that the figures count: one, or two that are compared."""

from dataclasses import dataclass

import streamlit as st

from components.grid.filters import Drawer, mended
from components.shell import format
from components.shell.page import address, charts
from components.shell.session import presenter
from store import Filter, Library
from store.catalog import filter_syntax

COLORS = (charts.ACCENT, charts.YELLOW)
_ALL = "All coins"


@dataclass(frozen=True, slots=True)
class CoinSet:
    """Coins by a filter, with their name in the figures and their number."""

    label: str
    filter: Filter
    coins: int


def choose(library: Library) -> list[CoinSet]:
    """Draw the controls; the one or two sets, none with a line that was not understood or finds nothing."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        line = _line(library, "insights_words", "Coins", "all coins, or tag:dog, source:…")
        is_compared = st.toggle("Compare", key="insights_compare", bind="query-params")
        other = (
            _line(library, "insights_other", "Other coins", "all coins, or after:2025-01 before:2025-02")
            if is_compared
            else None
        )
    found = [_set(library, one) for one in ([line] if other is None else [line, other])]
    sets = [one for one in found if one]
    if len(sets) == 2 and sets[0].label == sets[1].label:
        st.caption("Both sets are the same: give one of them a tag, a source or dates.")
        return sets[:1]
    return sets


def colors(sets: list[CoinSet]) -> dict[str, int]:
    """A colour for each set by its label."""
    return dict(zip((one.label for one in sets), COLORS, strict=False))


def _line(library: Library, key: str, label: str, placeholder: str) -> str:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width=400):
        line = st.text_input(
            label, **address.kept(key), icon=":material/search:", placeholder=placeholder,
            label_visibility="collapsed",
        )  # fmt: skip
        drawer = Drawer(key, key, changed=lambda: None)
        drawer.show(
            library, filter_syntax.parsed(presenter.revealed(line or ""), actor=library.actor_name).filter
        )
    return (line or "").strip()


def _set(library: Library, line: str) -> CoinSet | None:
    query = filter_syntax.parsed(presenter.revealed(line), base=Filter(), actor=library.actor_name)
    mended(query.hints)
    for fault in query.faults:
        st.warning(format.plain(fault, limit=200), icon=":material/help:")
    if query.faults:
        return None
    coins = library.count(query.filter)
    if not coins:
        st.info(f"No coin matches {format.plain(line)}.", icon=":material/search_off:")
        return None
    return CoinSet(line or _ALL, query.filter, coins)

"""Figures whose bars lead to the coins that they count, each with its numbers as CSV."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from components.shell.page import charts, places, tables
from components.shell.session import presenter
from store import Filter, Library
from store.catalog import filter_syntax

if TYPE_CHECKING:
    from streamlit.elements.lib.grid_container import GridContainer

NAMED = "coins of "  # begins the name of a bar whose coins no filter describes, in place of its line
Coins = Callable[[str], str]  # the line that finds the coins of such a bar, by its name


def grid() -> "GridContainer":
    """The place of figures side by side: one on a phone, two on a laptop, four on a large screen."""
    return st.grid(4, min_column_width=400, gap=("medium", "large"))


def show(
    figure: charts.Figure,
    *,
    title: str,
    key: str,
    alt: str,
    about: str | None = None,
    coins: Coins | None = None,
    control: Callable[[], object] | None = None,
) -> None:
    """A figure with its title and its rows as CSV; a click on a bar opens the grid with its coins.

    `coins` finds those of bars that no filter describes; `control` draws a control next to the title.
    """
    with st.container(gap=None):
        _heading(figure, title=title, key=key, about=about, control=control)
        clicked = st.echarts_chart(figure.option, key=key, alt=alt, height=figure.height, on_select="rerun")
    for group in clicked.selection.selected:
        for place in group["data_indices"]:
            line = figure.line(group["series_index"], place)
            if line.startswith(NAMED):
                line = coins(line.removeprefix(NAMED)) if coins else ""
            if line:
                st.switch_page(**places.all_coins(line))


def stored(library: Library, find: Callable[[str], Sequence[str]]) -> Coins | None:
    """Lines that find coins by a stored selection, which viewers cannot make: None for them."""

    def coins(name: str) -> str:
        found = find(name)
        return f"set:{library.coin_sets.store(found)}" if found else ""

    return coins if library.can_write else None


def line_of(filter: Filter) -> str:
    """The line that finds the coins of a bar; "" if no line can say it, as for a reason with quotes."""
    line = filter_syntax.written_with_tier(filter)
    return presenter.concealed(line) if filter_syntax.parsed(line).filter == filter else ""


def present(drawn: Sequence[charts.Bar | charts.Dot], colors: Mapping[str, int]) -> dict[str, int]:
    """The colours of the kinds that are drawn."""
    kinds = {one.kind for one in drawn}
    return {kind: color for kind, color in colors.items() if kind in kinds}


def _heading(
    figure: charts.Figure, *, title: str, key: str, about: str | None, control: Callable[[], object] | None
) -> None:
    """The title of a figure, and a download of its numbers; `about` explains it on request."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(title, help=about, width="content")
        if control:
            control()
        st.space("stretch")
        st.download_button(
            "CSV",
            lambda: tables.as_csv(figure.rows),
            file_name=f"{key}.csv",
            mime="text/csv",
            key=f"{key}-csv",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
            help="These numbers as a table",
        )

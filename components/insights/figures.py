"""Figures whose bars lead to the coins that they count, each with its numbers as CSV and a picture."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from components.shell.page import charts, places, tables
from components.shell.session import presenter
from store import Filter, Library
from store.catalog import filter_syntax

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from streamlit.elements.lib.grid_container import GridContainer

NAMED = "coins of "  # begins the name of a bar whose coins no filter describes, in place of its line
Coins = Callable[[str], str]  # the line that finds the coins of such a bar, by its name
_FEW_MONTHS = 12  # the axis has room for a year at least


def bars(
    frame: "pd.DataFrame",
    *,
    title: str,
    colors: Mapping[str, str],
    percent: bool = False,
    stacked: bool = False,
) -> "go.Figure":
    """Horizontal bars from columns name, kind, value, text and line, the names from the top in their order.

    The kinds of a name lie below each other, or end to end if `stacked`; `text` is what hovering says.
    """
    import plotly.graph_objects as go

    names = list(dict.fromkeys(frame["name"]))
    rows = len(names) * (1 if stacked else max(1.0, 0.75 * len(colors)))
    layout = charts.layout(
        height=round(max(130, 70 + charts.ROW * rows) + 32 * (len(colors) > 1)),
        legend=len(colors) > 1,
        barmode="stack" if stacked else "group",
        bargap=0.3,
    )
    figure = go.Figure(layout=layout)
    for kind, color in colors.items():
        part = frame[frame["kind"] == kind]
        figure.add_bar(
            x=part["value"],
            y=[names.index(name) for name in part["name"]],
            orientation="h",
            name=charts.plain(kind),
            marker_color=color,
            customdata=part["line"],
            hovertext=[charts.plain(text, 120) for text in part["text"]],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    amounts = {"tickformat": ".0%", "rangemode": "tozero"} if percent else charts.counts(frame["value"].max())
    return figure.update_layout(
        hovermode="closest",
        xaxis=charts.axis(title, **amounts),
        yaxis=charts.rows([charts.plain(name, 24) for name in names]),
    )


def months(frame: "pd.DataFrame", *, title: str, colors: Mapping[str, str]) -> "go.Figure":
    """Stacked bars from columns name (a month such as 2025-01), kind, value, text and line."""
    import pandas as pd
    import plotly.graph_objects as go

    figure = go.Figure(
        layout=charts.layout(height=charts.HEIGHT, legend=len(colors) > 1, barmode="stack", bargap=0.2)
    )
    for kind, color in colors.items():
        part = frame[frame["kind"] == kind]
        figure.add_bar(
            x=pd.to_datetime(part["name"], format="%Y-%m"),
            y=part["value"],
            name=charts.plain(kind),
            marker_color=color,
            customdata=part["line"],
            hovertext=[charts.plain(text, 120) for text in part["text"]],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    last = pd.Period(frame["name"].max(), "M")
    first = min(pd.Period(frame["name"].min(), "M"), last - _FEW_MONTHS + 1)
    ends = [first.start_time - pd.Timedelta(days=16), last.start_time + pd.Timedelta(days=16)]
    highest = frame.groupby("name")["value"].sum().max()
    return figure.update_layout(
        hovermode="closest",
        xaxis=charts.axis("", type="date", range=ends, showgrid=False, tickformat="%b\n%Y", nticks=8),
        yaxis=charts.axis(title, **charts.counts(highest)),
    )


def classes(
    frame: "pd.DataFrame", *, x: str, y: str, colors: Mapping[str, str], width: float, percent: bool = False
) -> "go.Figure":
    """A histogram with bars from columns kind, start (of the class, `width` wide), value, text and line."""
    import plotly.graph_objects as go

    layout = charts.layout(height=charts.HEIGHT, legend=len(colors) > 1, barmode="group", bargap=0.08)
    figure = go.Figure(layout=layout)
    for kind, color in colors.items():
        part = frame[frame["kind"] == kind]
        figure.add_bar(
            x=part["start"] + width / 2,
            y=part["value"],
            name=charts.plain(kind),
            marker_color=color,
            opacity=charts.opacity(color),
            customdata=part["line"],
            hovertext=[charts.plain(text, 120) for text in part["text"]],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    amounts = {"tickformat": ".0%", "rangemode": "tozero"} if percent else charts.counts(frame["value"].max())
    return figure.update_layout(
        hovermode="closest", xaxis=charts.axis(x, showgrid=False), yaxis=charts.axis(y, **amounts)
    )


def grid() -> "GridContainer":
    """The place of figures side by side: one on a phone, two on a laptop, four on a large screen."""
    return st.grid(4, min_column_width=400, gap=("medium", "large"))


def show(
    figure: "go.Figure",
    frame: "pd.DataFrame",
    *,
    title: str,
    key: str,
    alt: str,
    about: str | None = None,
    coins: Coins | None = None,
    control: Callable[[], object] | None = None,
) -> None:
    """A figure with its title and its frame as CSV; a click on a bar opens the grid with its coins.

    `coins` finds those of bars that no filter describes; `control` draws a control next to the title.
    """
    with st.container(gap=None):
        heading(frame, title=title, key=key, about=about, control=control)
        now = charts.followed_theme(key=f"{key}-theme")
        clicked = st.plotly_chart(
            figure,
            key=f"{key}-{now}",
            alt=alt,
            width="stretch",
            on_select="rerun",
            selection_mode="points",
            config=_with_picture(key),
        )
    for point in clicked["selection"]["points"]:
        line = _line(point.get("customdata"))
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


def heading(
    frame: "pd.DataFrame",
    *,
    title: str,
    key: str,
    about: str | None = None,
    control: Callable[[], object] | None = None,
) -> None:
    """The title of a figure, and a download of its numbers; `about` explains it on request."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(title, help=about, width="content")
        if control:
            control()
        st.space("stretch")
        st.download_button(
            "CSV",
            tables.as_csv(frame.to_dict("records")),
            file_name=f"{key}.csv",
            mime="text/csv",
            key=f"{key}-csv",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
            help="These numbers as a table",
        )


def _with_picture(key: str) -> dict[str, object]:
    """Plotly's toolbar with nothing but the picture, which the browser draws itself."""
    return {
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": "png", "scale": 2, "filename": key},
    }


def _line(customdata: str | Sequence[str] | None) -> str:
    """The filter line of a bar, which Plotly reports as a value or a list of one."""
    return customdata if isinstance(customdata, str) else "".join((customdata or [""])[:1])

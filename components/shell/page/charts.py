"""Plotly figures from pandas frames, in the theme's colours, dark and light.

Streamlit sends placeholders for colours and replaces them by the theme's in the browser, also when the theme
is switched in the menu, where `st.context.theme` is late (streamlit issue 11920). Plotly and pandas are
imported when the first figure is made.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.elements.lib import streamlit_plotly_theme as stand_ins

from components.shell import format
from components.shell.session import presenter

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
from pathlib import Path

# In the order of chartCategoricalColors in config.toml.
ACCENT, GREEN, YELLOW = stand_ins.CATEGORY_0, stand_ins.CATEGORY_1, stand_ins.CATEGORY_2
RED, BLUE, PURPLE = stand_ins.CATEGORY_3, stand_ins.CATEGORY_4, stand_ins.CATEGORY_5
_NAMED = {"blue": ACCENT, "yellow": YELLOW, "green": GREEN, "red": RED}
TIERS = {format.TIERS[tier]: _NAMED[color] for tier, color in format.TIER_COLORS.items()}  # by their names
QUIET = stand_ins.GRAY_70  # drawn half transparent: it is as strong as text
COLORS = (ACCENT, GREEN, YELLOW, BLUE, PURPLE, RED)  # where no colour has a meaning of its own

HEIGHT = 280  # px
ROW = 22  # px of one bar or interval
_PRESENTED = 15  # px of letters while somebody presents, 12 otherwise
_GAP = 0.03  # between panels, of the whole width, on each side
_DAY = 86_400_000  # ms, Plotly's unit for the width of a bar on an axis of dates
_FEW = 5  # up to here every whole number has its tick
_DATE = "%a %-d %b %Y"


def show(figure: "go.Figure", *, key: str, alt: str) -> None:
    """Draw a figure as wide as its place; `alt` describes it for those who cannot see it."""
    now = followed_theme(key=f"{key}-theme")
    st.plotly_chart(figure, key=f"{key}-{now}", alt=alt, config={"displayModeBar": False}, width="stretch")


def in_colors(kinds: Iterable[str]) -> dict[str, str]:
    """A colour for each kind, in this order; beyond the theme's six they repeat."""
    return dict(zip(kinds, itertools.cycle(COLORS), strict=False))


def days(
    frame: "pd.DataFrame", *, title: str, colors: Mapping[str, str], money: bool = False, least: int = 14
) -> "go.Figure":
    """Stacked bars from columns day (since 1970, UTC), kind and value, the kinds in the order of `colors`.

    The axis spans `least` days at least.
    """
    import plotly.graph_objects as go

    value = "$%{y:,.4f}" if money else "%{y:,}"
    figure = go.Figure(layout=layout(height=HEIGHT, legend=True, barmode="stack", bargap=0.25))
    for kind, color in colors.items():
        part = frame[frame["kind"] == kind]
        if len(part):
            figure.add_bar(
                x=_dates(part["day"]),
                y=part["value"],
                name=plain(kind),
                marker_color=color,
                opacity=opacity(color),
                width=0.75 * _DAY,
                hovertemplate=f"{value} {plain(kind)}<extra></extra>",
            )
    highest = frame.groupby("day")["value"].sum().max()
    amounts = {"tickprefix": "$", "rangemode": "tozero"} if money else counts(highest)
    return figure.update_layout(
        hovermode="x unified", xaxis=_day_axis(frame["day"], least=least), yaxis=axis(title, **amounts)
    )


def shares(frame: "pd.DataFrame", *, title: str, hover: str, over: "pd.Series | None" = None) -> "go.Figure":
    """A line of shares (0 to 1) from columns day, share and text; `over`: the days that the axis spans."""
    import plotly.graph_objects as go

    figure = go.Figure(layout=layout(height=HEIGHT))
    figure.add_scatter(
        x=_dates(frame["day"]),
        y=frame["share"],
        customdata=frame["text"],
        mode="lines+markers",
        marker={"color": ACCENT, "size": 7},
        line={"color": ACCENT, "width": 2},
        hovertemplate=f"%{{y:.0%}} {hover}<br>%{{customdata}}<extra>%{{x|{_DATE}}}</extra>",
    )
    return figure.update_layout(
        xaxis=_day_axis(frame["day"] if over is None else over),
        yaxis=axis(title, tickformat=".0%", range=[-0.03, 1.05], dtick=0.25),
    )


def intervals(frame: "pd.DataFrame", *, colors: Mapping[str, str]) -> "go.Figure":
    """Means with their intervals, from columns name, series, measure, mean, low, high (0 to 1) and best.

    A panel for each measure, a row for each name; the series of a name stand close together. The best have a
    star.
    """
    import plotly.graph_objects as go

    names, measures = list(frame["name"].unique()), list(frame["measure"].unique())
    step = 0.7 / max(1, len(colors))
    figure = go.Figure(layout=layout(height=90 + ROW * len(names) * len(colors), legend=True))
    width = 1 / len(measures)
    for panel, measure in enumerate(measures, start=1):
        for place, (series, color) in enumerate(colors.items()):
            part = frame[(frame["measure"] == measure) & (frame["series"] == series)]
            offset = (place - (len(colors) - 1) / 2) * step
            figure.add_scatter(
                x=part["mean"], y=[names.index(name) + offset for name in part["name"]], xaxis=f"x{panel}",
                mode="markers", name=series, legendgroup=series, showlegend=panel == 1,
                marker={
                    "color": color, "size": [15 if best else 8 for best in part["best"]],
                    "symbol": ["star" if best else "circle" for best in part["best"]],
                },
                opacity=opacity(color),
                error_x={
                    "array": part["high"] - part["mean"], "arrayminus": part["mean"] - part["low"],
                    "symmetric": False, "color": color, "thickness": 2, "width": 0,
                },
                customdata=list(zip(part["low"], part["high"], map(plain, part["name"]), strict=True)),
                hovertemplate="%{x:.2f} (%{customdata[0]:.2f} to %{customdata[1]:.2f})"
                f"<extra>%{{customdata[2]}}<br>{series}</extra>",
            )  # fmt: skip
        panel_axis = axis(
            measure,
            range=[-0.02, 1.02],
            dtick=0.25,
            tickformat=".2f",
            showgrid=True,
            domain=[(panel - 1) * width + _GAP, panel * width - _GAP],
        )
        figure.update_layout({f"xaxis{panel}": panel_axis})
    return figure.update_layout(hovermode="closest", yaxis=rows([plain(name) for name in names]))


def ranked(frame: "pd.DataFrame", *, title: str) -> "go.Figure":
    """Horizontal bars from columns name and count, in the frame's order from the top."""
    import plotly.graph_objects as go

    figure = go.Figure(layout=layout(height=70 + ROW * len(frame), bargap=0.3))
    figure.add_bar(
        x=frame["count"],
        y=list(range(len(frame))),
        orientation="h",
        marker_color=ACCENT,
        customdata=[plain(name) for name in frame["name"]],
        hovertemplate="%{x:,} %{customdata}<extra></extra>",
    )
    return figure.update_layout(
        xaxis=axis(title, **counts(frame["count"].max())),
        yaxis=rows([plain(name, 24) for name in frame["name"]]),
    )


def classes(
    frame: "pd.DataFrame", *, x: str, y: str, colors: Mapping[str, str], width: float, percent: bool = False
) -> "go.Figure":
    """A histogram as a stepped line for each kind.

    Columns kind, start (of the class, `width` wide) and value; empty classes have 0. A last point ends the
    last class.
    """
    import plotly.graph_objects as go

    figure = go.Figure(layout=layout(height=HEIGHT, legend=True))
    share, span = (
        ("%{y:.0%}", "%{customdata[0]:.2f} to %{customdata[1]:.2f}")
        if percent
        else ("%{y:,}", "%{customdata[0]} to %{customdata[1]}")
    )
    for kind, color in colors.items():
        part = frame[frame["kind"] == kind]
        if len(part):
            ends = part["start"] + width
            figure.add_scatter(
                x=[*part["start"], ends.max()],
                y=[*part["value"], 0],
                name=plain(kind),
                mode="lines",
                line={"color": color, "width": 2, "shape": "hv"},
                opacity=opacity(color),
                customdata=list(zip(part["start"], ends if percent else ends - 1, strict=True)),
                hovertemplate=f"{share} {plain(kind)} ({span})<extra></extra>",
            )
    amounts = {"tickformat": ".0%", "rangemode": "tozero"} if percent else counts(frame["value"].max())
    return figure.update_layout(hovermode="x", xaxis=axis(x, showgrid=False), yaxis=axis(y, **amounts))


def values(numbers: Iterable[float]) -> "go.Figure":
    """A vector's numbers as bars around 0, in their order."""
    import plotly.graph_objects as go

    figure = go.Figure(layout=layout(height=160, bargap=0))
    figure.add_bar(y=list(numbers), marker_color=ACCENT, hovertemplate="%{y:.4f}<extra>number %{x}</extra>")
    return figure.update_layout(xaxis=axis("", showgrid=False), yaxis=axis("Value", nticks=4))


def opacity(color: str) -> float:
    """How opaque a colour is drawn, 0 to 1."""
    return 0.5 if color == QUIET else 1.0


def layout(*, height: int, legend: bool = False, **more: Any) -> dict[str, Any]:
    """The layout of all figures.

    Nothing can be dragged or zoomed, so that a page scrolls above a chart too.
    """
    return {
        "template": "streamlit",
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 32 if legend else 8, "b": 8},
        "dragmode": False,
        "showlegend": legend,
        "font": _type(),
        "legend": {
            "font": _type(),
            "orientation": "h",
            "yref": "container",
            "yanchor": "top",
            "y": 0.98,
            "x": 0,
            "traceorder": "normal",
        },
        **more,
    }


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with a title that cannot be zoomed."""
    return {
        "title": {"text": title, "font": _type()},
        "tickfont": _type(),
        "fixedrange": True,
        "zeroline": False,
        "automargin": True,
        **more,
    }


def rows(names: Sequence[str]) -> dict[str, Any]:
    """A row for each name, from the top."""
    places = list(range(len(names)))
    return axis("", tickvals=places, ticktext=names, range=[len(names) - 0.5, -0.5], showgrid=False)


def counts(highest: float) -> dict[str, Any]:
    """An axis of whole numbers that starts at 0."""
    return {"rangemode": "tozero", "tickformat": ",d", **({"dtick": 1} if highest <= _FEW else {"nticks": 6})}


def _type() -> dict[str, int]:
    """The size of letters, which Plotly has in pixels: as much larger for a presenter as the page's."""
    return {"size": _PRESENTED} if presenter.is_on() else {}


def _dates(column: "pd.Series") -> "pd.Series":
    import pandas as pd

    return pd.to_datetime(column * 86_400, unit="s")


def _day_axis(column: "pd.Series", *, least: int = 14) -> dict[str, Any]:
    """From half a day before the first to half a day after the last, of at least so many days."""
    import pandas as pd

    first, last = int(column.min()), int(column.max())
    first = min(first, last - least + 1)
    ends = pd.to_datetime([(first - 0.5) * 86_400, (last + 0.5) * 86_400], unit="s")
    return axis(
        "",
        type="date",
        range=list(ends),
        showgrid=False,
        hoverformat=_DATE,
        tickformat="%-d %b\n%Y",
        nticks=6,
    )


def plain(text: str, limit: int = 40) -> str:
    """An untrusted text, short and on one line, escaped for Plotly, which interprets some HTML."""
    line = " ".join(text.split())
    shown = line if len(line) <= limit else f"{line[: limit - 1]}…"
    return shown.replace("&", "&amp;").replace("<", "&lt;")


_theme = st.components.v2.component(
    "memedex.theme",
    html='<i class="memedex-theme"></i>',
    css=".memedex-theme { position: absolute; color: var(--st-text-color); transition: color 1ms; }",
    js=(Path(__file__).parent / "theme.js").read_text(encoding="utf-8"),
)


def followed_theme(*, key: str) -> str:
    """ "dark" or "light"; the page reruns when it is switched. "" without a browser."""
    _theme(key=key, on_switched_change=lambda: None)
    return st.context.theme.type or ""

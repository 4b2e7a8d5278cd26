"""Charts of plain rows, as options of ECharts; the page's theme colours them, dark and light."""

import itertools
from calendar import timegm
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from typing import Any, Literal, NamedTuple

import streamlit as st

from components.shell import format
from components.shell.session import presenter

Option = dict[str, Any]
Form = Literal["count", "share", "dollars", "score"]

# Places in chartCategoricalColors of config.toml.
ACCENT, GREEN, YELLOW, RED, BLUE, PURPLE = range(6)
QUIET = -1  # grey
_NAMED = {"blue": ACCENT, "yellow": YELLOW, "green": GREEN, "red": RED}
TIERS = {format.TIERS[tier]: _NAMED[color] for tier, color in format.TIER_COLORS.items()}  # by their names
COLORS = (ACCENT, GREEN, YELLOW, BLUE, PURPLE, RED)  # where no colour has a meaning of its own
_GREY = "rgba(128, 132, 150, 0.6)"  # visible in the dark and in the light

_HEIGHT = 280  # px
_ROW = 22  # px of one bar or interval
_PRESENTED = 15  # px of letters while presenting, about 12 otherwise
_DAY = 86_400_000  # ms, the unit of an axis of time
_WIDE = 1_000
_FEW_MONTHS = 12  # the axis has room for a year at least
_STAR = "path://M12 1l3.2 7.3 7.8.8-5.9 5.3 1.7 7.8L12 18.2l-6.8 4 1.7-7.8L1 9.1l7.8-.8z"
# What follows is replaced in the browser by a text of the row, as text and never as HTML.
_SAID: Option = {"formatter": "{@[2]}", "confine": True, "extraCssText": "white-space: pre-line"}
_AXES: dict[Form, Option] = {
    "count": {"minInterval": 1},
    "share": {"axisLabel": {"formatter": "{value} %"}},
    "dollars": {"axisLabel": {"formatter": "${value}"}},
    "score": {"min": 0, "max": 1, "interval": 0.25},
}
_DATES: Option = {"formatter": {"year": "{yyyy}", "month": "{MMM}", "day": "{d} {MMM}"}}


class Bar(NamedTuple):
    """A bar of a name, or of a month such as 2025-01; hovering says `text`, and `line` finds its coins."""

    name: str
    kind: str
    value: float
    coins: int
    text: str
    line: str = ""


class Class(NamedTuple):
    """A class of a histogram from `start` on; hovering says `text`, and `line` finds its coins."""

    kind: str
    start: float
    value: float
    text: str
    line: str = ""


class Dot(NamedTuple):
    """A coin at two numbers; hovering says `text`, and `line` finds it."""

    kind: str
    x: float
    y: float
    text: str
    line: str


class Interval(NamedTuple):
    """A mean with its interval, 0 to 1; the best of its measure has a star."""

    name: str
    series: str
    measure: str
    mean: float
    low: float
    high: float
    is_best: bool


@dataclass(frozen=True, slots=True)
class Figure:
    """An option of ECharts with its height in px and the rows that it shows."""

    option: Option
    height: int = _HEIGHT
    rows: list[dict[str, Any]] = field(default_factory=list)

    def line(self, series: int, place: int) -> str:
        """The line that finds the coins of a bar; "" if none does."""
        return str(self.option["series"][series]["data"][place][3])


def show(figure: Figure, *, key: str, alt: str) -> None:
    """Draw a figure as wide as its place; `alt` describes it for those who cannot see it."""
    st.echarts_chart(figure.option, key=key, alt=alt, height=figure.height)


def in_colors(kinds: Iterable[str]) -> dict[str, int]:
    """A colour for each kind, in this order; beyond the theme's six they repeat."""
    return dict(zip(kinds, itertools.cycle(COLORS), strict=False))


def bars(
    found: Sequence[Bar],
    *,
    title: str,
    colors: Mapping[str, int],
    form: Form = "count",
    stacked: bool = False,
) -> Figure:
    """Horizontal bars, the names from the top in their order.

    The kinds of a name lie below each other, or end to end if `stacked`.
    """
    names = list(dict.fromkeys(bar.name for bar in found))
    series = [
        (color, _bars(kind, stacked=stacked) | {
            "data": [
                [_amount(bar.value, form), names.index(bar.name), shortened(bar.text, 120), bar.line]
                for bar in found if bar.kind == kind
            ],
            "barCategoryGap": "30%",
        })
        for kind, color in colors.items()
    ]  # fmt: skip
    rows = len(names) * (1 if stacked else max(1.0, 0.75 * len(colors)))
    option = _option(
        series,
        x=_axis(title, type="value", **_AXES[form]),
        y=_names([shortened(name, 24) for name in names]),
        legend=colors,
        tooltip=_SAID,
    )
    height = round(max(130, 70 + _ROW * rows) + 32 * (len(colors) > 1))
    return Figure(option, height, [bar._asdict() for bar in found])


def months(found: Sequence[Bar], *, title: str, colors: Mapping[str, int]) -> Figure:
    """Stacked bars for each month, from the first to the last and for a year at least."""
    numbers = {bar.name: int(bar.name[:4]) * 12 + int(bar.name[5:7]) - 1 for bar in found}
    last = max(numbers.values())
    span = range(min(*numbers.values(), last - _FEW_MONTHS + 1), last + 1)
    bar_of = {(numbers[bar.name], bar.kind): bar for bar in found}
    series = [
        (color, _bars(kind, stacked=True) | {
            "data": [
                [_month(number), bar.value, shortened(bar.text, 120), bar.line]
                if (bar := bar_of.get((number, kind))) else [_month(number), 0, "", ""]
                for number in span
            ],
            "barCategoryGap": "20%",
        })
        for kind, color in colors.items()
    ]  # fmt: skip
    ends = {"min": _month(span[0]) - 16 * _DAY, "max": _month(span[-1]) + 16 * _DAY}
    option = _option(
        series,
        x=_axis("", type="time", axisLabel=_DATES, **ends),
        y=_axis(title, type="value", **_AXES["count"]),
        legend=colors,
        tooltip=_SAID,
    )
    return Figure(option, rows=[bar._asdict() for bar in found])


def classes(
    found: Sequence[Class], *, x: str, y: str, colors: Mapping[str, int], width: float, form: Form = "count"
) -> Figure:
    """A histogram with a bar for each class, `width` wide, from the first to the last."""
    number_of = {one: round(one.start / width) for one in found}
    span = range(min(number_of.values()), max(number_of.values()) + 1)
    class_of = {(number, one.kind): one for one, number in number_of.items()}
    series = [
        (color, _bars(kind) | {
            "data": [
                [
                    round((number + 0.5) * width, 6),
                    *((_amount(one.value, form), one.text, one.line)
                    if (one := class_of.get((number, kind))) else (0, "", "")),
                ]
                for number in span
            ],
            "barCategoryGap": "8%",
        })
        for kind, color in colors.items()
    ]  # fmt: skip
    ends = {"min": round(span.start * width, 6), "max": round(span.stop * width, 6)}
    option = _option(
        series,
        x=_axis(x, type="value", interval=width, splitLine={"show": False}, **ends),
        y=_axis(y, type="value", **_AXES[form]),
        legend=colors,
        tooltip=_SAID,
    )
    return Figure(option, rows=[one._asdict() for one in found])


def dots(
    found: Sequence[Dot], *, x: str, y: str, colors: Mapping[str, int], logarithmic: Sequence[bool]
) -> Figure:
    """A dot for each coin; an axis that is `logarithmic` has room for what is above 0 alone."""
    series = [
        (color, {
            "type": "scatter", "name": kind, "symbolSize": 7, "selectedMode": "single",
            "itemStyle": {"opacity": 0.7},
            "data": [[dot.x, dot.y, dot.text, dot.line] for dot in found if dot.kind == kind],
        })
        for kind, color in colors.items()
    ]  # fmt: skip
    axes = [
        _axis(title, type="log" if is_log else "value", scale=True, axisLabel={"hideOverlap": True})
        for title, is_log in zip((x, y), logarithmic, strict=True)
    ]
    option = _option(series, x=axes[0], y=axes[1], legend=colors, tooltip=_SAID)
    return Figure(option, 340, [dot._asdict() for dot in found])


def days(
    found: Iterable[tuple[int, str, float]],
    *,
    title: str,
    colors: Mapping[str, int],
    form: Form = "count",
    least: int = 14,
) -> Figure:
    """Stacked bars of (day, kind, value) in the order of `colors`, for `least` days at least.

    Days are numbered since 1970, in UTC.
    """
    value_of = {(day, kind): value for day, kind, value in found}
    span = _span({day for day, _ in value_of}, least=least)
    kinds = {kind for _, kind in value_of}
    drawn = {kind: color for kind, color in colors.items() if kind in kinds}
    series = [
        (color, _bars(kind, stacked=True) | {
            "data": [[day * _DAY, value_of.get((day, kind), 0)] for day in span],
            "barCategoryGap": "25%",
        })
        for kind, color in drawn.items()
    ]  # fmt: skip
    option = _option(
        series,
        x=_days(span),
        y=_axis(title, type="value", **_AXES[form]),
        legend=drawn,
        tooltip={
            "trigger": "axis",
            "valueFormatter": "$%,.4f" if form == "dollars" else "%,d",
            "confine": True,
        },
    )
    return Figure(option)


def shares(found: Sequence[tuple[int, float, str]], *, title: str, over: Iterable[int] = ()) -> Figure:
    """A line of (day since 1970, share from 0 to 1, text on hovering); `over`: days that the axis spans."""
    line = {
        "type": "line",
        "name": title,
        "symbol": "circle",
        "symbolSize": 7,
        "data": [
            [day * _DAY, _amount(share, "share"), f"{_date(day)}\n{text}"] for day, share, text in found
        ],
    }
    option = _option(
        [(ACCENT, line)],
        x=_days(_span({*over, *(day for day, _, _ in found)})),
        y=_axis(title, type="value", min=0, max=100, interval=25, **_AXES["share"]),
        tooltip=_SAID | {"trigger": "axis"},
    )
    return Figure(option)


def intervals(found: Sequence[Interval], *, colors: Mapping[str, int]) -> Figure:
    """Means with their intervals: a panel for each measure, a row for each name.

    The series of a name stand close together.
    """
    names = list(dict.fromkeys(one.name for one in found))
    measures = list(dict.fromkeys(one.measure for one in found))
    step = 0.7 / len(colors)
    series = []
    for panel, measure in enumerate(measures):
        for place, (kind, color) in enumerate(colors.items()):
            part = [one for one in found if (one.measure, one.series) == (measure, kind)]
            height = {one: names.index(one.name) + (place - (len(colors) - 1) / 2) * step for one in part}
            ends = [[[one.low, height[one]], [one.high, height[one]], [None, None]] for one in part]
            shared = {"name": kind, "xAxisIndex": panel, "yAxisIndex": 2 * panel + 1}
            lines = {"type": "line", "symbol": "none", "silent": True, "data": list(itertools.chain(*ends))}
            marks = {
                "type": "scatter", "tooltip": _SAID,
                "data": [
                    {
                        "value": [one.mean, height[one], _interval(one)],
                        **({"symbol": _STAR, "symbolSize": 15} if one.is_best else {"symbolSize": 8}),
                    }
                    for one in part
                ],
            }  # fmt: skip
            series += [(color, shared | lines), (color, shared | marks)]
    width = 80 / len(measures)  # % of the whole, beside the names
    grids = [
        {"left": f"{18 + panel * width}%", "width": f"{width - 4}%", "top": 36, "bottom": 44}
        for panel, _ in enumerate(measures)
    ]
    rows = {"min": -0.5, "max": len(names) - 0.5, "inverse": True, "show": False}
    y = [
        (
            _names([shortened(name, 24) for name in names]) | {"gridIndex": panel, "show": panel == 0},
            _axis("", type="value", gridIndex=panel, **rows),
        )
        for panel, _ in enumerate(measures)
    ]
    option = _option(
        series,
        x=[
            _axis(measure, type="value", gridIndex=panel, axisLine={"onZero": False}, **_AXES["score"])
            for panel, measure in enumerate(measures)
        ],
        y=list(itertools.chain(*y)),
        legend=colors,
        tooltip={"confine": True},
    )
    return Figure(option | {"grid": grids}, 90 + _ROW * len(names) * len(colors))


def values(numbers: Iterable[float]) -> Figure:
    """A vector's numbers as bars around 0, in their order."""
    series = _bars("Value") | {"data": [round(float(number), 4) for number in numbers], "barCategoryGap": 0}
    x = _axis("", type="category", data=list(range(len(series["data"]))))
    y = _axis("Value", type="value", splitNumber=4)
    return Figure(_option([(ACCENT, series)], x=x, y=y, tooltip={"confine": True}), 160)


def is_wide(numbers: Sequence[float]) -> bool:
    """Whether none is below 0 and the largest so far above the smallest that an axis is logarithmic."""
    return min(numbers) >= 0 and max(numbers) >= _WIDE * min((one for one in numbers if one > 0), default=inf)


def _option(
    series: Iterable[tuple[int, Option]],
    *,
    x: Option | list[Option],
    y: Option | list[Option],
    tooltip: Option,
    legend: Iterable[str] = (),
) -> Option:
    kinds = [shortened(kind, 80) for kind in legend]
    has_legend = len(kinds) > 1
    return {
        "animation": False,
        "useUTC": True,
        "grid": {"left": 8, "right": 16, "top": 36 if has_legend else 12, "bottom": 8},
        "legend": {
            "show": has_legend, "data": kinds, "type": "scroll",
            "left": 0, "top": 0, "right": 60, "itemWidth": 12, "itemHeight": 12, "textStyle": _letters(),
        },
        "tooltip": tooltip | {"textStyle": _letters()},
        "xAxis": x,
        "yAxis": y,
        "series": list(_colored(series)),
    }  # fmt: skip


def _colored(series: Iterable[tuple[int, Option]]) -> Iterator[Option]:
    """The series in the theme's colours, which the browser alone knows, also when the theme is switched.

    ECharts gives them out in their order to the names of series; series without data take those between.
    """
    named = set[str]()
    taken = 0
    for color, one in series:
        if color == QUIET:
            yield one | {"itemStyle": {"color": _GREY}, "lineStyle": {"color": _GREY}}
            continue
        while one["name"] not in named and taken % len(COLORS) != color:
            yield {"type": "line", "name": f"\0{taken}", "data": []}
            taken += 1
        taken += one["name"] not in named
        named.add(one["name"])
        yield one


def _bars(kind: str, *, stacked: bool = False) -> Option:
    return {
        "type": "bar",
        "name": shortened(kind, 80),
        "barGap": "0%",
        "selectedMode": "single",
        **({"stack": "all"} if stacked else {}),
    }


def _axis(title: str, **more: Any) -> Option:
    label = _letters() | more.pop("axisLabel", {})
    named = {"name": title, "nameLocation": "middle", "nameTextStyle": _letters()}
    return named | {"axisLabel": label} | more


def _names(names: Sequence[str]) -> Option:
    """A row for each name, from the top."""
    return _axis(
        "",
        type="category",
        data=list(names),
        inverse=True,
        axisLabel={"interval": 0},
        axisTick={"show": False},
    )


def _days(span: range) -> Option:
    """From half a day before the first to half a day after the last."""
    ends = {"min": (span[0] - 0.5) * _DAY, "max": (span[-1] + 0.5) * _DAY}
    return _axis("", type="time", splitNumber=5, axisLabel=_DATES, **ends)


def _span(days: set[int], *, least: int = 14) -> range:
    last = max(days)
    return range(min(min(days), last - least + 1), last + 1)


def _month(number: int) -> int:
    """The first moment of a month, counted from the year 0, in ms since 1970."""
    return timegm(datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC).timetuple()) * 1000


def _date(day: int) -> str:
    return datetime.fromtimestamp(day * 86_400, UTC).strftime("%a %-d %b %Y")


def _amount(value: float, form: Form) -> float:
    """A value as its axis says it; shares are drawn in percent."""
    return round(100 * value, 4) if form == "share" else value


def _interval(one: Interval) -> str:
    return f"{one.mean:.2f} ({one.low:.2f} to {one.high:.2f})\n{shortened(one.name)}, {one.series}"


def _letters() -> Option:
    """The size of letters, which ECharts has in pixels: as much larger for a presenter as the page's."""
    return {"fontSize": _PRESENTED} if presenter.is_on() else {}


def shortened(text: str, limit: int = 40) -> str:
    """A text on one line, of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"

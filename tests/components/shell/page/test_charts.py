"""Figures show the numbers of their data frames, in colours that the theme controls."""

import re
from datetime import datetime
from typing import Any

import pandas as pd
import pytest

from components.shell.page import charts

DAY = 20_000  # 2024-10-04


def test_daily_bars_are_stacked_by_kind() -> None:
    frame = pd.DataFrame(
        [(DAY, "Approved", 3), (DAY, "Rejected", 1), (DAY + 2, "Approved", 5)],
        columns=["day", "kind", "value"],
    )
    figure = charts.days(frame, title="Decisions", colors={"Rejected": charts.RED, "Approved": charts.GREEN})
    assert {bar.name: list(bar.y) for bar in figure.data} == {"Rejected": [1], "Approved": [3, 5]}
    assert [str(day)[:10] for day in figure.data[1].x] == ["2024-10-04", "2024-10-06"]
    assert figure.layout.barmode == "stack"
    assert figure.layout.yaxis.title.text == "Decisions"


def test_a_single_day_is_drawn_on_an_axis_of_days() -> None:
    frame = pd.DataFrame([(DAY, "Approved", 3)], columns=["day", "kind", "value"])
    first, last = charts.days(frame, title="Decisions", colors={"Approved": charts.GREEN}).layout.xaxis.range
    assert (as_date(last) - as_date(first)).days == 14


@pytest.mark.parametrize(("highest", "ticks"), [(3, 1), (3_000, None)])
def test_count_axes_start_at_zero_with_whole_number_ticks(highest: int, ticks: int | None) -> None:
    figure = charts.ranked(pd.DataFrame([("dog", highest)], columns=["name", "count"]), title="Coins")
    assert figure.layout.xaxis.rangemode == "tozero"
    assert figure.layout.xaxis.dtick == ticks
    assert figure.layout.xaxis.tickformat == ",d"


def test_intervals_span_low_to_high_in_one_panel_per_measure() -> None:
    frame = pd.DataFrame(
        [
            ("Default", "raw", "Recall@10", 0.5, 0.4, 0.7, True),
            ("Looks", "raw", "Recall@10", 0.2, 0.2, 0.2, False),
            ("Default", "raw", "nDCG@10", 0.6, 0.5, 0.7, True),
            ("Looks", "raw", "nDCG@10", 0.3, 0.1, 0.4, False),
        ],
        columns=["name", "series", "measure", "mean", "low", "high", "best"],
    )
    recall, ndcg = charts.intervals(frame, colors={"raw": charts.ACCENT}).data
    assert (list(recall.x), list(ndcg.x)) == ([0.5, 0.2], [0.6, 0.3])
    assert list(recall.marker.symbol) == ["star", "circle"]
    assert list(recall.error_x.arrayminus) == pytest.approx([0.1, 0])
    assert list(recall.error_x.array) == pytest.approx([0.2, 0])
    assert (recall.xaxis, ndcg.xaxis) == ("x", "x2")
    assert recall.showlegend != ndcg.showlegend, "each series is named once"


def test_each_histogram_bin_extends_to_the_next_and_the_last_one_ends() -> None:
    frame = pd.DataFrame([("Entity", 0, 3), ("Entity", 20, 1)], columns=["kind", "start", "value"])
    figure = charts.classes(frame, x="Characters", y="Captions", colors={"Entity": charts.ACCENT}, width=20)
    (line,) = figure.data
    assert (list(line.x), list(line.y), line.line.shape) == ([0, 20, 40], [3, 1, 0], "hv")
    assert [list(span) for span in line.customdata] == [[0, 19], [20, 39]]


def test_untrusted_text_is_escaped_in_charts() -> None:
    evil = '<a href="http://x.test">free coins</a>'
    figure = charts.ranked(pd.DataFrame([(evil, 1)], columns=["name", "count"]), title="Coins")
    assert "<a" not in figure.layout.yaxis.ticktext[0]
    assert "&lt;a" in figure.layout.yaxis.ticktext[0]


def test_figures_use_only_colours_that_the_theme_replaces() -> None:
    days = pd.DataFrame([(DAY, "a", 1.5), (DAY, "b", 2.5)], columns=["day", "kind", "value"])
    shares = pd.DataFrame([(DAY, 0.5, "1 of 2")], columns=["day", "share", "text"])
    classes = pd.DataFrame([("a", 0, 3), ("b", 20, 1)], columns=["kind", "start", "value"])
    colors = {"a": charts.ACCENT, "b": charts.QUIET}
    for figure in (
        charts.days(days, title="US dollars", colors=colors, money=True),
        charts.shares(shares, title="Approved", hover="approved"),
        charts.classes(classes, x="Characters", y="Captions", colors=colors, width=20),
        charts.values([0.5, -0.5]),
    ):
        assert figure.layout.template == charts_template(), "its colours are placeholders too"
        own = figure.to_plotly_json() | {"layout": {**figure.to_plotly_json()["layout"], "template": None}}
        assert set(re.findall(r"#[0-9a-fA-F]{6}", str(own))) <= {charts.ACCENT, charts.QUIET}


def charts_template() -> Any:
    import plotly.io

    return plotly.io.templates["streamlit"]


def as_date(value: Any) -> datetime:
    return pd.Timestamp(value).to_pydatetime()

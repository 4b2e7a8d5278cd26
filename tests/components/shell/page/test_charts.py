"""Figures show the numbers of their rows, in colours that the theme controls."""

import re
from typing import Any

import pytest

from components.shell.page import charts
from components.shell.page.charts import Bar, Class, Interval

DAY = 20_000  # 2024-10-04
DAY_MS = 86_400_000


def drawn(figure: charts.Figure) -> list[dict[str, Any]]:
    """The series that have something to draw, in their order."""
    return [one for one in figure.option["series"] if one["data"]]


def test_daily_bars_are_stacked_by_kind() -> None:
    found = [(DAY, "Approved", 3), (DAY, "Rejected", 1), (DAY + 2, "Approved", 5)]
    figure = charts.days(found, title="Decisions", colors={"Rejected": charts.RED, "Approved": charts.GREEN})
    rejected, approved = drawn(figure)
    assert (rejected["name"], approved["name"]) == ("Rejected", "Approved")
    assert rejected["stack"] == approved["stack"]
    assert [at for at in approved["data"] if at[1]] == [[DAY * DAY_MS, 3], [(DAY + 2) * DAY_MS, 5]]
    assert figure.option["yAxis"]["name"] == "Decisions"


def test_a_single_day_is_drawn_on_an_axis_of_days() -> None:
    axis = charts.days([(DAY, "Approved", 3)], title="Decisions", colors={"Approved": 1}).option["xAxis"]
    assert axis["max"] - axis["min"] == 14 * DAY_MS


def test_months_without_coins_have_their_place() -> None:
    found = [
        Bar("2025-01", "Library", 2, 2, "2 coins", "made:2025-01"),
        Bar("2025-03", "Library", 1, 1, "1 coin"),
    ]
    figure = charts.months(found, title="Coins", colors={"Library": charts.GREEN})
    (bars,) = drawn(figure)
    assert [value for _, value, _, _ in bars["data"]] == [0] * 9 + [2, 0, 1]
    assert bars["data"][9][0] == 1_735_689_600_000, "2025-01-01"
    assert figure.line(figure.option["series"].index(bars), 9) == "made:2025-01"


def test_count_axes_have_no_ticks_between_whole_numbers() -> None:
    axis = charts.bars([Bar("dog", "", 3, 3, "3 dog")], title="Coins", colors={"": 0}).option["xAxis"]
    assert (axis["type"], axis["minInterval"]) == ("value", 1)


def test_intervals_span_low_to_high_in_one_panel_per_measure() -> None:
    found = [
        Interval("Default", "raw", "Recall@10", 0.5, 0.4, 0.7, is_best=True),
        Interval("Looks", "raw", "Recall@10", 0.2, 0.2, 0.2, is_best=False),
        Interval("Default", "raw", "nDCG@10", 0.6, 0.5, 0.7, is_best=True),
        Interval("Looks", "raw", "nDCG@10", 0.3, 0.1, 0.4, is_best=False),
    ]
    lines, marks, _, ndcg = drawn(charts.intervals(found, colors={"raw": charts.ACCENT}))
    assert lines["data"] == [
        [0.4, 0], [0.7, 0], [None, None],
        [0.2, 1], [0.2, 1], [None, None],
    ]  # fmt: skip
    assert [mark["value"][0] for mark in marks["data"]] == [0.5, 0.2]
    assert ["symbol" in mark for mark in marks["data"]] == [True, False], "a star for the best"
    assert (marks["xAxisIndex"], ndcg["xAxisIndex"]) == (0, 1)
    assert {one["name"] for one in (lines, marks, ndcg)} == {"raw"}, "one name in the legend, one colour"


def test_each_class_of_a_histogram_is_drawn_between_its_ends() -> None:
    found = [Class("Entity", 0, 3, "3 captions", "a"), Class("Entity", 40, 1, "1 caption", "b")]
    figure = charts.classes(found, x="Characters", y="Captions", colors={"Entity": charts.ACCENT}, width=20)
    (bars,) = drawn(figure)
    assert [(at, value) for at, value, _, _ in bars["data"]] == [(10, 3), (30, 0), (50, 1)]
    assert (figure.option["xAxis"]["min"], figure.option["xAxis"]["max"]) == (0, 60)
    assert [figure.line(0, place) for place in range(3)] == ["a", "", "b"]


def test_shares_are_drawn_in_percent() -> None:
    figure = charts.shares([(DAY, 0.5, "1 of 2")], title="Approved")
    assert drawn(figure)[0]["data"] == [[DAY * DAY_MS, 50, "Fri 4 Oct 2024\n1 of 2"]]
    assert figure.option["yAxis"]["axisLabel"]["formatter"] == "{value} %"


def test_text_of_the_library_is_never_part_of_a_template_which_is_html() -> None:
    evil = '<img src=x onerror="alert(1)">{c}'
    bar = Bar(evil, evil, 1, 1, evil, evil)
    for figure in (
        charts.bars([bar], title="Coins", colors={evil: 0}),
        charts.days([(DAY, evil, 1)], title="Coins", colors={evil: 0}),
        charts.intervals([Interval(evil, evil, evil, 0.5, 0.4, 0.6, is_best=True)], colors={evil: 0}),
    ):
        assert evil in str(figure.option)
        assert evil not in str(templates(figure.option))


def templates(value: Any) -> list[Any]:
    """Every value that ECharts or Streamlit may read as a template."""
    if isinstance(value, list):
        return [found for one in value for found in templates(one)]
    if not isinstance(value, dict):
        return []
    own = [
        one for key, one in value.items() if key in ("formatter", "valueFormatter", "extraCssText", "rich")
    ]
    return own + [found for one in value.values() for found in templates(one)]


@pytest.mark.parametrize("color", charts.COLORS)
def test_a_series_has_the_theme_colour_of_its_place_among_the_named_series(color: int) -> None:
    figure = charts.bars(
        [Bar("dog", "quiet", 1, 1, ""), Bar("dog", "first", 1, 1, ""), Bar("dog", "second", 1, 1, "")],
        title="Coins", colors={"quiet": charts.QUIET, "first": color, "second": charts.GREEN},
    )  # fmt: skip
    palette = [one["name"] for one in figure.option["series"] if "itemStyle" not in one]
    assert len(palette) == len(set(palette)), "ECharts takes the next colour for each new name"
    assert palette.index("first") % len(charts.COLORS) == color
    assert palette.index("second") % len(charts.COLORS) == charts.GREEN
    assert figure.option["legend"]["data"] == ["quiet", "first", "second"]


def test_figures_name_no_colour_that_the_theme_does_not_replace_but_grey() -> None:
    colors = {"a": charts.ACCENT, "b": charts.QUIET}
    for figure in (
        charts.days([(DAY, "a", 1.5), (DAY, "b", 2.5)], title="US dollars", colors=colors, form="dollars"),
        charts.shares([(DAY, 0.5, "1 of 2")], title="Approved"),
        charts.classes([Class("a", 0, 3, ""), Class("b", 20, 1, "")], x="", y="", colors=colors, width=20),
        charts.values([0.5, -0.5]),
    ):
        assert set(re.findall(r"#[0-9a-fA-F]{3,6}|rgba?\([^)]*\)", str(figure.option))) <= {
            "rgba(128, 132, 150, 0.6)"
        }

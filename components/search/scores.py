"""The results of an evaluation, as a chart with intervals and as a table."""

from math import isclose
from typing import TYPE_CHECKING

import streamlit as st

from components.grid.results import preset_label
from components.shell import charts, tables
from store.evaluation.evaluation import Evaluation, Figure

if TYPE_CHECKING:
    import pandas as pd

_COLORS = {"raw + words": charts.ACCENT, "raw": charts.QUIET, "calibrated": charts.YELLOW}


def show(one: Evaluation, *, k: int) -> None:
    """Recall and nDCG of each setting with their intervals; below, all figures."""
    figure = charts.intervals(by_setting(one, k=k), colors=_COLORS)
    charts.show(
        figure, key=f"scores-{one.model}", alt=f"Recall@{k} and nDCG@{k} of each setting with 95 % intervals"
    )
    with st.expander("All figures", icon=":material/table:"):
        tables.show(
            figures(one, k=k),
            alt=f"Recall@{k}, MRR and nDCG@{k} of each setting with 95 % intervals",
            columns={name: st.column_config.NumberColumn(format="%.2f") for name in measures(k)},
        )


def measures(k: int) -> tuple[str, str, str]:
    """The measures by their names, as `Scores` orders them."""
    return f"Recall@{k}", "MRR", f"nDCG@{k}"


def by_setting(one: Evaluation, *, k: int) -> "pd.DataFrame":
    """Recall and nDCG of each setting: columns name, series, measure, mean, low, high."""
    import pandas as pd

    recall, _, ndcg = measures(k)
    rows = []
    for row in one.rows:
        scores = one.scores(row, k=k)
        for measure, figure in ((recall, scores.recall), (ndcg, scores.ndcg)):
            rows.append((preset_label(row.preset), row.scale, measure, figure.mean, figure.low, figure.high))
    return pd.DataFrame(rows, columns=["name", "series", "measure", "mean", "low", "high"])


def figures(one: Evaluation, *, k: int) -> "pd.DataFrame":
    """A row for each setting: its measures as numbers, each with its 95 % interval as text."""
    import pandas as pd

    rows = []
    for row in one.rows:
        scores = one.scores(row, k=k)
        cells: dict[str, object] = {"Weights": preset_label(row.preset), "Scale": row.scale}
        for name, figure in zip(measures(k), (scores.recall, scores.mrr, scores.ndcg), strict=True):
            cells |= {name: figure.mean, f"{name}, 95 %": _interval(figure)}
        rows.append(cells)
    return pd.DataFrame(rows)


def _interval(figure: Figure) -> str:
    """The interval as text; "" for a single query, where it means nothing."""
    return "" if isclose(figure.low, figure.high) else f"{figure.low:.2f} to {figure.high:.2f}"

"""The results of an evaluation, as a chart with intervals and as a table."""

from collections.abc import Callable, Sequence
from math import isclose
from typing import TYPE_CHECKING

import streamlit as st

from components.shell.page import charts, tables
from store.evaluation import evaluation

if TYPE_CHECKING:
    import pandas as pd

_COLORS = {"raw + words": charts.ACCENT, "raw": charts.QUIET, "calibrated": charts.YELLOW}
_RANKS = {  # from, to; rank 0: none was found
    "1st": (1, 1), "2nd or 3rd": (2, 3), "4th to 10th": (4, 10), "11th to 50th": (11, 50),
    "51st to 200th": (51, evaluation.DEPTH), "not found": (0, 0),
}  # fmt: skip


def show(one: evaluation.Evaluation, *, k: int, more: Sequence[Callable[[], object]] = ()) -> None:
    """The best setting, all with their intervals, the first ranks of the best, and all figures.

    `more` draw further charts next to these.
    """
    winner = best(one, k=k)
    scores = one.scores(winner, k=k)
    st.markdown(f":material/star: **Best by nDCG@{k}: {winner.title}**")
    with st.grid(3, min_column_width=140):
        for name, figure in zip(measures(k), (scores.recall, scores.mrr, scores.ndcg), strict=True):
            st.metric(name, f"{figure.mean:.2f}", border=True, help=_interval(figure) or None)
    grid = st.grid(2 + len(more), min_column_width=400, gap=("medium", "large"))
    with grid.cell():
        st.caption("All settings with 95 % intervals; a star marks the best of each measure")
        charts.show(
            charts.intervals(by_setting(one, k=k), colors=_COLORS), key=f"scores-{one.model}",
            alt=f"Recall@{k} and nDCG@{k} of each setting with 95 % intervals",
        )  # fmt: skip
    with grid.cell():
        st.caption(f"Rank of the first relevant coin ({winner.title})")
        charts.show(
            charts.ranked(first_ranks(winner), title="Queries"), key=f"first-ranks-{one.model}",
            alt="How many queries find their first relevant coin at which rank",
        )  # fmt: skip
    for draw in more:
        with grid.cell():
            draw()
    with st.expander("All figures", icon=":material/table:"):
        tables.show(
            figures(one, k=k),
            alt=f"Recall@{k}, MRR and nDCG@{k} of each setting with 95 % intervals",
            columns={name: st.column_config.NumberColumn(format="%.2f") for name in measures(k)},
        )


def best(one: evaluation.Evaluation, *, k: int) -> evaluation.PresetResult:
    """The setting with the highest mean nDCG@k; of equals the first."""
    return max(one.rows, key=lambda row: one.scores(row, k=k).ndcg.mean)


def first_ranks(row: evaluation.PresetResult) -> "pd.DataFrame":
    """How many queries find their first relevant coin in each range of ranks: columns name and count."""
    import pandas as pd

    firsts = [places[0] if places else 0 for places in row.places]
    counts = [sum(low <= first <= high for first in firsts) for low, high in _RANKS.values()]
    return pd.DataFrame({"name": list(_RANKS), "count": counts})


def measures(k: int) -> tuple[str, str, str]:
    """The measures by their names, in the order of `EvaluationScores`."""
    return f"Recall@{k}", "MRR", f"nDCG@{k}"


def by_setting(one: evaluation.Evaluation, *, k: int) -> "pd.DataFrame":
    """Recall and nDCG of each setting: columns name, series, measure, mean, low, high and best."""
    import pandas as pd

    recall, _, ndcg = measures(k)
    rows = []
    for row in one.rows:
        scores = one.scores(row, k=k)
        for measure, figure in ((recall, scores.recall), (ndcg, scores.ndcg)):
            rows.append((row.preset, row.scale, measure, figure.mean, figure.low, figure.high))
    frame = pd.DataFrame(rows, columns=["name", "series", "measure", "mean", "low", "high"])
    return frame.assign(best=frame["mean"] == frame.groupby("measure")["mean"].transform("max"))


def figures(one: evaluation.Evaluation, *, k: int) -> "pd.DataFrame":
    """A row for each setting, the best first: its measures, each with its 95 % interval as text."""
    import pandas as pd

    rows = []
    for row in sorted(one.rows, key=lambda row: -one.scores(row, k=k).ndcg.mean):
        scores = one.scores(row, k=k)
        cells: dict[str, object] = {"Weights": row.preset, "Scale": row.scale}
        for name, figure in zip(measures(k), (scores.recall, scores.mrr, scores.ndcg), strict=True):
            cells |= {name: figure.mean, f"{name}, 95 %": _interval(figure)}
        rows.append(cells)
    return pd.DataFrame(rows)


def _interval(figure: evaluation.Figure) -> str:
    """The interval as text; "" for a single query, where it means nothing."""
    return "" if isclose(figure.low, figure.high) else f"{figure.low:.2f} to {figure.high:.2f}"

"""The results of an evaluation, as a chart with intervals and as a table."""

from collections.abc import Callable, Sequence
from math import isclose

import streamlit as st

from components.shell.page import charts, tables
from store.evaluation import evaluation

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
            charts.bars(first_ranks(winner), title="Queries", colors={"": charts.ACCENT}),
            key=f"first-ranks-{one.model}",
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


def first_ranks(row: evaluation.PresetResult) -> list[charts.Bar]:
    """How many queries find their first relevant coin in each range of ranks."""
    firsts = [places[0] if places else 0 for places in row.places]
    bars = []
    for name, (low, high) in _RANKS.items():
        count = sum(low <= first <= high for first in firsts)
        bars.append(charts.Bar(name, "", count, 0, f"{count:,} {name}"))
    return bars


def measures(k: int) -> tuple[str, str, str]:
    """The measures by their names, in the order of `EvaluationScores`."""
    return f"Recall@{k}", "MRR", f"nDCG@{k}"


def by_setting(one: evaluation.Evaluation, *, k: int) -> list[charts.Interval]:
    """Recall and nDCG of each setting, the best of each measure marked."""
    recall, _, ndcg = measures(k)
    scores = [(row, one.scores(row, k=k)) for row in one.rows]
    of = {
        recall: [(row, figures.recall) for row, figures in scores],
        ndcg: [(row, figures.ndcg) for row, figures in scores],
    }
    highest = {measure: max(figure.mean for _, figure in found) for measure, found in of.items()}
    return [
        charts.Interval(
            row.preset, row.scale, measure, figure.mean, figure.low, figure.high,
            is_best=figure.mean == highest[measure],
        )
        for measure, found in of.items()
        for row, figure in found
    ]  # fmt: skip


def figures(one: evaluation.Evaluation, *, k: int) -> list[dict[str, object]]:
    """A row for each setting, the best first: its measures, each with its 95 % interval as text."""
    rows = []
    for row in sorted(one.rows, key=lambda row: -one.scores(row, k=k).ndcg.mean):
        scores = one.scores(row, k=k)
        cells: dict[str, object] = {"Weights": row.preset, "Scale": row.scale}
        for name, figure in zip(measures(k), (scores.recall, scores.mrr, scores.ndcg), strict=True):
            cells |= {name: figure.mean, f"{name}, 95 %": _interval(figure)}
        rows.append(cells)
    return rows


def _interval(figure: evaluation.Figure) -> str:
    """The interval as text; "" for a single query, where it means nothing."""
    return "" if isclose(figure.low, figure.high) else f"{figure.low:.2f} to {figure.high:.2f}"

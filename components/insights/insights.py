"""The page Insights: its sets and its views; the figures next to an evaluation."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from components.insights import coin_sets, content, figures, reviewing, spread
from components.search import scores
from components.shell.page import charts, places
from store import Filter, Library
from store.evaluation import evaluation

_WEAKEST = 15  # tags that are drawn


def show(library: Library, view: str) -> None:
    """The figures of this view alone, so that nothing is counted that is not looked at."""
    if not sum(library.counts().values()):
        st.info("There are no coins yet. Figures appear with the first.", icon=":material/insights:")
        st.page_link(**places.IMPORT, label="Import coins", icon=":material/download:")
        return
    sets = coin_sets.choose(library)
    if not sets:
        return
    st.caption("Click a bar to see its coins.")
    if view == "Reviewing":
        reviewing.show(library, sets)
    else:
        content.show(library, sets)


def of_quality(library: Library, one: evaluation.Evaluation, k: int) -> tuple[Callable[[], None], ...]:
    """What draws the weakest tags of an evaluation, and how the gains of its queries spread."""
    best, answers = scores.best(one, k=k), evaluation.answers_of(library, one)
    weak = partial(_weak, evaluation.by_tag(library, one, best))
    return weak, partial(spread.query_gains, library, one.gains(best, k=k), answers, k=k)


def _weak(weakest: list[evaluation.TagScore]) -> None:
    found = weakest[:_WEAKEST]
    if not found:
        st.caption(f"No tag has {evaluation.FEWEST} golden queries or more.")
        return
    bars = by_tag(found)
    figure = charts.bars(bars, title=f"nDCG@{evaluation.TOP}", colors={"": charts.ACCENT}, form="score")
    rows = [
        {"tag": one.tag, "ndcg": one.ndcg.mean, "low": one.ndcg.low, "high": one.ndcg.high,
         "queries": one.queries, "line": bar.line}
        for one, bar in zip(found, bars, strict=True)
    ]  # fmt: skip
    figures.show(
        replace(figure, rows=rows),
        title="Weakest tags", key="insights-weak",
        alt="nDCG of the queries whose relevant coins have a tag, the worst tags first",
        about=f"Tags of at least {evaluation.FEWEST} golden queries, by the mean nDCG@{evaluation.TOP} of "
        "these queries with the best setting; hovering says the 95 % interval.",
    )  # fmt: skip


def by_tag(found: Sequence[evaluation.TagScore]) -> list[charts.Bar]:
    """The tags with the line of their library coins; `coins` is the number of queries."""
    bars = []
    for one in found:
        text = (
            f"{one.tag}: {one.ndcg.mean:.2f} ({one.ndcg.low:.2f} to {one.ndcg.high:.2f}), "
            f"{one.queries} queries"
        )
        line = figures.line_of(Filter(tier="library", tags=(one.tag,)))
        bars.append(charts.Bar(one.tag, "", one.ndcg.mean, one.queries, text, line))
    return bars

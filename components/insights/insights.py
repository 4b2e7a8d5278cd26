"""The page Insights: its sets, its three views, and the figures of how well coins are found."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from components.insights import coin_sets, content, figures, reviewing, spread
from components.search import scores
from components.shell import format
from components.shell.page import charts, local_time
from store import Filter, Library
from store.evaluation import evaluation

if TYPE_CHECKING:
    import pandas as pd


_CONTENT, _REVIEWING, _QUALITY = "Content", "Reviewing", "Search quality"
_WEAKEST = 15  # tags that are drawn


def show(library: Library) -> None:
    """One view at a time, so that nothing is counted that is not looked at."""
    if not sum(library.counts().values()):
        st.info("There are no coins yet. Figures appear with the first.", icon=":material/insights:")
        st.page_link("pages/exchange.py", label="Import coins", icon=":material/download:")
        return
    view = st.segmented_control(
        "View", (_CONTENT, _REVIEWING, _QUALITY), default=_CONTENT, required=True, key="insights_view",
        bind="query-params", label_visibility="collapsed",
    )  # fmt: skip
    if view == _QUALITY:
        _quality(library)
        return
    sets = coin_sets.choose(library)
    if not sets:
        return
    st.caption("Click a bar to see its coins.")
    if view == _REVIEWING:
        reviewing.show(library, sets)
    else:
        content.show(library, sets)


def _quality(library: Library) -> None:
    """The newest evaluation of a model; the way to the first one if there is none."""
    found = evaluation.stored(library)
    if not found:
        st.info("Search quality has not been measured yet: run an evaluation.", icon=":material/fact_check:")
        st.page_link("pages/evaluation.py", label="Evaluation", icon=":material/fact_check:")
        return
    one = found[0]
    if len(found) > 1:
        chosen = st.selectbox(
            "Model", [each.model for each in found], key="insights_model", format_func=format.model, width=320
        )
        one = next(each for each in found if each.model == chosen)
    model = format.plain(format.model(one.model))
    st.caption(f"{model} · {one.queries} golden queries · {local_time.text(one.at)}")
    best, answers = scores.best(one, k=evaluation.TOP), evaluation.answers_of(library, one)
    gains = one.gains(best, k=evaluation.TOP)
    weak = partial(_weak, evaluation.by_tag(library, one, best))
    spread_of_gains = partial(spread.query_gains, library, gains, answers, k=evaluation.TOP)
    scores.show(one, k=evaluation.TOP, more=(weak, spread_of_gains))


def _weak(found: list[evaluation.TagScore]) -> None:
    frame = by_tag(found)
    if frame.empty:
        st.caption(f"No tag has {evaluation.FEWEST} golden queries or more.")
        return
    figure = figures.bars(frame, title=f"nDCG@{evaluation.TOP}", colors={"": charts.ACCENT})
    figure.update_xaxes(range=[0, 1], dtick=0.25, tickformat=".2f")
    figures.show(
        figure, frame,
        title="Weakest tags", key="insights-weak",
        alt="nDCG of the queries whose relevant coins have a tag, the worst tags first",
        about=f"Tags of at least {evaluation.FEWEST} golden queries, by the mean nDCG@{evaluation.TOP} of "
        "these queries with the best setting; hovering says the 95 % interval.",
    )  # fmt: skip


def by_tag(found: list[evaluation.TagScore]) -> "pd.DataFrame":
    """The weakest tags with the line of their library coins; `coins` is the number of queries."""
    import pandas as pd

    rows = []
    for one in found[:_WEAKEST]:
        text = (
            f"{one.tag}: {one.ndcg.mean:.2f} ({one.ndcg.low:.2f} to {one.ndcg.high:.2f}), "
            f"{one.queries} queries"
        )
        line = figures.line_of(Filter(tier="library", tags=(one.tag,)))
        rows.append((one.tag, "", one.ndcg.mean, one.ndcg.low, one.ndcg.high, one.queries, text, line))
    return pd.DataFrame(rows, columns=["name", "kind", "value", "low", "high", "queries", "text", "line"])

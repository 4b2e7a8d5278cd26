"""Golden queries and what came of asking them: a table for every model, and the calibration's figures."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from math import isclose

import streamlit as st

from components import jobs, state, wording
from store.errors import MemedexError
from store.library import Library
from store.progress import Progress
from store.records import FACETS
from store.search import evaluation
from store.search.calibration import LEAST_RECORDS
from store.search.evaluation import Evaluation, Figure
from store.search.golden import Golden

_WORDS = (
    "Recall@k: how many of the right answers are among the first k. MRR: 1 / place of the first right "
    "answer. nDCG@k: how high up they are. In brackets the 95 % interval: the queries drawn anew a thousand "
    "times (bootstrap), always the same draws, so that settings can be compared. Of a handful of queries it "
    "says little, of one nothing."
)
_TALL = 8  # rows from which a list is scrolled
_DEPTHS = (1, 3, 5, 10, 20, 50)


def show(library: Library) -> None:
    """What there is to ask, the button, the tables."""
    if library.can_write:
        library.golden.take_in_changes()
    goldens = evaluation.all_of(library)
    found = evaluation.kept(library)
    if not goldens:
        st.info(
            "There are no golden queries yet: questions with their right answers. Add one below, call "
            "results good or bad on the search page, or load the demo library, which brings sixty.",
            icon=":material/fact_check:",
        )
    else:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(
                f"**{wording.counted(len(goldens), 'golden query', 'golden queries')}**", width="content"
            )
            if library.can_write:
                st.button(
                    "Ask them all", type="primary", icon=":material/play_arrow:", on_click=_ask,
                    args=(library,), disabled=jobs.is_busy(library.jobs),
                )  # fmt: skip
            st.space("stretch")
            k = _depth() if found else evaluation.TOP
        for one in found:
            _table(one, k=k)
        if found:
            st.caption("Each model keeps what it answered last; another model is chosen under Health.")
        else:
            st.caption("Nobody has asked them yet." + ("" if library.can_write else " Only a curator can."))
    st.subheader("Golden queries", anchor=False)
    _golden(library, goldens)
    st.subheader("Calibration", anchor=False)
    _calibration(library)


def _ask(library: Library) -> None:
    who = library.who

    def work(progress: Progress) -> None:
        evaluation.keep(library, evaluation.evaluate(library, progress=progress), who=who)

    jobs.run(library.jobs, "Ask the golden queries", work)


def _depth() -> int:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        st.caption("first k results", width="content")
        return st.segmented_control(
            "First k results", _DEPTHS, default=evaluation.TOP, required=True, key="k", bind="query-params",
            label_visibility="collapsed", width="content",
        )  # fmt: skip


def _table(one: Evaluation, *, k: int) -> None:
    when = datetime.fromtimestamp(one.at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    st.markdown(f"{wording.plain(one.model)} · {one.queries} queries · {when}", help=_WORDS)
    rows = []
    for row in one.rows:
        scores = one.scores(row, k=k)
        rows.append(
            {
                "Weights": row.preset,
                "Scale": "calibrated" if row.calibrated else "raw",
                f"Recall@{k}": _told(scores.recall),
                "MRR": _told(scores.mrr),
                f"nDCG@{k}": _told(scores.ndcg),
            }
        )
    st.dataframe(rows, hide_index=True, width="stretch", height="content")
    if one.left_out:
        st.caption(f"{len(one.left_out)} left out: their answers are not in this library.")
    with st.expander("Answered worst"):
        for line, score in one.worst(k=k):
            with st.container(horizontal=True, gap="small"):
                st.caption(f"{score:.2f}", width=44)
                st.page_link("pages/search.py", label=wording.plain(line), query_params={"q": line})


def _told(figure: Figure) -> str:
    between = f"  ({figure.low:.2f} to {figure.high:.2f})" if not isclose(figure.low, figure.high) else ""
    return f"{figure.mean:.2f}{between}"


def _golden(library: Library, rows: Sequence[Golden]) -> None:
    for fault in library.golden.faults:
        st.warning(wording.plain(fault, limit=300), icon=":material/warning:")
    if rows:
        elsewhere = evaluation.elsewhere(library, rows)
        st.dataframe(
            [
                {
                    "Question": one.line,
                    "Right answers": sum(answer not in elsewhere for answer in one.answers),
                    "Not in the library": sum(answer in elsewhere for answer in one.answers),
                    "Collection": one.collection,
                }
                for one in rows
            ],
            hide_index=True, width="stretch", height="content" if len(rows) < _TALL else 300,
        )  # fmt: skip
        if elsewhere:
            places = ", ".join(f"{count:,} {tier}" for tier, count in Counter(elsewhere.values()).items())
            told = wording.counted(len(elsewhere), "right answer")
            st.caption(f"Not counted, since they are not in the library: {told} ({places}).")
        st.caption(
            "A result called good on the search page (key **g**) is a right answer of its question, one "
            "called bad (**b**) is none; what was only judged is in the collection *judged*."
        )
    if not library.can_write:
        return
    with st.form("golden", border=False, clear_on_submit=True):
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            line = st.text_input("Question", placeholder="a frog in the rain")
            answers = st.text_input(
                "Right answers", placeholder="addresses", help="Separated by spaces or commas."
            )
            sent = st.form_submit_button("Keep", icon=":material/add:")
        if sent:
            try:
                library.golden.save(line, answers.replace(",", " ").split())
                state.say("Kept", icon=":material/check:")
                st.rerun()
            except MemedexError as error:
                st.text(str(error))
    if kept := library.golden.all():
        with st.popover("Forget one", icon=":material/delete:"):
            line = st.selectbox("Question", [one.line for one in kept], key="golden_forget")
            st.button("Forget it", on_click=_forget, args=(library, line))


def _forget(library: Library, line: str) -> None:
    try:
        library.golden.forget(line)
    except MemedexError as error:
        state.say(wording.plain(str(error), limit=300), icon=":material/error:")


def _calibration(library: Library) -> None:
    held = library.calibration.in_force()
    st.caption(
        "A text lies closer to texts than to pictures, whatever they show. Calibrated, every facet's cosines "
        "are brought to one scale by fixed figures, so that equal weights have equal say."
    )
    if held is None:
        count = library.counts()["library"]
        if count < LEAST_RECORDS:
            st.caption(f"Off: it needs {LEAST_RECORDS} coins in the library, and there are {count:,}.")
            return
        st.caption("Nobody has measured this library yet.")
    else:
        when = datetime.fromtimestamp(held.made_at, UTC).strftime("%Y-%m-%d")
        st.caption(f"Version {held.version} of {when}, over {wording.counted(held.records, 'coin')}.")
        st.dataframe(
            [
                {"Question": kind, **{facet: _figures(of.get(facet)) for facet in FACETS}}
                for kind, of in held.figures.items()
            ],
            hide_index=True, width="stretch",
        )  # fmt: skip
    if library.can_write:
        st.button(
            "Measure anew" if held else "Measure", icon=":material/straighten:", on_click=_measure,
            args=(library,), disabled=jobs.is_busy(library.jobs),
        )  # fmt: skip


def _measure(library: Library) -> None:
    jobs.run(library.jobs, "Measure the calibration", lambda progress: library.calibration.measure() and None)


def _figures(figure: tuple[float, float] | None) -> str:
    return f"{figure[0]:.3f} ± {figure[1]:.3f}" if figure else "–"

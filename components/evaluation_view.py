"""Golden queries and what came of asking them: a table for every model, and the calibration's figures."""

from datetime import UTC, datetime

import streamlit as st

from components import jobs, state, wording
from store import evaluation
from store.calibration import LEAST_RECORDS
from store.errors import MemedexError
from store.evaluation import Evaluation
from store.library import Library
from store.progress import Progress
from store.records import FACETS

_WORDS = (
    "Recall@10: how many of the right answers are among the first ten. MRR: 1 / place of the first right "
    "answer. nDCG@10: how high up they are. In brackets: where the value lies with 95 % certainty."
)


def show(library: Library) -> None:
    """What there is to ask, the button, the tables."""
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
        for one in found:
            _table(one)
        if not found:
            st.caption("Nobody has asked them yet." + ("" if library.can_write else " Only a curator can."))
    st.subheader("Golden queries", anchor=False)
    _golden(library)
    st.subheader("Calibration", anchor=False)
    _calibration(library)


def _ask(library: Library) -> None:
    who = library.who

    def work(progress: Progress) -> None:
        evaluation.keep(library, evaluation.evaluate(library, progress=progress), who=who)

    jobs.run(library.jobs, "Ask the golden queries", work)


def _table(one: Evaluation) -> None:
    when = datetime.fromtimestamp(one.at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    st.markdown(f"`{wording.plain(one.model)}` · {one.queries} queries · {when}", help=_WORDS)
    rows = [
        {
            "Setting": row.preset,
            "Scale": "calibrated" if row.calibrated else "raw",
            **{
                name: f"{figure.mean:.2f}  ({figure.low:.2f} to {figure.high:.2f})"
                for name, figure in (("Recall@10", row.recall), ("MRR", row.mrr), ("nDCG@10", row.ndcg))
            },
        }
        for row in one.rows
    ]
    st.dataframe(rows, hide_index=True, width="stretch")
    if one.left_out:
        st.caption(f"{len(one.left_out)} left out: their answers are not in this library.")
    with st.expander("Answered worst"):
        for line, score in one.worst:
            with st.container(horizontal=True, gap="small"):
                st.caption(f"{score:.2f}", width=44)
                st.page_link("pages/search.py", label=wording.plain(line), query_params={"q": line})


def _golden(library: Library) -> None:
    rows = library.golden()
    if rows:
        st.dataframe(
            [
                {"Question": one.line, "Right answers": len(one.answers), "Collection": one.collection}
                for one in rows
            ],
            hide_index=True, width="stretch", height=min(300, 38 + 35 * len(rows)),
        )  # fmt: skip
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
                library.save_golden(line, answers.replace(",", " ").split())
                state.say("Kept", icon=":material/check:")
                st.rerun()
            except MemedexError as error:
                st.text(str(error))
    if rows:
        with st.popover("Forget one", icon=":material/delete:"):
            line = st.selectbox("Question", [one.line for one in rows], key="golden_forget")
            st.button("Forget it", on_click=library.forget_golden, args=(line,))


def _calibration(library: Library) -> None:
    held = library.calibration()
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
        st.button("Measure anew", icon=":material/straighten:", on_click=_measure, args=(library,))


def _measure(library: Library) -> None:
    jobs.run(library.jobs, "Measure the calibration", lambda progress: library.calibrate() and None)


def _figures(figure: tuple[float, float] | None) -> str:
    return f"{figure[0]:.3f} ± {figure[1]:.3f}" if figure else "–"

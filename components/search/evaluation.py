"""Golden queries: added, evaluated with a table for every model, and the figures of the calibration."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from html import escape

import streamlit as st

from components.search import scores
from components.search.box import EXAMPLES
from components.shell import format
from components.shell.page import forms, job_bar, local_time, tables
from components.shell.page.forms import Button
from components.shell.server import pictures
from components.shell.session import resources, safe_mode
from store import Library, MemedexError, Part, Progress, Query, Record
from store.evaluation import evaluation
from store.records import FACETS
from store.search import LEAST_RECORDS, Golden

_WORDS = (
    "Recall@k: how many of the relevant coins are among the first k. MRR: 1 / rank of the first "
    "relevant coin. nDCG@k: how high up they are. Lines show the 95 % interval: the queries resampled a "
    "thousand times (bootstrap), always the same draws, so that settings can be compared. Of a handful of "
    "queries it says little, of one nothing."
)
_TALL = 8  # rows from which a list is scrolled
_DEPTHS = (1, 3, 5, 10, 20, 50)
_OFFERED = 12  # coins for each line
_LINE, _FIND = "golden_line", "golden_find"


Further = Callable[[Library, evaluation.Evaluation, int], Sequence[Callable[[], None]]]


def show(library: Library, *, further: Further) -> None:
    """The golden queries, the button, the tables; `further` draws charts next to those of the newest."""
    if library.can_write:
        library.golden.apply_external_edits()
    goldens = evaluation.all_of(library)
    found = evaluation.stored(library)
    if not goldens:
        st.info(
            "There are no golden queries yet: queries with their relevant coins. Add one below, call "
            "results good or bad on the search page, or load the demo library, which brings sixty.",
            icon=":material/fact_check:",
        )
    else:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(
                f"**{format.counted(len(goldens), 'golden query', 'golden queries')}**", width="content"
            )
            if library.can_write:
                busy = job_bar.is_busy(library.jobs)
                job_bar.button(
                    "evaluate", library, "Run evaluation", partial(_evaluate, library),
                    button=Button("Run evaluation", icon="play_arrow", kind="primary", disabled=busy),
                )  # fmt: skip
            st.space("stretch")
            k = _depth() if found else evaluation.TOP
        for number, one in enumerate(found):
            _table(one, k=k, more=() if number else further(library, one, k))
        if found:
            st.caption("The last run of each model is shown; change the model in Settings.")
        else:
            st.caption("Not run yet." + ("" if library.can_write else " Only a curator can run it."))
    st.header("Golden queries", anchor=False)
    _golden(library, goldens)
    st.header("Calibration", anchor=False)
    _calibration(library)


def _evaluate(library: Library, progress: Progress) -> None:
    found = evaluation.evaluate(library, progress=progress)
    evaluation.store(library, found, actor=library.actor_name)


def _depth() -> int:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        st.caption("first k results", width="content")
        return st.segmented_control(
            "First k results", _DEPTHS, default=evaluation.TOP, required=True, key="k", bind="query-params",
            label_visibility="collapsed", width="content",
        )  # fmt: skip


def _table(one: evaluation.Evaluation, *, k: int, more: Sequence[Callable[[], None]]) -> None:
    when = local_time.text(one.at)
    st.markdown(f"{format.plain(format.model(one.model))} · {one.queries} queries · {when}", help=_WORDS)
    scores.show(one, k=k, more=more)
    if one.left_out:
        st.caption(f"{len(one.left_out)} left out: their relevant coins are not in this library.")
    winner = scores.best(one, k=k)
    with st.expander(f"Lowest-scoring queries ({winner.title})", expanded=True):
        for line, score in one.worst(winner, k=k):
            with st.container(horizontal=True, gap="small"):
                st.caption(f"{score:.2f}", width=44)
                st.page_link("pages/search.py", label=format.plain(line), query_params={"q": line})


def _golden(library: Library, rows: Sequence[Golden]) -> None:
    for fault in library.golden.faults:
        st.warning(format.plain(fault, limit=300), icon=":material/warning:")
    if rows:
        elsewhere = evaluation.answers_outside_library(library, rows)
        tables.show(
            [
                {
                    "Query": one.line,
                    "Relevant coins": sum(answer not in elsewhere for answer in one.answers),
                    "Not in the library": sum(answer in elsewhere for answer in one.answers),
                    "Collection": one.collection,
                }
                for one in rows
            ],
            alt="Golden queries with their relevant coins",
            height="content" if len(rows) < _TALL else 300,
        )  # fmt: skip
        if elsewhere:
            places = ", ".join(
                f"{count:,} {format.TIERS.get(tier, tier)}"
                for tier, count in Counter(elsewhere.values()).items()
            )
            coins = format.counted(len(elsewhere), "relevant coin")
            st.caption(f"Not counted, since they are not in the library: {coins} ({places}).")
        st.caption(
            "A result called **Good** on the search page is relevant to its query, one called **Bad** is "
            "not; queries judged only there are in the collection *judged*."
        )
    if not library.can_write:
        return
    with st.expander("Add a golden query", icon=":material/add:", expanded=not rows):
        _pick_golden(library)
    if kept := library.golden.all():
        with st.popover("Remove a query", icon=":material/delete:"):
            line = st.selectbox("Query", [one.line for one in kept], key="golden_forget")
            remove = partial(library.golden.delete, line)
            forms.button("golden-remove", library, remove, button=Button("Remove"), after_run=True)


def _calibration(library: Library) -> None:
    held = library.calibration.in_force()
    st.caption(
        "A text lies closer to texts than to pictures, even of the same thing. Calibrated, the "
        "cosines of all five are brought to one scale by fixed figures, so that equal weights have equal say."
    )
    if held is None:
        count = library.counts()["library"]
        if count < LEAST_RECORDS:
            st.caption(f"Off: it needs {LEAST_RECORDS} coins in the library, and there are {count:,}.")
            return
        st.caption("Not measured yet.")
    else:
        when = local_time.text(held.made_at, "%Y-%m-%d")
        st.caption(f"Version {held.version} of {when}, over {format.counted(held.records, 'coin')}.")
        tables.show(
            [
                {"Query": kind, **{facet: _figures(of.get(facet)) for facet in FACETS}}
                for kind, of in held.figures.items()
            ],
            alt="Mean and deviation of the cosines of picture and captions, for each kind of query",
        )  # fmt: skip
    if library.can_write:
        label = "Measure again" if held else "Measure"
        job_bar.button(
            "calibrate", library, "Measure the calibration", lambda _: library.calibration.measure() and None,
            button=Button(label, icon="straighten", disabled=job_bar.is_busy(library.jobs)),
        )  # fmt: skip


def _figures(figure: tuple[float, float] | None) -> str:
    return f"{figure[0]:.3f} ± {figure[1]:.3f}" if figure else "–"


def _pick_golden(library: Library) -> None:
    """The question, the coins that may answer it, and the button that adds those that are ticked."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        line = st.text_input("Query", key=_LINE, persist_state="session", placeholder=EXAMPLES[0]).strip()
        find = st.text_input(
            "Look for more coins", key=_FIND, persist_state="session", placeholder="a name, or other words"
        ).strip()
    if not line:
        st.caption("Type a query and press Enter: then choose the coins that are relevant to it.")
        return
    try:
        offered = _offered_coins(library, [text for text in (line, find) if text])
    except MemedexError as error:
        st.error("No coins can be offered:", icon=":material/error:")
        st.text(str(error))
        return
    st.caption("Which of these coins are relevant?")
    with st.grid(_OFFERED // 2, min_column_width=120, gap="small") as grid:
        for record in offered:
            with grid.cell():
                _coin(library, record, line)
    chosen = [record.address for record in offered if st.session_state.get(_key(record, line))]
    forms.button(
        "golden", library, partial(library.golden.save, line, chosen), message="Added",
        button=Button(
            f"Add with {format.counted(len(chosen), 'relevant coin')}", icon="add", kind="primary",
            disabled=not chosen, help="" if chosen else "Choose at least one relevant coin.",
        ),
    )  # fmt: skip


def _offered_coins(library: Library, lines: list[str]) -> list[Record]:
    resources.ready_to_search(library)
    found: dict[str, None] = {}
    for line in lines:
        answer = library.search(Query((Part(text=line),), top=_OFFERED, fused=True))
        found |= dict.fromkeys(hit.address for hit in answer.hits)
    return library.records(found)


def _coin(library: Library, record: Record, line: str) -> None:
    address = escape(pictures.address(library, record.image_hash))
    st.html(f'<img src="{address}" alt="" loading="lazy" style="width:100%;border-radius:0.5rem">')
    st.checkbox(format.plain(safe_mode.shown(library, record).name, limit=24), key=_key(record, line))


def _key(record: Record, line: str) -> str:
    return f"golden-{line[:60]}-{record.address}"

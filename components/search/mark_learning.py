"""Results called good or bad with `.` and `,`, and what can be learned from these marks at a click.

A question is shifted towards its good results, and weights are fitted to the marks of questions like it. Each
is offered by a button; its gain is shown, and then it is taken or dismissed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from components.grid import result_link
from components.grid.actions import BAD, GOOD, Action, Handler
from components.grid.cards import Mark
from components.search import saved
from components.shell import format
from components.shell.page import forms
from components.shell.page.forms import Button, Field
from store import Library, MemedexError, Query, QueryShift
from store.catalog import named_values
from store.evaluation import marks
from store.records import FACETS, Facet
from store.search import Question, checked_line, query_syntax

T = TypeVar("T")

_SHIFT, _FIT = "search.shift", "search.fit_weights"  # keys of the session
_MARKS: Mapping[bool, Mark] = {
    True: {"label": "good", "tone": "good"},
    False: {"label": "bad", "tone": "bad"},
}


@dataclass(frozen=True, slots=True)
class RelevanceFeedback:
    """The judgements of one query, and the actions to give them."""

    actions: list[Action]
    handlers: Mapping[str, Handler]
    marks: Mapping[str, Mark]  # by address


def judging(library: Library, question: Question) -> RelevanceFeedback:
    """Empty for a query that cannot be repeated, such as one with an uploaded picture."""
    try:
        line = checked_line(query_syntax.written(question))
    except MemedexError:
        return RelevanceFeedback([], {}, {})
    marks_by_address = library.golden.relevance_of(line)
    marks = {address: _MARKS[good] for address, good in marks_by_address.items()}

    def handler(good: bool) -> Handler:
        def handle(chosen: Sequence[str]) -> None:
            now = library.golden.relevance_of(line)
            # All of them have this mark already: the same key removes it.
            taken_back = all(now.get(address) is good for address in chosen)
            for address in chosen:
                library.golden.judge(line, address, None if taken_back else good)

        return handle

    return RelevanceFeedback([GOOD, BAD], {"good": handler(True), "bad": handler(False)}, marks)


def shift_in_force(library: Library, question: Question) -> QueryShift | None:
    """The shift of this question, if it was taken, by its marks as they are now."""
    line, judgements = marks.marks_of(library, question)
    shift = marks.shift_of(judgements)
    return shift if result_link.shifted(line if shift else "") else None


def show_shift(shift: QueryShift | None) -> None:
    """The marks that shift the question, and the button that ends it."""
    if shift is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        marks = f"{len(shift.good)} good, {len(shift.bad)} bad"
        st.caption(f":material/moving: Question shifted by its marks: {marks}", width="content")
        st.button("Stop shifting", type="tertiary", on_click=result_link.shift, args=(False,))


def offer_shift(library: Library, question: Question, query: Query) -> None:
    """Offer to shift the question, with what it gains; nothing if it is shifted, or without a good mark."""
    line, judgements = marks.marks_of(library, question)
    if query.shift is not None or marks.shift_of(judgements) is None:
        return
    if not _is_open(
        _SHIFT, about=line, label="Shift question by marks", icon=":material/moving:",
        tip="Searches nearer to the results marked good, and farther from those marked bad.",
    ):  # fmt: skip
        return
    with st.container(border=True, gap="small"):
        about = line, str(judgements), str(query.sliders), query.calibrated, query.fused, library.generation
        try:
            gain = _once(_SHIFT, about, lambda: marks.measured_shift(library, query, judgements))
        except MemedexError as error:
            _refused(_SHIFT, str(error))
            return
        if gain.no_gain:
            _refused(_SHIFT, gain.no_gain)
            return
        # Not refused in doubt, as weights are: it is about this question alone, and one click ends it.
        doubt = " The gain may be chance; more marks would tell." if gain.uncertainty else ""
        st.caption(f"On this question's {_gain_text(gain)}.{doubt}")
        with st.container(horizontal=True, gap="small"):
            st.button("Shift this question", type="primary", on_click=_shift)
            _dismiss(_SHIFT)


def _shift() -> None:
    result_link.shift(True)
    _close(_SHIFT)


def offer_weights(library: Library, query: Query, *, usual: Mapping[Facet, float]) -> None:
    """A button that fits weights to the marks, and then what was found; nothing without any mark."""
    kind = "-".join(sorted({part.kind for part in query.parts}))
    judgements, now = library.golden.judgements(), query.sliders
    if not judgements:
        return
    if not _is_open(
        _FIT, about=kind, label="Fit weights to marks", icon=":material/tune:",
        tip="Weights that put results marked good above those marked bad.",
    ):  # fmt: skip
        return
    with st.container(border=True, gap="small"):
        try:
            about = kind, str(now), query.calibrated, query.fused, str(judgements), library.generation
            fit = _once(_FIT, about, lambda: _fit(library, kind, query, usual))
        except MemedexError as error:
            _refused(_FIT, str(error))
            return
        if fit.rejection:
            _refused(_FIT, fit.rejection)
        else:
            _offer_fit(library, fit, now)


def _fit(library: Library, kind: str, query: Query, usual: Mapping[Facet, float]) -> marks.WeightFit:
    marked = marks.marked_queries(library, kind, calibrated=query.calibrated, fused=query.fused)
    return marks.fit_weights(marked, usual, now=query.sliders)


def _offer_fit(library: Library, fit: marks.WeightFit, now: Mapping[Facet, float]) -> None:
    moved = " · ".join(
        f"{facet} {now[facet]:g} → **{fit.weights[facet]:g}**"
        if abs(fit.weights[facet] - now[facet]) > 0.05
        else f"{facet} {now[facet]:g}"
        for facet in FACETS
        if fit.weights[facet] or now[facet]
    )
    st.markdown(moved)
    st.caption(f"On your {_gain_text(fit)}.")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.button("Use these weights", type="primary", on_click=_use_weights, args=(fit.weights,))
        _dismiss(_FIT)
        if library.can_write:
            forms.show(
                "save-fitted", library, partial(_save_weights, library, fit), row=True,
                fields=[Field("name", "Save as", longest=named_values.MAX_NAME)],
                button=Button("Save weights"),
            )  # fmt: skip


def _use_weights(weights: Mapping[Facet, float]) -> None:
    saved.use_weights(weights)
    _close(_FIT)


def _save_weights(library: Library, fit: marks.WeightFit, given: Mapping[str, Any]) -> str:
    return saved.keep(library.presets, dict(fit.weights), given)


def _is_open(key: str, *, about: str, label: str, icon: str, tip: str) -> bool:
    """Whether the person asked to learn about this; the button to ask, if not."""
    if st.session_state.get(key) == about:
        return True
    st.button(label, icon=icon, type="tertiary", help=tip, on_click=_ask, args=(key, about))
    return False


def _once(key: str, about: object, compute: Callable[[], T]) -> T:
    """What the last run of this session found if it was about the same: it takes a second."""
    before, known = st.session_state.get(f"{key}.found", (None, None))
    if before == about:
        return known  # type: ignore[no-any-return]  # only this function writes there
    with st.spinner("Learning from marks …"):
        found = compute()
    st.session_state[f"{key}.found"] = about, found
    return found


def _gain_text(gain: marks.Gain) -> str:
    """The gain in one sentence without its end: "34 marks: nDCG 0.77 → 0.83 …"."""
    return (
        f"{format.counted(gain.marks, 'mark')}: nDCG {gain.before:.2f} → {gain.after:.2f}, "
        f"leave-one-out, gain ± {gain.error:.2f}"
    )


def _refused(key: str, reason: str) -> None:
    """Why nothing can be learned."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"{reason[0].upper()}{reason[1:]}.", width="stretch")
        _dismiss(key)


def _dismiss(key: str) -> None:
    """The button that closes the offer."""
    st.button("Dismiss", key=f"{key}.dismiss", on_click=_close, args=(key,))


def _close(key: str) -> None:
    """Close the offer, in a callback."""
    _ask(key, None)


def _ask(key: str, about: str | None) -> None:
    st.session_state[key] = about

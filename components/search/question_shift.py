"""A question shifted by its marks, towards the good ones: shown with its gain, taken or refused."""

import streamlit as st

from components.grid import result_link
from components.search import mark_learning
from store import Library, MemedexError, Query, QueryShift
from store.evaluation import marks
from store.search import Question

_KEY = "search.shift"


def in_force(library: Library, question: Question) -> QueryShift | None:
    """The shift of this question, if it was taken, by its marks as they are now."""
    line, judgements = marks.marks_of(library, question)
    shift = marks.shift_of(judgements)
    return shift if result_link.shifted(line if shift else "") else None


def notice(shift: QueryShift | None) -> None:
    """The marks that shift the question, and the button that ends it."""
    if shift is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        marks = f"{len(shift.good)} good, {len(shift.bad)} bad"
        st.caption(f":material/moving: Question shifted by its marks: {marks}", width="content")
        st.button("Stop shifting", type="tertiary", on_click=result_link.shift, args=(False,))


def offer(library: Library, question: Question, query: Query) -> None:
    """Offer to shift the question, with what it gains; nothing if it is shifted, or without a good mark."""
    line, judgements = marks.marks_of(library, question)
    if query.shift is not None or marks.shift_of(judgements) is None:
        return
    if not mark_learning.is_open(
        _KEY, about=line, label="Shift question by marks", icon=":material/moving:",
        tip="Searches nearer to the results marked good, and farther from those marked bad.",
    ):  # fmt: skip
        return
    with st.container(border=True, gap="small"):
        about = line, str(judgements), str(query.sliders), query.calibrated, query.fused, library.generation
        try:
            gain = mark_learning.once(_KEY, about, lambda: marks.measured_shift(library, query, judgements))
        except MemedexError as error:
            mark_learning.refused(_KEY, str(error))
            return
        if gain.no_gain:
            mark_learning.refused(_KEY, gain.no_gain)
            return
        # Not refused in doubt, as weights are: it is about this question alone, and one click ends it.
        doubt = " The gain may be chance; more marks would tell." if gain.uncertainty else ""
        st.caption(f"On this question's {mark_learning.describe(gain)}.{doubt}")
        with st.container(horizontal=True, gap="small"):
            st.button("Shift this question", type="primary", on_click=_take)
            mark_learning.dismiss(_KEY)


def _take() -> None:
    result_link.shift(True)
    mark_learning.close(_KEY)

"""Weights fitted to the marks of this kind of question: shown with their gain, taken or refused."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from components.search import mark_learning, saved
from components.shell.page import forms
from components.shell.page.forms import Button, Field
from store import Library, MemedexError, Query
from store.catalog import named_values
from store.evaluation import marks
from store.records import FACETS, Facet

_KEY = "search.fit_weights"


def show(library: Library, query: Query, *, usual: Mapping[Facet, float]) -> None:
    """A button that fits weights to the marks, and then what was found; nothing without any mark."""
    kind = "-".join(sorted({part.kind for part in query.parts}))
    judgements, now = library.golden.judgements(), query.sliders
    if not judgements:
        return
    if not mark_learning.is_open(
        _KEY, about=kind, label="Fit weights to marks", icon=":material/tune:",
        tip="Weights that put results marked good above those marked bad.",
    ):  # fmt: skip
        return
    with st.container(border=True, gap="small"):
        try:
            about = kind, str(now), query.calibrated, query.fused, str(judgements), library.generation
            fit = mark_learning.once(_KEY, about, lambda: _fit(library, kind, query, usual))
        except MemedexError as error:
            mark_learning.refused(_KEY, str(error))
            return
        if fit.rejection:
            mark_learning.refused(_KEY, fit.rejection)
        else:
            _offer(library, fit, now)


def _fit(library: Library, kind: str, query: Query, usual: Mapping[Facet, float]) -> marks.WeightFit:
    marked = marks.marked_queries(library, kind, calibrated=query.calibrated, fused=query.fused)
    return marks.fit_weights(marked, usual, now=query.sliders)


def _offer(library: Library, fit: marks.WeightFit, now: Mapping[Facet, float]) -> None:
    moved = " · ".join(
        f"{facet} {now[facet]:g} → **{fit.weights[facet]:g}**"
        if abs(fit.weights[facet] - now[facet]) > 0.05
        else f"{facet} {now[facet]:g}"
        for facet in FACETS
        if fit.weights[facet] or now[facet]
    )
    st.markdown(moved)
    st.caption(f"On your {mark_learning.describe(fit)}.")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.button("Use these weights", type="primary", on_click=_use, args=(fit.weights,))
        mark_learning.dismiss(_KEY)
        if library.can_write:
            forms.show(
                "save-fitted", library, partial(_save, library, fit), row=True,
                fields=[Field("name", "Save as", longest=named_values.MAX_NAME)],
                button=Button("Save weights"),
            )  # fmt: skip


def _use(weights: Mapping[Facet, float]) -> None:
    saved.use_weights(weights)
    mark_learning.close(_KEY)


def _save(library: Library, fit: marks.WeightFit, given: Mapping[str, Any]) -> str:
    return saved.keep(library.presets, dict(fit.weights), given)

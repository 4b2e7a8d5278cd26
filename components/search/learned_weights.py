"""Weights fitted to the marks of this kind of question: shown with their gain, taken or refused."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from components.search import saved
from components.search.box import SearchRequest
from components.shell import format, forms
from components.shell.forms import Button, Field
from store.catalog.named_values import MAX_NAME
from store.errors import InvalidRecord
from store.evaluation import weight_fit
from store.evaluation.weight_fit import WeightFit
from store.library import Library
from store.records import FACETS, Facet

_ASKED = "search.fit_weights"  # the kind of question whose fit is shown
_FOUND = "search.weight_fit"  # what it was about, and the fit


def show(
    library: Library,
    request: SearchRequest,
    ranking: Mapping[str, bool],
    *,
    usual: Mapping[Facet, float],
    now: Mapping[Facet, float],
) -> None:
    """A button that fits weights to the marks, and then what was found; nothing without any mark."""
    kind = "-".join(sorted({part.kind for part in request.parts}))
    judgements = library.golden.judgements()
    if not any(now.values()) or not judgements:
        return
    if st.session_state.get(_ASKED) != kind:
        st.button(
            "Fit weights to marks", icon=":material/tune:", type="tertiary", on_click=_ask, args=(kind,),
            help="Weights that put results marked good above those marked bad.",
        )  # fmt: skip
        return
    with st.container(border=True, gap="small"):
        try:
            about = kind, str(ranking), str(now), str(judgements), library.generation
            fit = _once(about, lambda: _fit(library, kind, ranking, usual=usual, now=now))
        except InvalidRecord as error:
            _refused(str(error))
            return
        if fit.why_not:
            _refused(fit.why_not)
        else:
            _offer(library, fit, now)


def _fit(
    library: Library,
    kind: str,
    ranking: Mapping[str, bool],
    *,
    usual: Mapping[Facet, float],
    now: Mapping[Facet, float],
) -> WeightFit:
    with st.spinner("Fitting weights …"):
        return weight_fit.fit(weight_fit.marked(library, kind, **ranking), usual, now=now)


def _once(about: object, compute: Callable[[], WeightFit]) -> WeightFit:
    """The fit of this session's last run if it was about the same: it takes a second."""
    before, known = st.session_state.get(_FOUND, (None, None))
    if before == about and isinstance(known, WeightFit):
        return known
    fit = compute()
    st.session_state[_FOUND] = about, fit
    return fit


def _offer(library: Library, fit: WeightFit, now: Mapping[Facet, float]) -> None:
    moved = " · ".join(
        f"{facet} {now[facet]:g} → **{fit.weights[facet]:g}**"
        if abs(fit.weights[facet] - now[facet]) > 0.05
        else f"{facet} {now[facet]:g}"
        for facet in FACETS
        if fit.weights[facet] or now[facet]
    )
    st.markdown(moved)
    st.caption(
        f"On your {format.counted(fit.marks, 'mark')}: nDCG {fit.before:.2f} → {fit.after:.2f}, "
        f"leave-one-out, gain ± {fit.error:.2f}."
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.button("Use these weights", type="primary", on_click=_use, args=(fit.weights,))
        st.button("Dismiss", on_click=_ask, args=(None,))
        if library.can_write:
            forms.show(
                "save-fitted", library, partial(_save, library, fit), row=True,
                fields=[Field("name", "Save as", longest=MAX_NAME)], button=Button("Save weights"),
            )  # fmt: skip


def _refused(reason: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"{reason[0].upper()}{reason[1:]}.", width="stretch")
        st.button("Dismiss", on_click=_ask, args=(None,))


def _ask(kind: str | None) -> None:
    st.session_state[_ASKED] = kind


def _use(weights: Mapping[Facet, float]) -> None:
    saved.use_weights(weights)
    _ask(None)


def _save(library: Library, fit: WeightFit, given: Mapping[str, Any]) -> str:
    return saved.keep(library.presets, dict(fit.weights), given)

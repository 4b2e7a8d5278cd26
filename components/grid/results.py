"""Search results: the same grid, with sliders that rank anew in the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import streamlit as st
from numpy.typing import NDArray

from components.grid import late_cards
from components.grid.actions import Action
from components.grid.cards import Mark
from components.grid.grid import mount, sent
from components.grid.ledger import Handler
from store.library import Library
from store.records import FACETS, Facet
from store.search.presets import PRESETS
from store.search.query import checked_weights
from store.search.ranking import Scale, rank
from store.search.reaching import reaching
from store.search.search import Results

ALL_AT_ONCE = 20_000  # rows, 400 kB; of more, the page gets only those that some weights can show
BEST = 4_000  # rows, where even those are more: each has to be read


_LOOKS_AT = {
    "Reference": "4 / 3 / 2 / 1 for the captions",
    "Looks": "how it looks",
    "Meaning": "what it means",
    "Mood": "how it feels",
    "Picture only": "the picture alone",
}

ResultView = Literal["cards", "table", "versus", "map"]
RESULT_VIEWS = get_args(ResultView)


@dataclass(frozen=True, slots=True)
class Ranked:
    """The rows a page ranks, in the order of their addresses: equal scores stand as in the store."""

    id: str
    made_from: tuple[Any, ...]
    rows: dict[str, int]
    table: pa.Table
    is_whole: bool  # whether no other record can come into the list, whatever the weights


def show_results(
    key: str,
    library: Library,
    results: Results,
    *,
    weights: Mapping[Facet, float],
    shown: int,
    actions: Sequence[Action],
    groups: Mapping[str, int] | None = None,
    calibrated: Scale | None = None,
    uncalibrated: str = "",
    marks: Mapping[str, Mark] | None = None,
    handlers: Mapping[str, Handler] | None = None,
    view: ResultView = "cards",
    held: Mapping[str, float] | None = None,
) -> None:
    """Show the best `shown` records for the sliders' weights, ranked in the page from all similarities.

    `results.hits` may hold more than `shown`: cards that a movement of the sliders is likely to need.
    `calibrated` are the figures that can be switched to; `uncalibrated` says why there are none.
    `held` is the setting that "versus" compares with, `calibrated` 1 or 0 beside its weights.
    Below a `view` of "map" the page shows the results itself.
    Of records that `groups` gives the same number only the best is shown.
    """
    ranked = _ranked(key, results, shown=shown, groups=groups)
    late_cards.keep(ranked.id, ranked.rows, marks or {})
    cards = [
        late_cards.ranked_card(library, record, ranked.rows[record.address], marks or {})
        for record in library.records(hit.address for hit in results.hits)
        if record.address in ranked.rows
    ]
    data: dict[str, Any] = {
        "cards": cards,
        "ranking": {
            "query": ranked.id,
            "late": late_cards.address(),
            "means": [None if np.isnan(mean) else float(mean) for mean in results.means],
            "weights": {facet: weights.get(facet, 0.0) for facet in FACETS},
            "top": shown,
            "compared": results.compared,
            "whole": ranked.is_whole,
            "presets": _presets(library),
            "calibrated": calibrated._asdict() if calibrated else None,
            "uncalibrated": uncalibrated,
            "calibrate": results.query.calibrated,
            "view": view,
            "held": {**held, "calibrated": bool(held["calibrated"])} if held else None,
        },
    }
    if sent(key).get("knows") != ranked.id:  # 200 kB for 10,000 records, sent once for each query
        data["similarities"] = ranked.table
    mount(key, library, data, actions=actions, handlers=handlers or {})


def _presets(library: Library) -> list[tuple[str, Mapping[Facet, float], str]]:
    """In the order of the buttons: name, all five weights, and what it looks at ("" for people's own)."""
    usual = [(name, checked_weights(weights), _LOOKS_AT[name]) for name, weights in PRESETS.items()]
    return [*usual, *((name, weights, "") for name, weights in library.presets.all().items())]


def chosen_weights(key: str) -> dict[Facet, float] | None:
    """Where the sliders of this grid were left; None before anybody moved them."""
    return _weights(sent(key).get("weights"))


def chosen_held(key: str) -> dict[str, float] | None:
    """The setting that this grid last held to compare with; None before anybody did."""
    told = sent(key).get("held")
    weights = _weights(told)
    return {**weights, "calibrated": float(told.get("calibrated") is True)} if weights else None


def _weights(weights: Any) -> dict[Facet, float] | None:
    """Five weights as a page tells them; None for anything else."""
    if not isinstance(weights, Mapping):
        return None
    values = {facet: weights.get(facet, 0) for facet in FACETS}
    usable = all(
        isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 10
        for value in values.values()
    )
    return {facet: float(value) for facet, value in values.items()} if usable else None


def chosen_calibration(key: str) -> bool | None:
    """Whether this grid's scores were last calibrated; None before anybody moved anything."""
    weights = sent(key).get("weights")
    return weights.get("calibrated") is True if isinstance(weights, Mapping) else None


def last_moved(key: str) -> object:
    """What the sliders of this grid last said, never twice the same even where they stand as before."""
    return sent(key).get("weights")


def chosen_view(key: str) -> ResultView | None:
    """How this grid's results were last looked at; None before anybody chose."""
    view = sent(key).get("view")
    return view if view in RESULT_VIEWS else None


def _ranked(key: str, results: Results, *, shown: int, groups: Mapping[str, int] | None) -> Ranked:
    """Kept from run to run, as long as the search gives the very same similarities."""
    made_from = (results.answer, results.mask, shown, groups)
    kept: Ranked | None = st.session_state.get(f"{key}.ranked")
    same = kept is not None and all(map(_same, kept.made_from, made_from))
    if kept and same and (kept.is_whole or all(hit.address in kept.rows for hit in results.hits)):
        return kept
    answer = results.answer
    may = np.arange(len(answer.addresses)) if results.mask is None else np.flatnonzero(results.mask)
    labels = None
    if groups is not None:
        labels = np.array([groups.get(address, -1) for address in answer.addresses])
    is_whole = True
    if len(may) > ALL_AT_ONCE:
        may, is_whole = _few(results, may, labels, shown=shown)
    order = np.array(sorted(may.tolist(), key=answer.addresses.__getitem__), np.intp)
    columns = dict(zip(FACETS, answer.cosines(order).T.copy(), strict=True))
    if labels is not None:
        columns["group"] = labels[order].astype(np.float32)
    ranked = Ranked(
        token_hex(8),
        made_from,
        {answer.addresses[row]: at for at, row in enumerate(order.tolist())},
        pa.table(columns),
        is_whole,
    )
    st.session_state[f"{key}.ranked"] = ranked
    return ranked


def _same(one: object, other: object) -> bool:
    """Arrays are the same only when they are one; comparing them would cost more than ranking them."""
    return one is other or (isinstance(one, int | dict) and one == other)


def _few(
    results: Results, may: NDArray[np.intp], labels: NDArray[np.int64] | None, *, shown: int
) -> tuple[NDArray[np.intp], bool]:
    """All that some weights bring among the first; were these too many, the best for the present ones."""
    reached = reaching(results.answer, may, top=shown, limit=ALL_AT_ONCE, groups=labels)
    if reached is not None:
        return reached, True
    ranking = rank(results.answer, results.query.sliders, top=BEST, mask=results.mask, scale=results.scale)
    return np.array(ranking.rows, np.intp), False

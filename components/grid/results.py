"""Search results: the same grid, with sliders that rank again in the browser."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import streamlit as st
from numpy.typing import NDArray

from components.grid import deferred_cards
from components.grid.actions import Action, Handler
from components.grid.cards import Mark
from components.grid.grid import mount
from components.shell.session import session
from store import Library, Query, Results
from store.records import FACETS, Facet
from store.search import DEFAULT_PRESET, PRESETS, Scale, checked_weights, in_browser, rank

ALL_AT_ONCE = 20_000  # rows, 400 kB; of more, the page gets only those that some weights can show
BEST = 1_000  # rows, where even those are more or the library is large: each is read from the disk


_LOOKS_AT = {
    DEFAULT_PRESET: "entity 4, context 3, visual 2, emotions 1",
    "Looks": "how it looks",
    "Meaning": "what it means",
    "Mood": "how it feels",
    "Picture only": "the picture alone",
}

ResultView = Literal["cards", "table", "versus"]
RESULT_VIEWS: tuple[ResultView, ...] = get_args(ResultView)


@dataclass(frozen=True, slots=True)
class Ranked:
    """The rows that a page ranks, in the order of their addresses, so that ties are as in the store."""

    id: str
    made_from: tuple[Any, ...]
    rows: dict[str, int]
    table: pa.Table
    is_whole: bool  # whether no weights bring another record into the list


@dataclass(frozen=True, slots=True)
class ShownRanking:
    """How the results of a query are ranked and shown at first."""

    query: str  # in words; another one starts at the first result, without a selection
    weights: Mapping[Facet, float]
    shown: int  # how many results
    usual: Mapping[Facet, float] | None = None  # the default weights of such a query
    calibrated: Scale | None = None  # the scale that can be switched to …
    uncalibrated: str = ""  # … or why there is none
    view: ResultView = "cards"
    held: Mapping[str, float] | None = None  # what "versus" compares with: weights, and `calibrated` 1 or 0
    groups: Mapping[str, int] | None = None  # of the records with one number only the best is shown
    pinned: Sequence[str] = ()  # first with any weights, marked as exact matches


def show_results(
    key: str,
    library: Library,
    results: Results,
    ranking: ShownRanking,
    *,
    actions: Sequence[Action],
    marks: Mapping[str, Mark] | None = None,
    handlers: Mapping[str, Handler] | None = None,
) -> None:
    """Show the best records for the sliders' weights, ranked in the browser from all similarities.

    `results.hits` may hold more than are shown: cards that a small change of the sliders needs.
    """
    ranked = _ranked(key, results, shown=ranking.shown, groups=ranking.groups, pinned=tuple(ranking.pinned))
    deferred_cards.remember(ranked.id, ranked.rows, marks or {})
    at_hand = dict.fromkeys([*ranking.pinned, *(hit.address for hit in results.hits)])
    cards = deferred_cards.ranked_cards(library, at_hand, ranked.rows, marks or {})
    data: dict[str, Any] = {
        "question": ranking.query,
        "cards": cards,
        "ranking": _ranking_data(library, results, ranked, ranking),
    }
    # 200 kB for 10,000 records: once for each query of a visit, and when the browser does not have them.
    sent = (ranked.id, session.sent(key).get("requested"))
    if key not in st.session_state or st.session_state.get(f"{key}.similarities") != sent:
        st.session_state[f"{key}.similarities"] = sent
        data["similarities"] = ranked.table
    mount(key, library, data, actions=actions, handlers=handlers or {})


def _ranking_data(
    library: Library, results: Results, ranked: Ranked, ranking: ShownRanking
) -> dict[str, Any]:
    """What the page needs to rank by itself (`js/ranking.js`)."""
    held = ranking.held
    return {
        "query": ranked.id,
        **in_browser.figures(results),
        "weights": {facet: ranking.weights.get(facet, 0.0) for facet in FACETS},
        "usual": {facet: ranking.usual.get(facet, 0.0) for facet in FACETS} if ranking.usual else None,
        "top": ranking.shown,
        "whole": ranked.is_whole,
        "presets": _presets(library),
        "calibrated": ranking.calibrated._asdict() if ranking.calibrated else None,
        "uncalibrated": ranking.uncalibrated,
        "calibrate": results.query.calibrated,
        "pinned": [ranked.rows[address] for address in ranking.pinned if address in ranked.rows],
        "view": ranking.view,
        "held": {**held, "calibrated": bool(held["calibrated"])} if held else None,
    }


def _presets(library: Library) -> list[tuple[str, Mapping[Facet, float], str]]:
    """In the order of the buttons: name, all five weights, and a description ("" for people's own)."""
    usual = [(name, checked_weights(weights), _LOOKS_AT[name]) for name, weights in PRESETS.items()]
    return [*usual, *((name, weights, "") for name, weights in library.presets.all().items())]


def chosen_weights(key: str) -> dict[Facet, float] | None:
    """The sliders' last position in this grid; None if they were never moved."""
    return _weights(session.sent(key).get("weights"))


def chosen_held(key: str) -> dict[str, float] | None:
    """The setting that this grid last compared with; None if there was none."""
    last_held: Any = session.sent(key).get("held")
    weights = _weights(last_held)
    if not weights:
        return None
    return {**dict[str, float](weights.items()), "calibrated": float(last_held.get("calibrated") is True)}


def _weights(weights: Any) -> dict[Facet, float] | None:
    """Five weights as a page sends them; None for anything else."""
    if not isinstance(weights, Mapping):
        return None
    values = {facet: weights.get(facet, 0) for facet in FACETS}
    usable = all(
        isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 10
        for value in values.values()
    )
    return {facet: float(value) for facet, value in values.items()} if usable else None


def chosen_calibration(key: str) -> bool | None:
    """Whether this grid's scores were last calibrated; None if nothing was moved."""
    weights = session.sent(key).get("weights")
    return weights.get("calibrated") is True if isinstance(weights, Mapping) else None


def chosen_fusion(key: str) -> bool | None:
    """Whether words last counted in this grid; None if nothing was moved."""
    weights = session.sent(key).get("weights")
    return weights.get("fused") is not False if isinstance(weights, Mapping) else None


def last_moved(key: str) -> object:
    """An object that is another one after every movement of the sliders, even to the same position."""
    return session.sent(key).get("weights")


def chosen_view(key: str) -> ResultView | None:
    """The last view of this grid's results; None if none was chosen."""
    view = session.sent(key).get("view")
    return view if view in RESULT_VIEWS else None


def _ranked(
    key: str, results: Results, *, shown: int, groups: Mapping[str, int] | None, pinned: tuple[str, ...]
) -> Ranked:
    """Cached between runs as long as the search returns the same similarities."""
    made_from = (results.answer, results.mask, shown, groups, results.words, pinned, results.stand_in)
    kept: Ranked | None = st.session_state.get(f"{key}.ranked")
    same = kept is not None and all(map(_same, kept.made_from, made_from))
    if kept and same and (kept.is_whole or all(hit.address in kept.rows for hit in results.hits)):
        return kept
    answer = results.answer
    may = np.arange(len(answer.addresses)) if results.mask is None else np.flatnonzero(results.mask)
    labels = None
    if groups is not None:
        labels = np.array([groups.get(address, -1) for address in answer.addresses])
    is_whole = results.exact
    if len(may) > ALL_AT_ONCE:
        few, has_all = _few(results, may, labels, shown=shown)
        is_whole = is_whole and has_all
        # What has words of the question may come up, too, and nothing else (store/search/ranking.py).
        also = answer.rows_of(pinned)
        with_words = results.words.rows if results.words else np.empty(0, np.intp)
        wanted = np.unique(np.concatenate([few, with_words, np.array(also, np.intp), _by_picture(results)]))
        may = wanted if results.mask is None else wanted[results.mask[wanted]]
    order = np.array(sorted(may.tolist(), key=answer.addresses.__getitem__), np.intp)
    columns = in_browser.columns(results, order)
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
    """Whether both are the same; arrays by identity, because comparing them would cost more than ranking."""
    return one is other or (type(one) in (int, dict, tuple) and type(one) is type(other) and one == other)


def _few(
    results: Results, may: NDArray[np.intp], labels: NDArray[np.int64] | None, *, shown: int
) -> tuple[NDArray[np.intp], bool]:
    """All that some weights bring among the first; if they are too many, the best for the present ones."""
    reached = in_browser.skyline(results.answer, may, top=shown, limit=ALL_AT_ONCE, groups=labels)
    if reached is not None:
        return reached, True
    ranking = rank(results.answer, results.query.sliders, top=BEST, mask=results.mask, scale=results.scale)
    return np.array(ranking.rows, np.intp), False


def _by_picture(results: Results) -> NDArray[np.intp]:
    """The best of those whose pictures replace captions, for the usual weights."""
    if results.stand_in is None:
        return np.empty(0, np.intp)
    mask = np.zeros(len(results.addresses), np.bool_)
    mask[results.stand_in.rows] = True
    if results.mask is not None:
        mask &= results.mask
    usual = Query(results.query.parts).sliders
    ranking = rank(results.answer, usual, top=BEST, mask=mask, scale=results.scale, stand_in=results.stand_in)
    return np.array(ranking.rows, np.intp)

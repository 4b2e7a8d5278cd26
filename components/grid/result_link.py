"""The parts of a search's address besides the line: view, weights, calibration, number of results."""

from collections.abc import Mapping, Sequence

import streamlit as st

from components.grid.results import (
    RESULT_VIEWS,
    ResultView,
    chosen_calibration,
    chosen_fusion,
    chosen_held,
    chosen_view,
)
from store import SavedSearch
from store.records import FACETS, Facet

SIZES = (20, 60, 200, 1000)
_USUAL = 60
_VIEW = "as"  # not "view", which other pages bind: going back from one of them, Streamlit drops what it bound
_CALIBRATED = "calibrated"
_HELD = "against"  # five numbers likewise, and a 1 where they weigh calibrated scores
_FUSED = "words"  # "0" where words do not count
_SHIFTED = "shift"  # "1" where the question is shifted by its marks
_SHIFTED_LINE = "search.shifted"  # the line that this is about: another question begins without
_WEIGHTS = "w"  # five numbers in the order of FACETS, where they are not the usual ones


def size() -> int:
    """The field for how many results are shown; its value is part of the address."""
    given = st.selectbox(
        "Results",
        SIZES,
        index=SIZES.index(_USUAL),
        key="n",
        bind="query-params",
        label_visibility="collapsed",
        width=85,
    )
    return given if given in SIZES else _USUAL


def resize(shown: int | None) -> None:
    """Set the number of results, or the default; call it before the control is drawn."""
    n = shown if shown in SIZES else _USUAL
    if "n" not in st.session_state and n != _USUAL:
        st.query_params["n"] = str(n)  # a control that is yet to come does not put there what it is given
    st.session_state["n"] = n


def kept(search: SavedSearch) -> dict[str, str]:
    """The address parameters of a saved search."""
    link = {"fold": "true"} if search.folded else {}
    link |= {_SHIFTED: "1"} if search.shifted else {}
    return {**link, "n": str(search.shown)} if search.shown in SIZES else link


def view(key: str) -> ResultView:
    """The view of the results: the last choice, else the link's; it is written to the address."""
    linked = st.query_params.get(_VIEW, "")
    usual: ResultView = next((one for one in RESULT_VIEWS if one == linked), "cards")
    chosen = chosen_view(key) or usual
    _put(_VIEW, chosen if chosen != "cards" else "")
    return chosen


def calibrated(key: str, *, opened: bool | None) -> bool:
    """Whether to calibrate: by the opened search, else the switch, else the link; written to the address."""
    last_choice = chosen_calibration(key) if opened is None else opened
    chosen = st.query_params.get(_CALIBRATED) == "1" if last_choice is None else last_choice
    _put(_CALIBRATED, "1" if chosen else "")
    return chosen


def fused(key: str, *, opened: bool | None) -> bool:
    """Whether the query's words count, in the same way; true by default."""
    last_choice = chosen_fusion(key) if opened is None else opened
    chosen = linked_fusion() if last_choice is None else last_choice
    _put(_FUSED, "" if chosen else "0")
    return chosen


def shift(on: bool) -> None:
    """Shift the question of the next run by its marks, or stop it."""
    st.session_state.pop(_SHIFTED_LINE, None)
    _put(_SHIFTED, "1" if on else "")


def shifted(line: str) -> bool:
    """Whether the link shifts this question; another one, or "" for one without good marks, ends it."""
    if linked_shift() and st.session_state.setdefault(_SHIFTED_LINE, line) == line != "":
        return True
    shift(False)
    return False


def linked_shift() -> bool:
    """Whether the link shifts its question."""
    return st.query_params.get(_SHIFTED) == "1"


def weights() -> dict[Facet, float] | None:
    """The weights of a shared link."""
    return _read(st.query_params.get(_WEIGHTS, "").split(","))


def held(key: str, *, view: ResultView) -> dict[str, float] | None:
    """The setting to compare with: the last choice, else the link's; it is written to the address."""
    if view != "versus":
        _put(_HELD, "")
        return None
    linked = st.query_params.get(_HELD, "").split(",")
    weights = _read(linked[: len(FACETS)])
    last_choice = chosen_held(key)
    if last_choice is None and weights is not None:
        last_choice = {
            **dict[str, float](weights.items()),
            "calibrated": float(linked[len(FACETS) :] == ["1"]),
        }
    if last_choice is None:
        _put(_HELD, "")
    else:
        _put(_HELD, ",".join([_numbers(last_choice), *(["1"] if last_choice["calibrated"] else [])]))
    return last_choice


def _put(name: str, value: str) -> None:
    """Set a parameter of the address; "" removes it."""
    if value:
        st.query_params[name] = value
    else:
        st.query_params.pop(name, None)


def _numbers(weights: Mapping[str, float] | Mapping[Facet, float]) -> str:
    return ",".join(f"{weights[facet]:g}" for facet in FACETS)


def _read(numbers: Sequence[str]) -> dict[Facet, float] | None:
    try:
        values = [float(number) for number in numbers]
    except ValueError:
        return None
    if len(values) != len(FACETS) or not all(0 <= value <= 10 for value in values):
        return None
    return dict(zip(FACETS, values, strict=True))


def ranking() -> dict[str, str]:
    """The address parameters of weights, calibration, words and shift, for a page that ranks the same way."""
    keys = (_WEIGHTS, _CALIBRATED, _FUSED, _SHIFTED)
    return {key: st.query_params[key] for key in keys if key in st.query_params}


def linked_fusion() -> bool:
    """Whether words count by the link."""
    return st.query_params.get(_FUSED) != "0"


def keep_weights(weights: Mapping[Facet, float], usual: Mapping[Facet, float]) -> None:
    """Put weights that differ from the usual ones into the page's address."""
    _put(_WEIGHTS, _numbers(weights) if dict(weights) != dict(usual) else "")

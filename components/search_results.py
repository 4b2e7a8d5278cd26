"""The answer: how it was found, the sliders, the results, and what can be done with one."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st

from components import newest, replacing, search_chips, search_filter, searches, tagging, wording
from components.grid import (
    CAPTION,
    DEGRADE,
    LIKE,
    REPLACE,
    STYLE,
    TAGS,
    Entry,
    chosen_calibration,
    chosen_weights,
    show_cards,
    show_results,
)
from components.judged import judging
from components.search_box import Asked
from components.search_terms import LINE
from store.errors import MemedexError
from store.library import Library
from store.listing import Filter
from store.query import Query
from store.question import Question, Term, written
from store.records import FACETS, Facet
from store.search import Results

SIZES = (20, 60, 200, 1000)
_AT_HAND = 120  # more cards than are shown travel along, so that a moved slider finds what it brings up
_NAMED = 5
_CALIBRATED = "calibrated"  # in the address
_WEIGHTS = "w"  # in the address: five numbers in the order of FACETS, where they are not the usual ones


def show(library: Library, asked: Asked) -> None:
    """Search, and show what was found; or say why nothing was."""
    if asked.question.filter.tier != "library":
        _show_by_words(library, asked.question)
        return
    kinds = sorted({part.kind for part in asked.parts})
    key = f"search-{'-'.join(kinds)}"  # each kind of question has its own weights
    usual = Query(asked.parts).sliders
    told = chosen_weights(key)
    weights = searches.weights_of_opened(told) or told or _linked() or usual
    searches.hold(weights)
    _link(weights, usual)
    with asked.bar.container(width=85):
        shown = _size()
    calibration = library.calibration()
    calibrated = calibration is not None and _calibrated(key)
    results = _search(library, asked, weights, usual, shown=shown, calibrated=calibrated)
    if results is None:
        return
    with asked.bar:
        _facts(results, weights, asked)
    _named(library, asked.question)
    if not results.hits and any(weights.values()):
        _nothing(asked)
        return
    said = judging(library, asked.question)
    show_results(
        key,
        library,
        results,
        weights=weights,
        shown=shown,
        actions=[LIKE, STYLE, *said.actions, CAPTION, TAGS, REPLACE, DEGRADE],
        calibrated=calibration.scale(asked.parts) if calibration else None,
        groups=library.copies() if asked.folded else None,
        marks=said.marks,
        handlers={
            **newest.WAYS,
            **tagging.WAYS,
            "replace": replacing.bring,
            **said.handlers,
            "like": _like,
            "style": _style,
        },
    )
    tagging.dialog(library)


def _size() -> int:
    given = st.selectbox(
        "Results", SIZES, index=SIZES.index(60), key="n", bind="query-params",
        label_visibility="collapsed",
    )  # fmt: skip
    return given if given in SIZES else 60


def _search(
    library: Library,
    asked: Asked,
    weights: Mapping[Facet, float],
    usual: Mapping[Facet, float],
    *,
    shown: int,
    calibrated: bool,
) -> Results | None:
    """All similarities; with every weight at zero no hits, but the sliders still have what they rank."""
    asks = any(weights.values())
    query = Query(
        asked.parts,
        weights=weights if asks else usual,
        top=shown + _AT_HAND,
        filter=asked.question.filter,
        calibrated=calibrated,
    )
    try:
        with st.spinner("Searching; the first time, the model is loaded …", show_time=True):
            results = library.search(query)
    except MemedexError as error:
        st.error("This could not be searched:", icon=":material/error:")
        st.text(str(error))
        return None
    return results if asks else replace(results, hits=[])


def _facts(results: Results, weights: Mapping[Facet, float], asked: Asked) -> None:
    if not any(weights.values()):
        st.markdown(":orange[All weights are zero, so nothing is searched. Give a facet a weight.]")
        return
    how = "Exact" if results.exact else "Approximate"
    facts = [
        f"results · {how}: compared with {wording.counted(results.compared, 'coin')}",
        f"{results.seconds * 1000:,.{0 if results.seconds > 0.01 else 1}f} ms",
    ]
    if results.without_facets:
        facts.append(f"{results.without_facets:,} without any of these facets left out")
    facts.append(search_filter.told(asked.question.filter))
    st.caption(" · ".join(filter(None, facts)), width="stretch")
    if all(term.source != "picture" for term in asked.question.terms):
        line = written(replace(asked.question, filter=replace(asked.question.filter, tier=None)))
        st.page_link(
            "pages/map.py", label="Map", icon=":material/scatter_plot:", query_params={"map_q": line}
        )
    st.page_link("pages/suspicious.py", label="Suspicious captions", icon=":material/troubleshoot:")


def _nothing(asked: Asked) -> None:
    """Why there is no result, and the way on."""
    filter = asked.question.filter
    is_filtered = not filter.is_open
    st.info(
        f"No coin of the library passes this filter: {search_filter.told(filter)}."
        if is_filtered
        else "The library holds nothing to compare this with yet.",
        icon=":material/search_off:",
    )
    if filter.words:
        st.button(
            "Search by meaning instead",
            icon=":material/search:",
            on_click=_by_meaning,
            args=(asked.question,),
        )


def _by_meaning(question: Question) -> None:
    st.session_state[LINE] = written(replace(question, filter=replace(question.filter, words="", tier=None)))


def _show_by_words(library: Library, question: Question) -> None:
    """Coins that no vector stands for: those that have all of the words."""
    said = " ".join(term.said for term in question.terms if term.source == "text" and term.weight > 0)
    found = library.named(said, question.filter, limit=200) if said else []
    tier = question.filter.tier
    st.caption(
        f"{wording.counted(len(found), 'coin')} in {tier} with these words. Only the library is embedded; "
        "elsewhere coins are found by name, ticker and text."
    )
    if found:
        show_cards("search-words", library, found, actions=[CAPTION], handlers=newest.WAYS)
    else:
        st.info(f"No coin in {tier} has all of these words.", icon=":material/search_off:")


def _named(library: Library, question: Question) -> None:
    """Coins that have these very words in name, ticker or text: vectors do not find those, words do."""
    words = next((term.said for term in question.terms if term.source == "text" and term.weight > 0), "")
    found = library.named(words, question.filter, limit=_NAMED) if words else []
    if not found:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.caption("By these words:", width="content")
        for record in found:
            label = wording.plain(
                f"{record.name} · {record.ticker}" if record.ticker else record.name, limit=28
            )
            st.page_link("pages/captions.py", label=label, query_params={"address": record.address})


def _like(entry: Entry) -> None:
    _ask(entry, lambda address: (Term("like", address),))


def _style(entry: Entry) -> None:
    _ask(entry, search_chips.same_style)


def _ask(entry: Entry, terms: Callable[[str], tuple[Term, ...]]) -> None:
    """Put another question, among all coins."""
    if entry.addresses:
        st.session_state[LINE] = written(Question(terms(entry.addresses[0]), Filter()))


def _calibrated(key: str) -> bool:
    """Where the switch was left, else what the link says; and the link says it too."""
    told = chosen_calibration(key)
    chosen = st.query_params.get(_CALIBRATED) == "1" if told is None else told
    if chosen:
        st.query_params[_CALIBRATED] = "1"
    else:
        st.query_params.pop(_CALIBRATED, None)
    return chosen


def _linked() -> dict[Facet, float] | None:
    """The weights of a shared link."""
    try:
        values = [float(value) for value in st.query_params.get(_WEIGHTS, "").split(",")]
    except ValueError:
        return None
    if len(values) != len(FACETS) or not all(0 <= value <= 10 for value in values):
        return None
    return dict(zip(FACETS, values, strict=True))


def _link(weights: Mapping[Facet, float], usual: Mapping[Facet, float]) -> None:
    if dict(weights) == dict(usual):
        st.query_params.pop(_WEIGHTS, None)
    else:
        st.query_params[_WEIGHTS] = ",".join(f"{weights[facet]:g}" for facet in FACETS)

"""The answer: how it was found, the sliders, the results, and what can be done with one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import streamlit as st

from components import (
    examples,
    exporting,
    map_view,
    newest,
    replacing,
    resources,
    search_chips,
    search_filter,
    search_link,
    searches,
    tagging,
    wording,
)
from components.grid import (
    CAPTION,
    DEGRADE,
    EXPORT,
    LIKE,
    MODEL,
    REPLACE,
    STYLE,
    TAGS,
    Entry,
    chosen_weights,
    last_moved,
    show_cards,
    show_results,
)
from components.judged import judging
from components.search_box import Asked
from components.search_terms import LINE
from store.errors import MemedexError
from store.filter import Filter
from store.library import Library
from store.records import Facet
from store.search.calibration import LEAST_RECORDS
from store.search.parts import listed, words_of
from store.search.query import Query
from store.search.question import Question, Term, written
from store.search.ranking import Hit, folded
from store.search.search import NO_COMMON_FACET, Results

_AT_HAND = 120  # more cards than are shown travel along, so that a moved slider finds what it brings up
_NAMED = 5


def show(library: Library, asked: Asked) -> None:
    """Search, and show what was found; or say why nothing was."""
    if not asked.parts or asked.question.filter.tier != "library":
        _show_listed(library, asked)
        return
    kinds = sorted({part.kind for part in asked.parts})
    key = f"search-{'-'.join(kinds)}"  # each kind of question has its own weights
    usual = Query(asked.parts).sliders
    told = chosen_weights(key)
    opened = searches.opened((key, last_moved(key)))
    weights = (opened and opened.weights) or told or search_link.weights() or usual
    search_link.keep_weights(weights, usual)
    with asked.bar.container(width=85):
        shown = search_link.size()
    calibration = library.calibration.in_force()
    calibrated = calibration is not None and search_link.calibrated(
        key, opened=opened.calibrated if opened else None
    )
    searches.hold(weights, calibrated=calibrated, folded=asked.folded, shown=shown)
    results = _search(library, asked, weights, usual, shown=shown, calibrated=calibrated)
    if results is None:
        return
    with asked.bar:
        _facts(results, weights, asked)
    _named(library, asked.question)
    if results.why_empty == NO_COMMON_FACET:
        st.info("What this question speaks about has no weight, or no coin has it.", icon=":material/tune:")
    elif not results.hits and any(weights.values()):
        _nothing(asked)
        return
    said = judging(library, asked.question)
    view = search_link.view(key)
    groups = library.duplicates.groups() if asked.folded else None
    show_results(
        key,
        library,
        results,
        weights=weights,
        shown=shown,
        actions=[LIKE, STYLE, *said.actions, CAPTION, TAGS, REPLACE, EXPORT, MODEL, DEGRADE],
        calibrated=calibration.scale(asked.parts) if calibration else None,
        uncalibrated="" if calibration else _uncalibrated(library),
        groups=groups,
        marks=said.marks,
        handlers={
            **newest.WAYS,
            **tagging.WAYS,
            "replace": replacing.bring,
            "export": exporting.bring,
            "model": examples.bring(_line(asked.question)),
            **said.handlers,
            "like": _like,
            "style": _style,
        },
        view=view,
        held=search_link.held(key, view=view),
    )
    if view == "map":
        _map(library, folded(results.hits, groups or {})[:shown], asked=asked)
    tagging.dialog(library)


def _uncalibrated(library: Library) -> str:
    count = library.counts()["library"]
    if count < LEAST_RECORDS:
        return f"Calibrated scores need {LEAST_RECORDS} coins in the library; there are {count:,}."
    return "Calibrated scores: not measured here yet; Evaluation does it."


def _map(library: Library, found: Sequence[Hit], *, asked: Asked) -> None:
    """The results as points, and the way to all coins with their own controls."""
    line = _line(asked.question)
    scores = {hit.address: hit.score for hit in found}
    map_view.show_results("search-map", library, scores, line=line)
    st.page_link(
        "pages/map.py", label="On a page of its own", icon=":material/scatter_plot:",
        query_params={"map_q": line, "map_colour": map_view.COLOURED("score")},
    )  # fmt: skip


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
        resources.ready_to_search(library)
        with st.spinner("Searching …", show_time=True):
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
    examples.link(_line(asked.question), folded=asked.folded)
    st.page_link("pages/suspicious.py", label="Suspicious", icon=":material/troubleshoot:")


def _line(question: Question) -> str:
    return written(replace(question, filter=replace(question.filter, tier=None)))


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


def _show_listed(library: Library, asked: Asked) -> None:
    """Coins that are not compared with anything: those that pass, best by the words or the newest first."""
    question, tier = asked.question, asked.question.filter.tier
    place = "the library" if tier == "library" else tier
    said = words_of(question)
    if question.terms and not said:
        st.info(
            "Only the library can be searched by picture or example; elsewhere, ask with words.",
            icon=":material/search_off:",
        )
        return
    with asked.bar.container(width=85):
        shown = search_link.size()
    found = listed(library, question, limit=shown)
    facts = [
        f"results with these words in {place}: only the library is searched by meaning"
        if said
        else f"results · the newest of {wording.counted(library.count(question.filter), 'coin')} in {place}"
    ]
    with asked.bar:
        st.caption(" · ".join(filter(None, [*facts, search_filter.told(question.filter)])), width="stretch")
    if not found:
        st.info(f"No coin in {place} passes.", icon=":material/search_off:")
        return
    show_cards(
        f"search-listed-{tier}",
        library,
        found,
        actions=[LIKE, CAPTION, TAGS, EXPORT] if tier == "library" else [CAPTION, TAGS, EXPORT],
        handlers={**newest.WAYS, **tagging.WAYS, "export": exporting.bring},
    )
    tagging.dialog(library)


def _named(library: Library, question: Question) -> None:
    """Coins that have these very words in name, ticker or text: vectors do not find those, words do."""
    words = next((term.said for term in question.terms if term.source == "text" and term.weight > 0), "")
    found = library.named(words, question.filter, limit=_NAMED) if words else []
    if not found:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.caption("By these words:", width="content")
        for record in found:
            label = wording.plain(record.name, limit=24)
            if record.ticker:
                label += f" · {wording.plain(record.ticker, limit=10)}"
            st.page_link("pages/captions.py", label=label, query_params={"address": record.address})


def _like(entry: Entry) -> None:
    _ask(entry, lambda address: (Term("like", address),))


def _style(entry: Entry) -> None:
    _ask(entry, search_chips.same_style)


def _ask(entry: Entry, terms: Callable[[str], tuple[Term, ...]]) -> None:
    """Put another question, among all coins."""
    if entry.addresses:
        search_filter.clear()
        st.session_state[LINE] = written(Question(terms(entry.addresses[0]), Filter()))

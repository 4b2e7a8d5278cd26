"""Search results: how they were found, the sliders, the grid, and actions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.captions import replace as captions_replace
from components.exchange import export
from components.generate import examples
from components.grid import (
    CAPTION,
    DEGRADE,
    EXPORT,
    LIKE,
    MODEL,
    REPLACE,
    STYLE,
    TAGS,
    ShownRanking,
    chosen_weights,
    last_moved,
    newest,
    result_link,
    show_results,
)
from components.map import view as map_view
from components.search import certainty, chips, match_list, outside_library, question_shift, saved, weight_fit
from components.search import filter as search_filter
from components.search.box import SearchRequest
from components.search.relevance_feedback import judging
from components.shell import format
from components.shell.page.query_pictures import LINE
from components.shell.server import monitoring
from components.shell.session import resources
from store import Filter, Hit, Library, MemedexError, Query, QueryShift, Results, SavedSearch
from store.reading import query_binding
from store.records import Facet
from store.search import (
    LEAST_RECORDS,
    NO_COMMON_FACET,
    Question,
    Term,
    describe,
    describe_pictures,
    folded,
    query_syntax,
)

_AT_HAND = 120  # more cards than are shown travel along, so that a moved slider finds what it brings up
_EXACT = 5


def show(library: Library, request: SearchRequest) -> None:
    """Search and show the results, or say why there are none; below them how they were found."""
    found, foot = st.container(), st.container(horizontal=True, vertical_alignment="center", gap="small")
    with foot:  # first, because it says how many are shown
        shown = result_link.size()
    with found:
        if request.parts and request.question.filter.tier == "library":
            _show_ranked(library, request, foot, shown=shown)
        else:
            match_list.show(library, request, foot, shown=shown)


def _show_ranked(library: Library, request: SearchRequest, foot: DeltaGenerator, *, shown: int) -> None:
    kinds = sorted({part.kind for part in request.parts})
    key = f"search-{'-'.join(kinds)}"  # each kind of question has its own weights
    usual = Query(request.parts).sliders
    moved = chosen_weights(key)
    opened = saved.opened((key, last_moved(key)))
    weights = (opened and opened.weights) or moved or result_link.weights() or usual
    result_link.keep_weights(weights, usual)
    calibration = library.calibration.in_force()
    calibrated = calibration is not None and result_link.calibrated(
        key, opened=opened.calibrated if opened else None
    )
    fused = result_link.fused(key, opened=opened.fused if opened else None)
    shift = question_shift.in_force(library, request.question)
    ranked = SavedSearch("", dict(weights), {}, calibrated, request.folded, shown, fused, shift is not None)
    saved.set_ranking(ranked)
    results = _search(library, request, ranked, usual, shift=shift)
    if results is None:
        return
    with foot:
        _facts(results, weights, request)
    question_shift.notice(shift)
    if by_picture := describe_pictures(results.hits[:shown]):
        st.caption(f":material/image: Found {by_picture}.")
    line = st.session_state.get(LINE) or ""
    exact = [
        record.address
        for record in query_binding.exact_matches(library, request.question, line, limit=_EXACT)
    ]
    if not exact:
        outside_library.show(library, request.question, line)
        _doubts(library, results, request.question, line)
    if waiting := library.waiting_for_vectors():
        st.info(f"{waiting[0].upper()}{waiting[1:]}.", icon=":material/hourglass_empty:")
    if results.why_empty == NO_COMMON_FACET:
        st.info("The facets of this query have weight 0, or no coin has them.", icon=":material/tune:")
    elif not results.hits and any(weights.values()):
        _nothing(request)
        return
    view = result_link.view(key)
    ranking = ShownRanking(
        query=_line(request.question),
        weights=weights,
        shown=shown,
        usual=usual,
        calibrated=calibration.scale(request.parts) if calibration else None,
        uncalibrated="" if calibration else _uncalibrated(library),
        view=view,
        held=result_link.held(key, view=view),
        groups=library.duplicates.groups() if request.folded else None,
        pinned=exact,
    )
    _grid(key, library, results, ranking, request)
    if any(weights.values()):
        with st.container(horizontal=True, gap="small"):
            weight_fit.show(library, results.query, usual=usual)
            question_shift.offer(library, request.question, results.query)
    if view == "map":
        _map(library, folded(results.hits, ranking.groups or {})[:shown], request=request)


def _grid(
    key: str, library: Library, results: Results, ranking: ShownRanking, request: SearchRequest
) -> None:
    """The ranked cards, with what can be done to them."""
    feedback = judging(library, request.question)
    show_results(
        key,
        library,
        results,
        ranking,
        actions=[LIKE, STYLE, *feedback.actions, CAPTION, TAGS, REPLACE, EXPORT, MODEL, DEGRADE],
        marks=feedback.marks,
        handlers={
            **newest.WAYS,
            "replace": captions_replace.preselect,
            "export": export.preselect,
            "model": examples.preselect(ranking.query),
            **feedback.handlers,
            "like": _like,
            "style": _style,
        },
    )


def _uncalibrated(library: Library) -> str:
    count = library.counts()["library"]
    if count < LEAST_RECORDS:
        return f"Calibrated scores need {LEAST_RECORDS} coins in the library; there are {count:,}."
    return "Calibrated scores: not measured here yet; Evaluation does it."


def _map(library: Library, found: Sequence[Hit], *, request: SearchRequest) -> None:
    """The results as points, with a link to the whole map."""
    line = _line(request.question)
    scores = {hit.address: hit.score for hit in found}
    map_view.show_results("search-map", library, scores, line=line)
    st.page_link(
        "pages/map.py",
        label="On a page of its own",
        icon=":material/scatter_plot:",
        query_params={"map_q": line, "map_colour": map_view.COLOURED("likeness")},
    )


def _search(
    library: Library,
    request: SearchRequest,
    ranked: SavedSearch,
    usual: Mapping[Facet, float],
    *,
    shift: QueryShift | None,
) -> Results | None:
    """All similarities; with every weight at zero no hits, but the sliders can still rank."""
    weights = ranked.weights or {}
    asks = any(weights.values())
    query = Query(
        request.parts,
        weights=weights if asks else usual,
        top=(ranked.shown or 0) + _AT_HAND,
        filter=request.question.filter,
        calibrated=ranked.calibrated,
        fused=ranked.fused,
        shift=shift,
    )
    try:
        resources.ready_to_search(library)
        with st.spinner("Searching …", show_time=True):
            results = library.search(query)
        monitoring.search_seconds.observe(results.seconds)
    except MemedexError as error:
        st.error("This could not be searched:", icon=":material/error:")
        st.text(str(error))
        return None
    return results if asks else replace(results, hits=[])


def _facts(results: Results, weights: Mapping[Facet, float], request: SearchRequest) -> None:
    if not any(weights.values()):
        st.markdown(":orange[All weights are zero, so nothing is searched. Give a facet a weight.]")
        return
    took = f"{results.seconds * 1000:,.{0 if results.seconds > 0.01 else 1}f} ms"
    ranked = f"{format.counted(results.compared, 'coin')} ranked in {took}"
    facts = ["results", ranked, describe(results.certainty)]
    if results.without_facets:
        facts.append(f"{results.without_facets:,} without any of these facets left out")
    facts.append(search_filter.describe(request.question.filter))
    st.caption(" · ".join(filter(None, facts)), width="stretch", help=certainty.help_of(results.certainty))
    examples.link(_line(request.question), folded=request.folded)
    st.page_link("pages/suspicious.py", label="Caption QA", icon=":material/troubleshoot:")


def _line(question: Question) -> str:
    return query_syntax.written(replace(question, filter=replace(question.filter, tier=None)))


def _nothing(request: SearchRequest) -> None:
    """Why there is no result, with a way on."""
    filter = request.question.filter
    is_filtered = not filter.is_open
    st.info(
        f"No matches. {search_filter.describe(filter)}"
        if is_filtered
        else "The library has no coins to search yet.",
        icon=":material/search_off:",
    )
    if filter.words:
        st.button(
            "Search by meaning instead",
            icon=":material/search:",
            on_click=_by_meaning,
            args=(request.question,),
        )


def _by_meaning(question: Question) -> None:
    st.session_state[LINE] = query_syntax.written(
        replace(question, filter=replace(question.filter, words="", tier=None))
    )


def _doubts(library: Library, results: Results, question: Question, line: str) -> None:
    """Warn if nothing fits well, and offer the line with corrected spelling."""
    meant = query_binding.did_you_mean(library, question, line)
    fits = results.fits or not results.hits
    if fits and not meant:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not fits:
            st.markdown("**Nothing fits well.** These coins are only the nearest.", width="content")
        if meant:
            label = f"Did you mean “{format.plain(meant, limit=60)}”?"
            st.button(label, icon=":material/spellcheck:", on_click=_ask_line, args=(meant,))


def _ask_line(line: str) -> None:
    st.session_state[LINE] = line


def _like(chosen: Sequence[str]) -> None:
    _ask(chosen, lambda address: (Term("like", address),))


def _style(chosen: Sequence[str]) -> None:
    _ask(chosen, chips.same_style)


def _ask(chosen: Sequence[str], terms: Callable[[str], tuple[Term, ...]]) -> None:
    """Ask another query, among all coins."""
    for address in chosen[:1]:
        st.session_state[LINE] = query_syntax.written(Question(terms(address), Filter()))

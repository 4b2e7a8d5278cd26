"""Search results: how they were found, the sliders, the grid, actions, and coins that are not ranked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.exchange import export
from components.generate import examples
from components.grid import result_link
from components.grid.actions import LIKE, STYLE, verbs
from components.grid.grid import show_cards
from components.grid.results import ShownRanking, chosen_weights, last_moved, show_results
from components.review.verbs import ELSEWHERE
from components.search import chips, mark_learning, saved
from components.search.box import SearchRequest
from components.search.mark_learning import judging
from components.shell import format
from components.shell.page import places
from components.shell.page.query_pictures import LINE
from components.shell.server import monitoring
from components.shell.session import presenter, resources, safe_mode
from store import Filter, Library, MemedexError, Query, QueryShift, Results, SavedSearch
from store.catalog import filter_syntax
from store.reading import query_binding
from store.records import Facet, Tier
from store.search import (
    LEAST_RECORDS,
    NO_COMMON_FACET,
    Certainty,
    Question,
    Term,
    describe,
    describe_pictures,
    folded,
    query_syntax,
)
from store.showcase import Asked

_AT_HAND = 120  # more cards than are shown travel along, so that a moved slider finds what it brings up
_EXACT = 5
_CERTAINTY = {
    "exact": "Nothing was missed: every coin was compared, most of them by a shorter form of its vectors, "
    "whose error has a proven bound. Those that may belong among the results were compared in full.",
    "proved": "A Chroma server proposed candidates. No other coin can score as much as the first results, "
    "unless the server's index overlooked it.",
    "stable": "A Chroma server proposed candidates. Half and a quarter of them give the same first results. "
    "While a slider moves, these candidates are ranked; when it rests, the server is asked.",
    "approximate": "A Chroma server proposed candidates. Other coins may belong among these.",
}
_ELSEWHERE = 3
# Where the coins of each tier are, and the parameter of the filter there.
_PLACES: dict[Tier, tuple[places.Link, str]] = {
    "pending": (places.to("Review"), "pending_words"),
    "approved": (places.to("Approved"), "approved_words"),
    "trash": (places.REJECTED, "trash_words"),
}


def show(library: Library, request: SearchRequest) -> None:
    """Search and show the results, or say why there are none; below them how they were found."""
    found, foot = st.container(), st.container(horizontal=True, vertical_alignment="center", gap="small")
    with foot:  # first, because it says how many are shown
        shown = result_link.size()
    with found:
        if request.parts and request.question.filter.tier == "library":
            _show_ranked(library, request, foot, shown=shown)
        else:
            _show_listed(library, request, foot, shown=shown)


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
    shift = mark_learning.shift_in_force(library, request.question)
    ranked = SavedSearch("", dict(weights), {}, calibrated, request.folded, shown, fused, shift is not None)
    saved.set_ranking(ranked)
    results = _search(library, request, ranked, usual, shift=shift)
    if results is None:
        return
    with foot:
        _facts(results, weights, request)
    mark_learning.show_shift(shift)
    if by_picture := describe_pictures(results.hits[:shown]):
        st.caption(f":material/image: Found {by_picture}.")
    line = st.session_state.get(LINE) or ""
    exact = [
        record.address
        for record in query_binding.exact_matches(library, request.question, line, limit=_EXACT)
    ]
    if not exact:
        _show_elsewhere(library, request.question, line)
        _doubts(library, results, request.question, line)
    if waiting := library.waiting_for_vectors():
        st.info(f"{waiting[0].upper()}{waiting[1:]}.", icon=":material/hourglass_empty:")
    if results.why_empty == NO_COMMON_FACET:
        st.info("What this query speaks about has weight 0, or no coin has it.", icon=":material/tune:")
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
            found = [*exact, *(hit.address for hit in folded(results.hits, ranking.groups or {}))]
            asked = Asked(ranking.query, results.query, tuple(exact))
            export.saved_page(library, list(dict.fromkeys(found))[:shown], key=f"{key}-save", asked=asked)
            mark_learning.offer_weights(library, results.query, usual=usual)
            mark_learning.offer_shift(library, request.question, results.query)


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
        actions=verbs("library", also=[LIKE, STYLE, *feedback.actions]),
        marks=feedback.marks,
        handlers={
            **ELSEWHERE,
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
        st.markdown(":orange[All weights are zero, so nothing is searched. Give one of the five a weight.]")
        return
    took = f"{results.seconds * 1000:,.{0 if results.seconds > 0.01 else 1}f} ms"
    ranked = f"{format.counted(results.compared, 'coin')} ranked in {took}"
    facts = ["results", ranked, describe(results.certainty)]
    if results.without_facets:
        facts.append(f"{results.without_facets:,} without any of these left out")
    facts.append(filter_text(request.question.filter))
    st.caption(" · ".join(filter(None, facts)), width="stretch", help=_certainty_help(results.certainty))
    st.page_link(**places.CAPTION_CHECK, label="Check captions", icon=":material/troubleshoot:")


def _line(question: Question) -> str:
    return query_syntax.written(replace(question, filter=replace(question.filter, tier=None)))


def _nothing(request: SearchRequest) -> None:
    """Why there is no result, with a way on."""
    filter = request.question.filter
    is_filtered = not filter.is_open
    st.info(
        f"No matches. {filter_text(filter)}" if is_filtered else "The library has no coins to search yet.",
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


def _certainty_help(certainty: Certainty) -> str | None:
    """What that means; None if every coin was compared in full."""
    return _CERTAINTY[certainty.level] if certainty.level != "exact" or certainty.candidates else None


def _show_elsewhere(library: Library, question: Question, line: str) -> None:
    """A link for each coin outside of the library whose ticker, name or address is in the line."""
    anywhere = replace(question, filter=replace(question.filter, tier=None))
    for record in query_binding.exact_matches(library, anywhere, line, limit=_ELSEWHERE):
        if record.tier not in _PLACES:
            continue
        link, words = _PLACES[record.tier]
        shown = safe_mode.shown(library, record)
        named = f"{shown.name} ({shown.ticker})" if shown.ticker else shown.name
        sought = (record.ticker or record.name) if shown is record else record.address
        st.page_link(
            link["page"],
            label=f"**{format.plain(named)}** is not in the library: open it in {format.TIERS[record.tier]}",
            icon=":material/arrow_forward:",
            query_params={**link["query_params"], words: sought},
        )


def _show_listed(library: Library, request: SearchRequest, foot: DeltaGenerator, *, shown: int) -> None:
    """Coins that are not compared with anything: those that match, best by words or newest first."""
    question, tier = request.question, request.question.filter.tier
    place = format.TIERS[tier or "library"]
    words = query_binding.words_of(question)
    if question.terms and not words:
        st.info(
            "Only the library can be searched by picture or example; elsewhere, ask with words.",
            icon=":material/search_off:",
        )
        return
    found = query_binding.records_listed(library, question, limit=shown)
    facts = [
        f"results with these words in {place}: only the library is searched by meaning"
        if words
        else f"results · the newest of {format.counted(library.count(question.filter), 'coin')} in {place}"
    ]
    with foot:
        st.caption(" · ".join(filter(None, [*facts, filter_text(question.filter)])), width="stretch")
    if not found:
        st.info(f"No matches in {place}.", icon=":material/search_off:")
        return
    show_cards(f"search-listed-{tier}", library, found, actions=verbs(tier or "library"), handlers=ELSEWHERE)


def filter_text(chosen: Filter) -> str:
    """The filter in words, as Markdown; "" for none."""
    parts = [f"tag {format.plain(label)}" for label in chosen.tags]
    parts += [f"category {format.plain(label)}" for label in chosen.categories]
    parts += [f"not tag {format.plain(label)}" for label in chosen.without_tags]
    parts += [f"not category {format.plain(label)}" for label in chosen.without_categories]
    parts += [f"with {facet}" for facet in chosen.having] + [f"without {facet}" for facet in chosen.lacking]
    for word, moment in (("since", chosen.since), ("until", chosen.until)):
        if moment is not None:
            parts.append(f"created {word} {datetime.fromtimestamp(moment, UTC):%Y-%m-%d}")
    if chosen.longer is not None:
        parts.append(f"captions of {chosen.longer:,} characters or more")
    if chosen.shorter is not None:
        parts.append(f"captions of {chosen.shorter:,} characters or fewer")
    for facet, least, most in chosen.lengths:
        limits = [f"{least:,} or more"] if least is not None else []
        limits += [f"{most:,} or fewer"] if most is not None else []
        parts.append(f"{' and '.join(limits)} characters of {facet}")
    parts += [f"comments with {format.plain(text) or 'anything'}" for text in chosen.comments]
    if chosen.family:
        parts.append(f"the family of {format.plain(chosen.family)}")
    if chosen.coin_set:
        parts.append("a selection of coins")
    if chosen.suspicious is not None:
        parts.append("suspected copies" if chosen.suspicious else "no suspected copies")
    parts += [f"suspected by {word}" for word in chosen.likeness]
    parts += [f"{format.plain(field)} {sign} {number:,g}" for field, sign, number in chosen.numbers]
    parts += [f"picture is {fault}" if fault != "yes" else "picture has a fault" for fault in chosen.faults]
    if chosen.source:
        parts.append(f"imported from {format.plain(chosen.source)}")
    if chosen.rejected_for is not None:
        reason = format.plain(chosen.rejected_for)
        parts.append(f"rejected for {reason}" if reason else "rejected without a reason")
    if chosen.decided_by or chosen.decided_since is not None:
        parts.append(f"decided by {format.plain(presenter.name(chosen.decided_by) or 'anybody')}")
    if chosen.any_of or chosen.none_of:
        line = presenter.concealed(
            filter_syntax.written(Filter(any_of=chosen.any_of, none_of=chosen.none_of))
        )
        parts.append(format.plain(line))
    if chosen.words:
        parts.append(format.plain(chosen.words))
    return f"Filter: {', '.join(parts)}" if parts else ""

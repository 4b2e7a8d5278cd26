"""The map of the library: which space, coloured by what, which coins; and what a lasso holds."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

import streamlit as st

from components import atlas, exporting, jobs, live, resources, tagging, wording
from components.atlas import Sheet, colours
from components.atlas.colours import Colours
from components.decisions import carry_out
from components.grid import CAPTION, DEGRADE, LIKE, TAGS, show_cards
from components.grid.ledger import AT_ONCE
from components.newest import WAYS
from components.search_terms import parts_of
from store.errors import MemedexError
from store.filter import Filter
from store.jobs import Job
from store.library import Library
from store.maps import SPACES, Map, Method
from store.search import question
from store.search.query import Query

KEY = "atlas"
COLOURED = "by {}".format  # how the address says it too
_BEST = (60, 1_000)  # results that a question leaves on the map: of a small library, and at most
_SHARE = 20  # one coin in so many, between these
_SHOWN = 60  # chosen coins that are shown as cards
_WAYS: dict[str, Method] = {"PCA": "pca", "Neighbours": "tsne"}
_ENDED = {"cancelled": "stopped", "paused": "paused", "interrupted": "interrupted", "failed": "given up"}
_HELP = (
    "PCA is there at once: the two directions in which these vectors differ most. Neighbours (t-SNE) keeps "
    "coins together that are alike; it is computed in the background and kept."
)


def show(library: Library) -> None:
    """Controls, map, and the chosen coins."""
    with st.container():  # what comes and goes in it moves nothing below: a map that moves is drawn anew
        points = _asked_for(library)
    if points is not None:
        _points(KEY, library, *points)
    tagging.dialog(library)


def _asked_for(library: Library) -> tuple[Sheet, Colours] | None:
    """The points and their colours; None, having said why, where nothing can be drawn."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        line = st.text_input(
            "Which coins", key="map_q", bind="query-params", placeholder="all, or: frog in space tag:dog",
            icon=":material/search:", type="search", label_visibility="collapsed",
        )  # fmt: skip
        space = st.selectbox(
            "Map of", SPACES, index=len(SPACES) - 1, key="map_of", bind="query-params", width=105,
            label_visibility="collapsed",
        )  # fmt: skip
        way = st.segmented_control(
            "Arranged by", list(_WAYS), default="PCA", key="map_by", bind="query-params", help=_HELP,
            label_visibility="collapsed", required=True,
        )  # fmt: skip
        colour = st.selectbox(
            "Colour", colours.WAYS, key="map_colour", bind="query-params", width=125,
            format_func=COLOURED, label_visibility="collapsed",
        )  # fmt: skip
    try:
        chart = _chart(library, space or "fused", _WAYS[way or "PCA"])
        scores, among = _asked(library, line or "")
    except MemedexError as error:
        _cannot(error)
        return None
    if way == "Neighbours":
        _arrange(library, space or "fused", chart)
    if chart is None:
        return None
    drawn = _drawn(KEY, library, chart, line, among)
    if drawn is None:
        st.info("No coin of this map passes.", icon=":material/search_off:")
        return None
    return drawn, _coloured(drawn, library, colour or "category", scores)


def show_results(key: str, library: Library, scores: Mapping[str, float], *, line: str) -> None:
    """The results of a search where they lie in the library, coloured by how well they answer."""
    live.follow(library)
    try:
        chart = _chart(library, "fused", "pca")
    except MemedexError as error:
        _cannot(error)
        return
    assert chart is not None  # a PCA is always there
    drawn = _drawn(key, library, chart, line, scores.keys())
    if drawn is not None:
        _points(key, library, drawn, _coloured(drawn, library, "score", scores))


def _drawn(
    key: str, library: Library, chart: Map, line: str | None, among: Collection[str] | None
) -> Sheet | None:
    """The page's sheet with these coins on it, all by default; None where there are none."""
    addresses, points = chart.addresses, chart.points
    if among is not None:
        rows = [row for row, address in enumerate(addresses) if address in among]
        addresses, points = tuple(addresses[row] for row in rows), points[rows]
    if not addresses:
        return None
    drawn = atlas.sheet(key, (chart.space, chart.method, chart.at, line))
    changed = library.changed_since(drawn.generation) if 0 < drawn.generation < chart.generation else ()
    drawn.take(addresses, points, changed=changed)
    drawn.generation = chart.generation
    return drawn


def _coloured(drawn: Sheet, library: Library, way: str, scores: Mapping[str, float]) -> Colours:
    """The sheet's colours, found anew when it or the library has changed: 100,000 coins take a second."""
    asked = (way, drawn.generation, drawn.version, scores)
    if drawn.coloured is None or drawn.coloured[0] != asked:
        before = drawn.coloured[1].labels if drawn.coloured else ()
        drawn.coloured = asked, colours.by(way, drawn.shown, library, scores=scores, before=before)
    return drawn.coloured[1]


def _cannot(error: MemedexError) -> None:
    st.info("This cannot be drawn as a map:", icon=":material/scatter_plot:")
    st.text(str(error))


@st.fragment
def _points(key: str, library: Library, drawn: Sheet, coloured: Colours) -> None:
    """What runs anew when the map asks for pictures, or a lasso was drawn."""
    atlas.show(key, library, drawn, coloured)
    _chosen(library, atlas.chosen(key, drawn))


def _chart(library: Library, space: str, method: Method) -> Map | None:
    """A map of the library as it is now."""
    resources.ready_to_search(library)
    with st.spinner("Laying out the coins …", show_time=True):
        return library.maps.of(space, method)


def _asked(library: Library, line: str) -> tuple[dict[str, float], set[str] | None]:
    """Scores of a question's results, and the coins to be shown; None for all."""
    asked = question.read(line, base=Filter(tier="library"), who=library.who)
    parts, faults = parts_of(library, asked)
    for fault in (*asked.faults, *faults):
        st.caption(f":orange[{wording.plain(fault, limit=200)}]")
    if parts:
        least, most = _BEST
        top = min(most, max(least, library.counts()["library"] // _SHARE))
        found = library.search(Query(parts, top=top, filter=asked.filter))
        scores = {hit.address: hit.score for hit in found.hits}
        if found.compared > len(scores):
            st.caption(f"The {wording.counted(len(scores), 'coin')} that answer this best.")
        return scores, set(scores)
    everything = asked.filter == Filter(tier="library")
    return {}, None if everything else set(library.addresses(asked.filter))


def _arrange(library: Library, space: str, chart: Map | None) -> None:
    """Begin the arrangement where there is none, bring it up to date, or make it anew when asked."""
    if not library.can_write:
        if chart is None:
            st.info(
                "Nobody has had the neighbours of this facet arranged yet.", icon=":material/scatter_plot:"
            )
        return
    last = _last(library, space)
    if last is not None and last.is_under_way:
        if chart is None:
            st.info(
                "The neighbours are being arranged; the map appears here.", icon=":material/hourglass_top:"
            )
    elif chart is not None:
        st.button(
            "Arrange anew", icon=":material/refresh:", on_click=_begin, args=(library, space),
            help="New coins lie between their neighbours until then; this moves all.",
        )  # fmt: skip
    elif last is None or last.state == "done":
        _begin(library, space)
        st.rerun()
    else:  # it stays stopped until somebody wants it after all
        st.info(f"Arranging the neighbours was {_ENDED[last.state]}.", icon=":material/scatter_plot:")
        st.button("Arrange them", icon=":material/play_arrow:", on_click=_begin, args=(library, space))


def _last(library: Library, space: str) -> Job | None:
    """The newest work on this map."""
    made = (job for job in library.jobs.all() if job.kind == "map" and job.options.get("space") == space)
    return next(made, None)


def _begin(library: Library, space: str) -> None:
    last = _last(library, space)
    if last is not None and last.can_resume:
        library.jobs.resume(last.id)
    elif last is None or not last.is_under_way:
        options = {"space": space, "anew": True}
        jobs.start(library.jobs, "map", name=f"Arrange the map of {space}", options=options)


def _chosen(library: Library, addresses: Sequence[str]) -> None:
    """What the lasso holds, as cards, and what can be done with all of it."""
    if not addresses:
        st.caption("Drag a lasso (or hold shift and drag) around points to choose them.")
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{wording.counted(len(addresses), 'coin')} chosen**", width="content")
        st.download_button(
            "Addresses", lambda: "\n".join(addresses) + "\n", "chosen.txt", icon=":material/download:",
            width="content", on_click="ignore",
        )  # fmt: skip
        if st.button("Export", icon=":material/swap_vert:", help="In a form that other programs read."):
            exporting.choose(addresses)
            st.switch_page(exporting.PAGE)
        if library.can_write:
            if st.button("Tag", icon=":material/sell:", help="Add tags to all of them, or remove some."):
                tagging.open_for(addresses)
                st.rerun()  # the dialog stands on the page
            with st.popover("Degrade", icon=":material/south_west:"):
                st.markdown(f"Send {wording.counted(len(addresses), 'coin')} back to Approved?")
                st.button("Degrade them", type="primary", on_click=_degrade, args=(library, addresses))
    show_cards(
        "atlas-chosen",
        library,
        library.records(addresses[:_SHOWN]),
        actions=[LIKE, CAPTION, TAGS, DEGRADE],
        handlers={**WAYS, **tagging.WAYS},
    )
    if len(addresses) > _SHOWN:
        st.caption(f"The first {_SHOWN} of them.")


def _degrade(library: Library, addresses: Sequence[str]) -> None:
    if len(addresses) > AT_ONCE:
        name = f"Degrade {len(addresses):,} coins"
        jobs.start(library.jobs, "move", addresses, name=name, options={"verb": "degrade"})
        return
    carry_out(partial(library.degrade, addresses), said="Degraded", icon=":material/south_west:")

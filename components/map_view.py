"""The map of the library: which space, coloured by what, which coins; and what a lasso holds."""

from collections.abc import Mapping, Sequence

import streamlit as st

from components import atlas, exporting, jobs, resources, state, wording
from components.atlas import colours
from components.atlas.colours import Colours
from components.grid import CAPTION, DEGRADE, LIKE, show_cards
from components.newest import WAYS
from components.search_terms import parts_of
from store.errors import MemedexError, UnknownRecord
from store.filter import Filter
from store.library import Library
from store.maps import LEAST, SPACES, Map, Method
from store.search import question
from store.search.query import Query

KEY = "atlas"
COLOURED = "by {}".format  # how the address says it too
_MOST = 1_000  # results that a question leaves on the map
_SHOWN = 60  # chosen coins that are shown as cards
_WAYS: dict[str, Method] = {"PCA": "pca", "Neighbours": "tsne"}
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


def _asked_for(library: Library) -> tuple[Map, list[int], Colours] | None:
    """The map, its rows to be shown, and their colours; None, having said why, where nothing can be drawn."""
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
    rows = [row for row, address in enumerate(chart.addresses) if among is None or address in among]
    if not rows:
        st.info("No coin of this map passes.", icon=":material/search_off:")
        return None
    return chart, rows, colours.by(colour or "category", chart.addresses, library, scores=scores)


def show_results(key: str, library: Library, scores: Mapping[str, float]) -> None:
    """The results of a search where they lie in the library, coloured by how well they answer."""
    try:
        chart = _chart(library, "fused", "pca")
    except MemedexError as error:
        _cannot(error)
        return
    assert chart is not None  # a PCA is always there
    rows = [row for row, address in enumerate(chart.addresses) if address in scores]
    _points(key, library, chart, rows, colours.by("score", chart.addresses, library, scores=scores))


def _cannot(error: MemedexError) -> None:
    st.info("This cannot be drawn as a map:", icon=":material/scatter_plot:")
    st.text(str(error))


@st.fragment
def _points(key: str, library: Library, chart: Map, rows: list[int], coloured: Colours) -> None:
    """What runs anew when the map asks for pictures, or a lasso was drawn."""
    atlas.show(key, library, chart, shown=rows, colours=coloured)
    _chosen(library, atlas.chosen(key))


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
        found = library.search(Query(parts, top=_MOST, filter=asked.filter))
        scores = {hit.address: hit.score for hit in found.hits}
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
    under_way = any(
        job.kind == "map" and job.options.get("space") == space for job in library.jobs.under_way()
    )
    if chart is None and not under_way and library.counts()["library"] >= LEAST:
        _begin(library, space, anew=True)
        st.rerun()
    if chart is None:
        st.info("The neighbours are being arranged; the map appears here.", icon=":material/hourglass_top:")
    elif not under_way:
        st.button(
            "Arrange anew", icon=":material/refresh:", on_click=_begin, args=(library, space),
            kwargs={"anew": True}, help="New coins lie between their neighbours until then; this moves all.",
        )  # fmt: skip


def _begin(library: Library, space: str, *, anew: bool) -> None:
    jobs.start(
        library.jobs, "map", name=f"Arrange the map of {space}", options={"space": space, "anew": anew}
    )


def _chosen(library: Library, addresses: Sequence[str]) -> None:
    """What the lasso holds, as cards, and what can be done with all of it."""
    if not addresses:
        st.caption("Drag a lasso (or hold shift and drag) around points to choose them.")
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{wording.counted(len(addresses), 'coin')} chosen**", width="content")
        st.download_button(
            "Addresses",
            "\n".join(addresses) + "\n",
            "chosen.txt",
            icon=":material/download:",
            width="content",
        )
        if st.button("Export", icon=":material/swap_vert:", help="In a form that other programs read."):
            exporting.choose(addresses)
            st.switch_page(exporting.PAGE)
        if library.can_write:
            _tag(library, addresses)
            with st.popover("Degrade", icon=":material/south_west:"):
                st.markdown(f"Send {wording.counted(len(addresses), 'coin')} back to Approved?")
                st.button("Degrade them", type="primary", on_click=_degrade, args=(library, addresses))
    records = []
    for address in addresses[:_SHOWN]:
        try:
            records.append(library.get(address))
        except UnknownRecord:
            continue
    show_cards("atlas-chosen", library, records, actions=[LIKE, CAPTION, DEGRADE], handlers=WAYS)
    if len(addresses) > _SHOWN:
        st.caption(f"The first {_SHOWN} of them.")


def _tag(library: Library, addresses: Sequence[str]) -> None:
    with st.popover("Tag", icon=":material/sell:"), st.form("atlas-tag", border=False):
        given = st.text_input("Tags, separated by commas", key="atlas_tags")
        if st.form_submit_button("Add to all of them") and given.strip():
            tags = [tag.strip() for tag in given.split(",") if tag.strip()]
            outcome = library.edit_tags(addresses, add=tags)
            state.say(f"Tagged {wording.counted(len(outcome.done), 'coin')}", icon=":material/sell:")
            st.rerun()


def _degrade(library: Library, addresses: Sequence[str]) -> None:
    outcome = library.degrade(addresses)
    state.say(f"Degraded {wording.counted(len(outcome.done), 'coin')}", icon=":material/south_west:")

"""The map of the library: which space, coloured by what, which coins; and what a lasso holds."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from components import atlas, jobs, state, wording
from components.atlas import colours
from components.atlas.colours import Colours
from components.grid import CAPTION, DEGRADE, LIKE, show_cards
from components.newest import WAYS
from store import question
from store.errors import MemedexError, UnknownRecord
from store.golden import parts_of
from store.library import Library
from store.listing import Filter
from store.maps import LEAST, SPACES, Map, Method
from store.query import Query

KEY = "atlas"
_MOST = 1_000  # results that a question leaves on the map
_SHOWN = 60  # chosen coins that are shown as cards
_KEPT = "memedex.atlas"
_WAYS: dict[str, Method] = {"PCA": "pca", "Neighbours": "tsne"}
_HELP = (
    "PCA is there at once: the two directions in which these vectors differ most. Neighbours (t-SNE) keeps "
    "coins together that are alike; it is computed in the background and kept."
)


def show(library: Library) -> None:
    """Controls, map, and the chosen coins."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
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
            format_func=lambda name: f"by {name}", label_visibility="collapsed",
        )  # fmt: skip
    try:
        drawn = _drawn(library, line or "", space or "fused", _WAYS[way or "PCA"], colour or "category")
    except MemedexError as error:
        st.info("This cannot be drawn as a map:", icon=":material/scatter_plot:")
        st.text(str(error))
        return
    if way == "Neighbours":
        _arrange(library, space or "fused", drawn.chart)
    if drawn.chart is None:
        return
    if not drawn.rows:
        st.info("No coin of this map passes.", icon=":material/search_off:")
        return
    _points(library, drawn)


@st.fragment
def _points(library: Library, drawn: "_Drawn") -> None:
    """What runs anew when the map asks for pictures, or a lasso was drawn."""
    assert drawn.chart is not None
    atlas.show(KEY, library, drawn.chart, shown=drawn.rows, colours=drawn.colours)
    _chosen(library, atlas.chosen(KEY))


@dataclass(frozen=True)
class _Drawn:
    """A map with its colours, kept while nothing it shows has changed."""

    of: tuple[object, ...]
    chart: Map | None
    rows: list[int]
    colours: Colours


def _drawn(library: Library, line: str, space: str, method: Method, colour: str) -> _Drawn:
    arranged = max((job.id for job in library.jobs.all() if job.kind == "map" and job.is_over), default=0)
    of = (line, space, method, colour, library.generation, library.model, arranged)
    kept = st.session_state.get(_KEPT)
    if isinstance(kept, _Drawn) and kept.of == of:
        return kept
    scores, among = _asked(library, line)
    chart = library.map_of(space, method)
    addresses = chart.addresses if chart else ()
    rows = [row for row, address in enumerate(addresses) if among is None or address in among]
    made = _Drawn(of, chart, rows, colours.by(colour, addresses, library, scores=scores))
    st.session_state[_KEPT] = made
    return made


def _asked(library: Library, line: str) -> tuple[dict[str, float], set[str] | None]:
    """Scores of a question's results, and the coins to be shown; None for all."""
    asked = question.read(line, base=Filter(tier="library"))
    for fault in asked.faults:
        st.caption(wording.plain(fault, limit=160))
    if asked.terms:
        found = library.search(Query(parts_of(line), top=_MOST, filter=asked.filter))
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

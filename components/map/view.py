"""The map of the library: which space, coloured by what, which coins; and the lasso's selection."""

import base64
import io
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from secrets import token_hex

import numpy as np
import streamlit as st
from PIL import Image, ImageDraw

from components.exchange import export
from components.grid.actions import verbs
from components.grid.grid import show_cards
from components.map import colours, requests
from components.map.colours import Colours
from components.map.points import PointTable
from components.review.verbs import ELSEWHERE
from components.shell import format, javascript
from components.shell.addresses import base_path
from components.shell.page import forms, job_bar, places, undo
from components.shell.page.forms import Button
from components.shell.page.undo import AT_ONCE
from components.shell.server import messages
from components.shell.session import resources, safe_mode, session
from store import Filter, Job, Library, MemedexError, Part, Query, Reader
from store.errors import ModelUnavailable
from store.maps import COMPARED, SPACES, Map, Method, Neighbourhood, Space, common_terms, has_term
from store.search import Question
from store.settings import settings
from store.tasks import models

KEY = "atlas"
COLOURED = "by {}".format  # how the address says it too
_UNASKED = 20_000  # coins whose t-SNE is computed without being asked for: half a minute
_BEST = (60, 1_000)  # results that a question leaves on the map: of a small library, and at most
_SHARE = 20  # one coin in so many, between these
_WAYS: dict[str, Method] = {"t-SNE": "tsne", "PCA": "pca"}
_ENDED = {"cancelled": "stopped", "paused": "paused", "interrupted": "interrupted", "failed": "abandoned"}
_HELP = (
    "t-SNE keeps similar coins together and names its neighbourhoods; it is computed in the background "
    "and kept. PCA is there at once: the two directions in which these vectors differ most."
)
_component = javascript.mounted(
    "atlas", '<div class="memedex-atlas"></div>', script="map/js/main.js", style="map/canvas.css"
)
_CARDS = 60  # coins that are shown as cards
_WIDTH, _HEIGHT, _MARGIN, _RADIUS = 720, 440, 14, 5  # px, for screens of two pixels a point
_STYLE = """<style>
.memedex-map {display:block; border-radius:8px;
  border:1px solid color-mix(in srgb, currentColor 16%, transparent)}
.memedex-map:is(:hover, :focus-visible) {background:color-mix(in srgb, currentColor 5%, transparent)}
.memedex-map img {display:block; width:100%; max-height:17rem; object-fit:contain}
</style>"""


def _space(space: str) -> str:
    """The space, as the page's address has it too."""
    return "Everything" if space == "fused" else space


def show(library: Library, question: Question, parts: Sequence[Part]) -> None:
    """Controls, the map of what this question finds, all by default, and the selected coins."""
    with st.container():  # what comes and goes in it moves nothing below: a map that moves is redrawn
        points = _choices(library, question, parts)
    if points is not None:
        _points(KEY, library, *points)


def _choices(
    library: Library, question: Question, parts: Sequence[Part]
) -> tuple[PointTable, Colours] | None:
    """The points and their colours; None, with a message, if nothing can be drawn."""
    row = st.container(horizontal=True, vertical_alignment="center", gap="xsmall")
    ways = [*colours.WAYS, *colours.numbers(library)]
    with row:
        space = st.selectbox(
            "Map of", SPACES, index=len(SPACES) - 1, key="map_of", bind="query-params", width=120,
            format_func=_space,
            label_visibility="collapsed",
        )  # fmt: skip
        way = st.segmented_control(
            "Arranged by", list(_WAYS), default="t-SNE", key="map_by", bind="query-params", help=_HELP,
            label_visibility="collapsed", required=True,
        )  # fmt: skip
        colour = st.selectbox(
            "Colour", ways, index=ways.index("likeness" if parts else "subject"),
            key="map_colour", bind="query-params", width=150,
            format_func=COLOURED, label_visibility="collapsed",
        )  # fmt: skip
    try:
        chart = _chart(library, space or "fused", _WAYS[way or "t-SNE"])
        with row:
            scores, among = _scores(library, question, parts)
            if way == "t-SNE":
                _arrange(library, space or "fused", chart)
    except MemedexError as error:
        _cannot(error)
        return None
    chart = chart or library.maps.of(space or "fused")
    assert chart is not None  # a PCA is always there
    drawn = _drawn(KEY, library, chart, question, among)
    if drawn is None:
        st.info("No matches on this map.", icon=":material/search_off:")
        return None
    return drawn, _coloured(drawn, library, colour or "subject", scores)


def _drawn(
    key: str, library: Library, chart: Map, question: Question, among: Collection[str] | None
) -> PointTable | None:
    """The page's sheet with these coins on it, all by default; None if there are none."""
    addresses, points = chart.addresses, chart.points
    if among is not None:
        rows = [row for row, address in enumerate(addresses) if address in among]
        addresses, points = tuple(addresses[row] for row in rows), points[rows]
    if not addresses:
        return None
    drawn = point_table(key, (chart.space, chart.method, chart.at, question))
    changed = library.changed_since(drawn.generation) if 0 < drawn.generation < chart.generation else ()
    drawn.update(addresses, points, changed=changed, joined=library.joined)
    drawn.generation = chart.generation
    return drawn


def _coloured(drawn: PointTable, library: Library, way: str, scores: Mapping[str, float]) -> Colours:
    """The sheet's colours, cached until it or the library changes: 100,000 coins take a second."""
    drawn_for = (way, drawn.generation, drawn.version, scores)
    if drawn.coloured is None or drawn.coloured[0] != drawn_for:
        before = drawn.coloured[1].labels if drawn.coloured else ()
        drawn.coloured = drawn_for, colours.by(way, drawn.shown, library, scores=scores, before=before)
    return drawn.coloured[1]


def _cannot(error: MemedexError) -> None:
    st.info("This cannot be drawn as a map:", icon=":material/scatter_plot:")
    st.text(str(error))


def _points(key: str, library: Library, drawn: PointTable, coloured: Colours) -> None:
    """The map, and what was selected on it."""
    space, method, *_ = drawn.topic if isinstance(drawn.topic, tuple) else ("fused", "pca")
    places = library.maps.neighbourhoods(space) if method == "tsne" else ()
    _draw(key, library, drawn, coloured, places=places or ())
    _selected(library, drawn.chosen())


def _chart(library: Library, space: str, method: Method) -> Map | None:
    """A map of the library as it is now."""
    resources.ready_to_search(library)
    with st.spinner("Laying out the coins …", show_time=True):
        return library.maps.of(space, method)


def _scores(
    library: Library, question: Question, parts: Sequence[Part]
) -> tuple[dict[str, float], set[str] | None]:
    """Scores of a query's results, and the coins to show; None for all."""
    if parts:
        least, most = _BEST
        top = min(most, max(least, library.counts()["library"] // _SHARE))
        found = library.search(Query(tuple(parts), top=top, filter=question.filter, fused=True))
        scores = {hit.address: hit.score for hit in found.hits}
        if found.compared > len(scores):
            st.caption(f"The {format.counted(len(scores), 'coin')} that answer this best.")
        return scores, set(scores)
    everything = question.filter == Filter(tier="library")
    return {}, None if everything else set(library.addresses(question.filter))


def _arrange(library: Library, space: Space, chart: Map | None) -> None:
    """Start the arrangement if there is none, update it, or compute another on request."""
    if not library.can_write:
        if chart is None:
            st.caption("The t-SNE layout of this has not been computed yet: this is PCA.")
        return
    last = models.last_map_job(library, space)
    if last is not None and last.is_under_way:
        if chart is None:
            st.caption("The t-SNE layout is being computed; until then this is PCA.")
    elif chart is not None and library.maps.neighbourhoods(space) is None and last is None:
        models.arrange_map(library, space, from_scratch=False)  # a map of 1.0 has no names yet
    elif chart is not None:
        _compute_button(library, space, Button(
            "Recompute layout", icon="refresh",
            help="New coins lie between their neighbours until then; this moves all.",
        ))  # fmt: skip
    elif last is None and library.counts()["library"] > _UNASKED:
        st.caption("A t-SNE layout of so many coins takes some minutes: this is PCA.")
        _compute_button(library, space, Button("Compute layout", icon="play_arrow"))
    elif last is None or last.state == "done":
        models.arrange_map(library, space)
        st.rerun()
    else:  # it stays stopped until the user starts it again
        st.caption(f"Computing the t-SNE layout was {_ENDED[last.state]}: this is PCA.")
        _compute_button(library, space, Button("Compute layout", icon="play_arrow"))


def _compute_button(library: Library, space: Space, button: Button) -> None:
    begin = partial(_begin, library, space, job_bar.watcher())
    forms.button(f"compute-map-{space}", library, begin, button=button)


def _begin(library: Library, space: Space, watch: Callable[[Job], Job]) -> None:
    if job := models.arrange_map(library, space):
        watch(job)


def point_table(key: str, topic: Hashable) -> PointTable:
    """The points of a topic that this session's page has drawn; empty for another topic."""
    held = st.session_state.get(f"{key}.sheet")
    if not isinstance(held, PointTable) or held.topic != topic:
        held = st.session_state[f"{key}.sheet"] = PointTable(topic)
    return held


def _draw(
    key: str, library: Reader, drawn: PointTable, colours: Colours, *, places: Sequence[Neighbourhood] = ()
) -> None:
    """Draw a sheet; the browser requests what it lacks of it from `requests`, apart from the page's runs."""
    drawn.colour(colours)
    selection = session.sent(key).get("chosen")
    if isinstance(selection, Mapping) and selection.get("sheet") == drawn.name:
        drawn.select(str(selection.get("bits")))
    _component(
        key=key,
        data={
            "server": messages.server(library),
            "safe": safe_mode.parameters(),
            "sheet": drawn.name,
            "version": drawn.version,
            "colouring": drawn.colouring,
            "chosen": requests.text(drawn.selected),
            "title": colours.title,
            "legend": [{"label": label, "colour": colour} for label, colour in colours.legend],
            "range": colours.range,
            "places": [asdict(place) for place in places],
        },
        on_chosen_change=_nothing,
    )


def _nothing() -> None:
    """An empty listener, because Streamlit only reports values that have one."""


def _selected(library: Library, addresses: Sequence[str]) -> None:
    """The lasso's selection as cards, and actions on all of it."""
    if not addresses:
        st.caption("Drag a lasso (or hold shift and drag) around points to select them.")
        return
    tagging = None
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{format.counted(len(addresses), 'coin')} selected**", width="content")
        st.download_button(
            "Addresses", lambda: "\n".join(addresses) + "\n", "chosen.txt", icon=":material/download:",
            width="content", on_click="ignore",
        )  # fmt: skip
        if st.button("Export", icon=":material/swap_vert:", help="In a form that other programs read."):
            export.choose(addresses)
            st.switch_page(**places.IMPORT)
        if library.can_write:
            if st.button(
                "Open in Library", icon=":material/photo_library:", help="A link to them that lasts."
            ):
                line = f"set:{library.coin_sets.store(addresses)}"
                st.switch_page(**places.all_coins(line))
            if st.button("Tag", icon=":material/sell:", help="Add tags to all of them, or remove some."):
                tagging = {"id": token_hex(8), "addresses": list(addresses)}
            with st.popover("Remove from library", icon=":material/south_west:"):
                st.markdown(f"Move {format.counted(len(addresses), 'coin')} back to Approved?")
                forms.show(
                    "atlas-remove", library,
                    partial(_degrade, library, tuple(addresses), job_bar.watcher()),
                    button=Button("Remove", kind="primary"),
                )  # fmt: skip
    addresses = _with_term(library, addresses)
    show_cards(
        "atlas-chosen",
        library,
        library.records(addresses[:_CARDS]),
        actions=verbs("library"),
        handlers=ELSEWHERE,
        tagging=tagging,
    )
    if len(addresses) > _CARDS:
        st.caption(f"The first {_CARDS} of them; *Open in Library* shows all.")


def _with_term(library: Library, addresses: Sequence[str]) -> Sequence[str]:
    """Says what the selection has in common; those that have the term that was clicked, or all."""
    chosen = library.records(addresses[:COMPARED])
    everything = library.records(library.addresses(Filter(tier="library"))[:COMPARED])
    found = {one.term: one for one in common_terms(chosen, everything)}
    if not found:
        st.caption("No tag or word is more frequent here than in the library.")
        return addresses

    def label(term: str) -> str:
        return f"{format.plain(term)} {found[term].share:.0%}"

    term = st.pills(
        "In common", list(found), key="atlas-common", format_func=label,
        help="Tags and words of captions that are more frequent here than in the whole library. "
        "A click shows those that have it.",
    )  # fmt: skip
    if term not in found:
        return addresses
    one = found[term]
    st.caption(f"{one.share:.0%} of the selection, {one.usual:.0%} of the library.")
    return [record.address for record in chosen if has_term(record, one.term)]


def _degrade(
    library: Library, addresses: Sequence[str], watch: Callable[[Job], Job], sent: forms.Sent
) -> str:
    if len(addresses) > AT_ONCE:
        name = f"Remove {len(addresses):,} coins from the library"
        options = {"verb": "degrade"}
        watch(library.jobs.start("move", addresses, name=name, options=options, decision=sent.decision))
        return ""
    return undo.result(
        library.degrade(addresses, decision=sent.decision), message="Removed from the library:"
    )


def thumbnail(library: Library) -> None:
    """Draw it with its heading, as a link to the map; nothing until a layout is stored."""
    try:
        chart = library.maps.stored("fused")
    except ModelUnavailable:
        return
    if chart is None or not chart.addresses:
        return
    picture = _small(chart, library, settings().root, library.generation, chart.at)
    href = f"{base_path()}/{places.address(places.MAP)}"
    st.header("Map", anchor=False)
    st.html(
        f'{_STYLE}<a class="memedex-map memedex-link" target="_self" href="{href}">'
        f'<img src="{picture}" alt="The map of the library: similar coins are close together"></a>'
    )


@st.cache_data(show_spinner=False, max_entries=4)
def _small(_chart: Map, _library: Library, root: Path, generation: int, at: float) -> str:
    """The picture as a data URI."""
    found = colours.by("subject", _chart.addresses, _library, scores={})
    low, high = _chart.points.min(axis=0), _chart.points.max(axis=0)
    room = np.array([_WIDTH, _HEIGHT]) - 2 * _MARGIN
    at_px = _MARGIN + (_chart.points - low) / np.maximum(high - low, 1e-9) * room
    shades = [colour for _, colour in found.legend]
    picture = Image.new("RGBA", (_WIDTH, _HEIGHT))
    pen = ImageDraw.Draw(picture)
    for (x, y), value in zip(at_px.tolist(), found.values.tolist(), strict=True):
        box = (x - _RADIUS, y - _RADIUS, x + _RADIUS, y + _RADIUS)
        pen.ellipse(box, fill=shades[value] if value < len(shades) else colours.OTHER)
    file = io.BytesIO()
    picture.save(file, "PNG")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"

"""The map component: where it finds its points, and the selection that it tells."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import streamlit as st

from components.map import requests
from components.map.colours import Colours
from components.map.points import PointTable
from components.shell import javascript
from components.shell.server import messages
from components.shell.session import safe_mode, session
from store import Reader
from store.maps import Neighbourhood

_HERE = Path(__file__).resolve().parent
_HTML = '<div class="memedex-atlas"></div>\n'
_component = st.components.v2.component(
    "memedex.atlas",
    html=_HTML,
    css=(_HERE / "canvas.css").read_text("utf-8"),
    js=javascript.component(_HERE / "js" / "main.js"),
)


def point_table(key: str, topic: Hashable) -> PointTable:
    """The points of a topic that this session's page has drawn; empty for another topic."""
    held = st.session_state.get(f"{key}.sheet")
    if not isinstance(held, PointTable) or held.topic != topic:
        held = st.session_state[f"{key}.sheet"] = PointTable(topic)
    return held


def show(
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

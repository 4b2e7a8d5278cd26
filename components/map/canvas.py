"""The map component: points in, a selection out; pictures of near points are sent on request."""

import base64
from collections.abc import Hashable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from components.map.colours import Colours
from components.map.points import Sheet
from components.shell import javascript, pictures, session
from store.errors import UnknownRecord
from store.reading.reader import Reader

_HERE = Path(__file__).resolve().parent
_HTML = '<div class="memedex-atlas"></div>\n'
_component = st.components.v2.component(
    "memedex.atlas",
    html=_HTML,
    css=(_HERE / "canvas.css").read_text("utf-8"),
    js=javascript.component(_HERE / "js" / "main.js"),
)
_PICTURES = 120  # cards sent at once


def point_sheet(key: str, topic: Hashable) -> Sheet:
    """What this session's page has drawn of a topic; empty for another topic."""
    held = st.session_state.get(f"{key}.sheet")
    if not isinstance(held, Sheet) or held.topic != topic:
        held = st.session_state[f"{key}.sheet"] = Sheet(topic)
    return held


def show(key: str, library: Reader, drawn: Sheet, colours: Colours) -> None:
    """Draw a sheet; the browser gets what changed of points and colours since it last did."""
    state = session.sent(key)
    values = np.zeros(len(drawn.addresses), np.uint8)
    values[drawn.rows(colours.addresses)] = colours.values
    data: dict[str, Any] = {
        "sheet": drawn.name,
        "version": drawn.version,
        "rows": drawn.since(state.get("knows")),
        "title": colours.title,
        "legend": [{"label": label, "colour": colour} for label, colour in colours.legend],
        "range": colours.range,
        "colouring": _digest(values, drawn.name),
        "cards": _cards(library, drawn, state.get("wanted")),
    }
    if state.get("coloured") != data["colouring"]:
        data["colours"] = base64.b64encode(values.tobytes()).decode()
    _component(
        key=key,
        data=data,
        on_wanted_change=_nothing,
        on_knows_change=_nothing,
        on_coloured_change=_nothing,
        on_chosen_change=_nothing,
    )


def chosen(key: str, drawn: Sheet) -> list[str]:
    """The addresses inside the lasso as last drawn on this sheet."""
    given = session.sent(key).get("chosen")
    if not isinstance(given, Mapping) or given.get("sheet") != drawn.name:
        return []
    try:
        bits = np.unpackbits(np.frombuffer(base64.b64decode(str(given.get("bits")), validate=True), np.uint8))
    except ValueError:
        return []
    return [drawn.addresses[row] for row in np.flatnonzero(bits).tolist() if drawn.standing(row)]


def _cards(library: Reader, drawn: Sheet, wanted: object) -> dict[str, dict[str, str]]:
    """Name and picture of the points that the map requests, by their number."""
    if not isinstance(wanted, Mapping) or wanted.get("sheet") != drawn.name:
        return {}
    asked = wanted.get("rows")
    found = {}
    for row in asked[:_PICTURES] if isinstance(asked, list) else []:
        if type(row) is int and drawn.standing(row):
            try:
                record = library.get(drawn.addresses[row])
            except UnknownRecord:
                continue
            found[str(row)] = {
                "name": record.name,
                "ticker": record.ticker,
                "picture": pictures.address(library, record.image_hash),
            }
    return found


def _digest(values: NDArray[np.uint8], name: str) -> str:
    return blake2b(values.tobytes() + name.encode(), digest_size=8).hexdigest()


def _nothing() -> None:
    """An empty listener, because Streamlit only reports values that have one."""

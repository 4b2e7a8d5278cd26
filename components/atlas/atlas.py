"""Points in, a selection out; the pictures of what is near are sent when the map asks for them."""

import base64
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import streamlit as st

from components import pictures
from components.atlas.colours import Colours
from components.scripts import joined
from store.errors import UnknownRecord
from store.maps import Map
from store.reading import Reader

_HERE = Path(__file__).resolve().parent
_HTML = '<div class="memedex-atlas"></div>\n'
_component = st.components.v2.component(
    "memedex.atlas",
    html=_HTML,
    css=(_HERE / "atlas.css").read_text("utf-8"),
    js=joined(_HERE / "js" / "main.js"),
)
_PICTURES = 120  # cards sent at once


def show(key: str, library: Reader, chart: Map, *, shown: Sequence[int], colours: Colours) -> None:
    """Draw these rows of a map; points are sent once for each map, colours whenever they change."""
    rows = np.asarray(shown, np.intp)
    points = np.ascontiguousarray(chart.points[rows])
    place = _digest(points, "\n".join(chart.addresses[row] for row in rows.tolist()).encode())
    state = _state(key)
    data: dict[str, Any] = {
        "map": place,
        "count": len(rows),
        "legend": [{"label": label, "colour": colour} for label, colour in colours.legend],
        "range": colours.range,
        "colouring": _digest(colours.values, str(colours.legend).encode()),
        "cards": _cards(library, chart, rows, state.get("wanted"), place),
    }
    if state.get("knows") != place:
        data["points"] = pa.table({"x": points[:, 0], "y": points[:, 1]})
    if state.get("coloured") != data["colouring"]:
        data["colours"] = base64.b64encode(colours.values[rows].astype(np.uint8).tobytes()).decode()
    _component(
        key=key,
        data=data,
        on_wanted_change=_nothing,
        on_knows_change=_nothing,
        on_coloured_change=_nothing,
        on_chosen_change=_nothing,
    )
    st.session_state[f"{key}.shown"] = (place, [chart.addresses[row] for row in rows.tolist()])


def chosen(key: str) -> list[str]:
    """The addresses inside the lasso, as it was last drawn on the map that is shown."""
    place, addresses = st.session_state.get(f"{key}.shown", ("", []))
    given = _state(key).get("chosen")
    if not isinstance(given, Mapping) or given.get("map") != place:
        return []
    try:
        bits = np.unpackbits(np.frombuffer(base64.b64decode(str(given.get("bits")), validate=True), np.uint8))
    except ValueError:
        return []
    return [addresses[row] for row in np.flatnonzero(bits[: len(addresses)]).tolist()]


def _cards(library: Reader, chart: Map, rows: Any, wanted: object, place: str) -> dict[str, dict[str, str]]:
    """Name and picture of the points that the map would like to show, by their number."""
    if not isinstance(wanted, Mapping) or wanted.get("map") != place:
        return {}
    asked = wanted.get("rows")
    found = {}
    for row in asked[:_PICTURES] if isinstance(asked, list) else []:
        if isinstance(row, int) and 0 <= row < len(rows):
            try:
                record = library.get(chart.addresses[rows[row]])
            except UnknownRecord:
                continue
            found[str(row)] = {
                "name": record.name,
                "ticker": record.ticker,
                "picture": pictures.address(library, record.image_hash),
            }
    return found


def _digest(values: Any, more: bytes) -> str:
    return blake2b(values.tobytes() + more, digest_size=8).hexdigest()


def _state(key: str) -> Mapping[str, Any]:
    state = st.session_state.get(key)
    return state if isinstance(state, Mapping) else {}


def _nothing() -> None:
    """Streamlit reports a value only where somebody listens."""

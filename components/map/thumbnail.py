"""The map of the library as a small picture, which leads to it."""

import base64
import io
from pathlib import Path

import numpy as np
import streamlit as st
from PIL import Image, ImageDraw

from components.map import colours
from components.shell.addresses import base_path
from components.shell.page import places
from store import Library
from store.errors import ModelUnavailable
from store.maps import Map
from store.settings import settings

_WIDTH, _HEIGHT, _MARGIN, _RADIUS = 720, 440, 14, 5  # px, for screens of two pixels a point
_STYLE = """<style>
.memedex-map {display:block; border-radius:8px;
  border:1px solid color-mix(in srgb, currentColor 16%, transparent)}
.memedex-map:is(:hover, :focus-visible) {background:color-mix(in srgb, currentColor 5%, transparent)}
.memedex-map img {display:block; width:100%; max-height:17rem; object-fit:contain}
</style>"""


def show(library: Library) -> None:
    """Draw it with its heading, as a link to the map; nothing until a layout is stored."""
    try:
        chart = library.maps.stored("fused")
    except ModelUnavailable:
        return
    if chart is None or not chart.addresses:
        return
    picture = _drawn(chart, library, settings().root, library.generation, chart.at)
    href = f"{base_path()}/{places.address(places.MAP)}"
    st.header("Map", anchor=False)
    st.html(
        f'{_STYLE}<a class="memedex-map memedex-link" target="_self" href="{href}">'
        f'<img src="{picture}" alt="The map of the library: similar coins are close together"></a>'
    )


@st.cache_data(show_spinner=False, max_entries=4)
def _drawn(_chart: Map, _library: Library, root: Path, generation: int, at: float) -> str:
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

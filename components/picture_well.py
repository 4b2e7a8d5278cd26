"""A small place for a picture to search by: drop it there, paste it anywhere, or choose a file."""

import base64
import binascii
from pathlib import Path

import streamlit as st

MOST_BYTES = 8_000_000

_HTML = """
<label class="well" tabindex="0">
  <input type="file" accept="image/*" hidden>
  <img alt="" hidden>
  <span class="hint"></span>
  <button type="button" class="clear" aria-label="Take the picture away" hidden>×</button>
</label>
"""

_ASSETS = Path(__file__).parent / "assets"
_WELL = st.components.v2.component(
    "memedex.picture_well",
    html=_HTML,
    css=(_ASSETS / "picture_well.css").read_text(encoding="utf-8"),
    js=(_ASSETS / "picture_well.js").read_text(encoding="utf-8"),
)


def picture(*, key: str) -> bytes | None:
    """The picture that lies in the well, as it was given."""
    held = st.session_state.get(key) or {}
    result = _WELL(
        key=key,
        data={"picture": held.get("picture")},
        on_picture_change=lambda: None,
    )
    return _content(result.picture)


def _content(given: object) -> bytes | None:
    """The bytes of a data address, under the limit; None for anything else a browser might send."""
    text = given.get("data") if isinstance(given, dict) else None
    if (
        not isinstance(text, str)
        or not text.startswith("data:image/")
        or len(text) > MOST_BYTES * 4 // 3 + 200
    ):
        return None
    try:
        return base64.b64decode(text.partition(",")[2], validate=True) or None
    except binascii.Error:
        return None

"""A place for a picture to search with: drop or paste it anywhere on the page, or choose a file."""

import base64
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from components.shell import javascript
from components.shell.session import session

MOST_BYTES = 8_000_000

_HTML = """
<label class="well" tabindex="0">
  <input type="file" accept="image/*" hidden>
  <span class="hint"></span>
</label>
"""

_ASSETS = Path(__file__).parent
_WELL = st.components.v2.component(
    "memedex.picture_well",
    html=_HTML,
    css=(_ASSETS / "picture_drop.css").read_text(encoding="utf-8"),
    js=javascript.component(_ASSETS / "picture_drop.js"),
)


def picture(take: Callable[[bytes], None], *, key: str) -> None:
    """A place to drop, paste or choose a picture; `take` gets its bytes before the page runs."""

    def changed() -> None:
        given = session.sent(key).get("picture")
        if content := _content(given):
            take(content)

    _WELL(key=key, on_picture_change=changed)


def _content(text: object) -> bytes | None:
    """The bytes of a data URL, within the limit; None for anything else that a browser might send."""
    if (
        not isinstance(text, str)
        or not text.startswith("data:image/")
        or len(text) > MOST_BYTES * 4 // 3 + 200
    ):
        return None
    try:
        return base64.b64decode(text.partition(",")[2], validate=True) or None
    except ValueError:  # not base64, or not even ASCII
        return None

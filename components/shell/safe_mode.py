"""Safe mode: pictures of coins that are unfit for the screen are blurred until somebody clicks them.

The server blurs, so every picture of such a coin is blurred wherever it is drawn. A cookie says whether a
browser is in safe mode; `?safe=1` or `?safe=0` in the address of a page sets it. Else the setting counts.
"""

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from urllib.parse import parse_qs

import streamlit as st
from PIL import Image, ImageFilter
from starlette.types import Scope

from components.shell import javascript
from components.shell.base_path import base_path
from store.settings import settings

COOKIE = "memedex_safe"
MARK = "unfit"  # the parameter of a picture's address that may be blurred …
SHOWN = "shown"  # … and of one that somebody clicked
_YEAR = 31_536_000  # seconds
_DETAIL = 10  # pixels of the longer side that are left
_HERE = Path(__file__).resolve().parent

_component = st.components.v2.component(
    "memedex.safe_mode",
    html='<div class="memedex-safe"></div>',
    css=(_HERE / "safe_mode.css").read_text("utf-8"),
    js=javascript.component(_HERE / "safe_mode.js"),
)


def is_on(cookies: Mapping[str, str]) -> bool:
    """Whether the browser with these cookies is in safe mode."""
    chosen = cookies.get(COOKIE)
    return chosen == "1" if chosen in ("0", "1") else settings().safe_mode


def cookie(scope: Scope) -> str | None:
    """The cookie to set for a request whose address switches safe mode on or off; None for any other."""
    asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("safe", [""])[-1]
    if scope.get("method") != "GET" or asked not in ("0", "1"):
        return None
    return f"{COOKIE}={asked}; Path={base_path() or '/'}; Max-Age={_YEAR}; SameSite=Lax; HttpOnly"


def switch() -> None:
    """The switch in the header; once on a page is enough."""
    _component(
        key="memedex-safe-mode",
        data={"isOn": is_on(st.context.cookies), "mark": MARK, "shown": SHOWN},
        width="content",
    )


def blurred(path: Path) -> bytes:
    """A WebP of the same size as the picture at this path, in which nothing can be made out."""
    with Image.open(path) as image:
        small = image.convert("RGB")
        size = small.size
    small.thumbnail((_DETAIL, _DETAIL), Image.Resampling.BOX)
    soft = small.resize(size, Image.Resampling.BICUBIC).filter(ImageFilter.GaussianBlur(max(size) / 24))
    file = BytesIO()
    soft.save(file, "WEBP", quality=60)
    return file.getvalue()

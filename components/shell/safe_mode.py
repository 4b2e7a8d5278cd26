"""Safe mode: pictures of coins that are unfit for the screen are blurred until somebody clicks them.

The server blurs, so every picture of such a coin is blurred, on all pages.
"""

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import streamlit as st
from PIL import Image, ImageFilter

from components.shell import javascript, presenter
from components.shell.browser_switch import BrowserSwitch
from store.settings import settings

SWITCH = BrowserSwitch("safe", "memedex_safe", lambda: settings().safe_mode)
MARK = "unfit"  # the parameter of a picture's address that may be blurred …
SHOWN = "shown"  # … and of one that somebody clicked
_DETAIL = 10  # pixels of the longer side that are left
_HERE = Path(__file__).resolve().parent

_SAFE = {
    "label": "Safe mode",
    "parameter": SWITCH.parameter,
    "title": "Pictures unfit for the screen are blurred until you click them",
}
_PRESENTER = {
    "label": "Present",
    "parameter": presenter.SWITCH.parameter,
    "title": "For a screen that others see: larger type, safe mode, no names of people, no passing messages",
}

_component = st.components.v2.component(
    "memedex.safe_mode",
    html='<div class="memedex-safe"></div>',
    css=(_HERE / "safe_mode.css").read_text("utf-8"),
    js=javascript.component(_HERE / "safe_mode.js"),
)


def is_on(cookies: Mapping[str, str]) -> bool:
    """Whether the browser with these cookies is in safe mode; one that presents always is."""
    return presenter.SWITCH.is_on(cookies) or SWITCH.is_on(cookies)


def parameters() -> dict[str, str] | None:
    """The parameters of blurred and of shown pictures, as scripts need them; None outside safe mode."""
    return {"mark": MARK, "shown": SHOWN} if is_on(st.context.cookies) else None


def switches() -> None:
    """The switches in the header for safe mode and for presenting; once on a page is enough."""
    presents = presenter.is_on()
    _component(
        key="memedex-safe-mode",
        data={
            "isOn": is_on(st.context.cookies),
            "switches": [_PRESENTER | {"isOn": presents}]
            + ([] if presents else [_SAFE | {"isOn": SWITCH.is_on(st.context.cookies)}]),
            "mark": MARK,
            "shown": SHOWN,
        },
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

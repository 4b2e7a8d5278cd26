"""Safe mode: pictures of coins that are unfit for the screen are blurred until somebody clicks them.

The server blurs, so every picture of such a coin is blurred, on all pages, and it leaves out what the coin is
called: a page in safe mode does not hold its name, its ticker and its texts.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import streamlit as st
from PIL import Image, ImageFilter

from components.shell import javascript
from components.shell.session import presenter
from components.shell.session.presenter import BrowserSwitch
from store import Reader, Record
from store.errors import UnknownRecord
from store.settings import settings

SWITCH = BrowserSwitch("safe", "memedex_safe", lambda: settings().safe_mode)
MARK = "unfit"  # the parameter of a picture's address that may be blurred …
SHOWN = "shown"  # … and of one that somebody clicked
HIDDEN = "Hidden by safe mode"  # in place of a name
_TICKER = "•••"
_KEPT = ("token_address", "created_at", "created_at_is_import_time", "tags", "tags_categories", "unfit")
_DETAIL = 10  # pixels of the longer side that are left

_SAFE = {
    "label": "Safe mode",
    "parameter": SWITCH.parameter,
    "title": "Pictures unfit for the screen are blurred until you click them; their coins' names are hidden",
}
_PRESENTER = {
    "label": "Present",
    "parameter": presenter.SWITCH.parameter,
    "title": "For a screen that others see: larger type, safe mode, no names of people, no passing messages",
}

_component = javascript.mounted(
    "safe_mode",
    '<div class="memedex-safe"></div>',
    script="shell/session/safe_mode.js",
    style="shell/session/safe_mode.css",
)


def is_on(cookies: Mapping[str, str]) -> bool:
    """Whether the browser with these cookies is in safe mode; one that presents always is."""
    return presenter.SWITCH.is_on(cookies) or SWITCH.is_on(cookies)


def shown(library: Reader, record: Record, *, unfit: Collection[str] | None = None) -> Record:
    """The record as a page may show it: in safe mode, an unfit coin without its name, ticker and texts.

    `unfit`: what `library.unfit.pictures()` just answered, where many are asked for. Never to be stored.
    """
    if not is_on(presenter.cookies()):
        return record
    if record.image_hash:
        hides = record.image_hash in (library.unfit.pictures() if unfit is None else unfit)
    else:
        hides = bool(library.unfit.of(record.address))
    if not hides:
        return record
    kept = {key: value for key, value in record.sidecar.items() if key in _KEPT}
    caption = dict.fromkeys(record.caption, HIDDEN)
    called = {"token_name": HIDDEN, "ticker": _TICKER, "description": "", "caption": caption}
    return replace(record, sidecar=kept | called)


def shown_name(library: Reader, address: str, name: str) -> str:
    """The name of the coin at this address as a page may show it, also if the coin is no more."""
    if not is_on(presenter.cookies()):
        return name
    try:
        record = library.get(address)
    except UnknownRecord:
        return name
    return name if shown(library, record) is record else HIDDEN


def parameters() -> dict[str, str] | None:
    """The parameters of blurred and of shown pictures, as scripts need them; None outside safe mode."""
    return {"mark": MARK, "shown": SHOWN} if is_on(st.context.cookies) else None


def switches() -> list[dict[str, Any]]:
    """The switches of this browser: for presenting, which includes safe mode, and for safe mode."""
    presents = presenter.is_on()
    own = [] if presents else [_SAFE | {"isOn": SWITCH.is_on(st.context.cookies)}]
    return [_PRESENTER | {"isOn": presents}, *own]


def watch(*, drawn: Sequence[dict[str, Any]]) -> None:
    """Show blurred pictures that are clicked, and these switches; once on a page is enough."""
    _component(
        key="memedex-safe-mode",
        data={"isOn": is_on(st.context.cookies), "switches": drawn, "mark": MARK, "shown": SHOWN},
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

"""Small pictures of coins outside of the grid; as everywhere, safe mode blurs those that are unfit."""

from collections.abc import Iterable
from html import escape

import streamlit as st

from components.shell.server import pictures
from components.shell.session import safe_mode
from store import Reader, Record

SHOWN = 3
_SIDE = 32  # px
_GAP = 4  # px
WIDTH = SHOWN * (_SIDE + _GAP)  # px, of a row


def picture(library: Reader, record: Record, *, width: int) -> None:
    """The picture of one coin, so many pixels wide."""
    source = pictures.address(library, record.image_hash)
    name = f"Picture of {safe_mode.shown(library, record).name}"
    st.html(
        f'<img src="{escape(source)}" alt="{escape(name)}" width="{width}" height="{width}">', width=width
    )


def row(library: Reader, addresses: Iterable[str]) -> None:
    """The first three of these coins that have a picture; as wide without them, so that rows align."""
    wanted = list(dict.fromkeys(addresses))[:SHOWN]
    shown = "".join(
        f'<img src="{escape(pictures.address(library, record.image_hash, size=pictures.TINY))}" alt="" '
        f'width="{_SIDE}" height="{_SIDE}" loading="lazy" '
        f'style="border-radius:50%;object-fit:cover;margin-right:{_GAP}px">'
        for record in library.records(wanted)
        if record.image_hash
    )
    st.html(f'<div style="height:{_SIDE}px;white-space:nowrap">{shown}</div>', width=WIDTH)

"""A button that saves coins as one HTML file, for people who have no Memedex."""

from collections.abc import Sequence

import streamlit as st

from store import Library
from store.showcase import MOST, Asked, page


def button(library: Library, addresses: Sequence[str], *, key: str, asked: Asked | None = None) -> None:
    """Save the first of these coins of the library, ranked by what was asked or by likeness."""
    coins = list(addresses[:MOST])
    st.download_button(
        "Save as a file", lambda: page(library, coins, asked=asked), "memedex.html", "text/html",
        key=key, icon=":material/file_save:", type="tertiary", on_click="ignore", disabled=not coins,
        help=f"One HTML page with pictures, captions and sliders of up to {MOST} coins of the library. It "
        "works without Memedex and without internet, also from an e-mail.",
    )  # fmt: skip

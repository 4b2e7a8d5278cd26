"""The browser's way back, from any page to the one before as it was."""

from pathlib import Path

import streamlit as st

_ASSETS = Path(__file__).parent / "assets"
_component = st.components.v2.component(
    "memedex.back_button", js=(_ASSETS / "back_button.js").read_text(encoding="utf-8")
)


def keep_whole() -> None:
    """Have "back" lead to what was asked and chosen on the page before; once on a page is enough."""
    _component(key="memedex-back-button")

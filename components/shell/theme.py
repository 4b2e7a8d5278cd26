"""The current theme, for what has to be drawn again when it is switched in the menu."""

from pathlib import Path

import streamlit as st

_component = st.components.v2.component(
    "memedex.theme",
    html='<i class="memedex-theme"></i>',
    css=".memedex-theme { position: absolute; color: var(--st-text-color); transition: color 1ms; }",
    js=(Path(__file__).parent / "theme.js").read_text(encoding="utf-8"),
)


def followed(*, key: str) -> str:
    """ "dark" or "light"; the page reruns when it is switched. "" without a browser."""
    _component(key=key, on_switched_change=lambda: None)
    return st.context.theme.type or ""

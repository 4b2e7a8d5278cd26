"""The browser's Back button: leads to the previous page in its former state."""

from pathlib import Path

import streamlit as st

from components.shell import javascript

_component = st.components.v2.component(
    "memedex.back_button", js=javascript.component(Path(__file__).with_name("back_button.js"))
)


def keep_whole() -> None:
    """Keep what was asked and selected on this page in the browser's history; once on a page is enough."""
    _component(key="memedex-back-button")

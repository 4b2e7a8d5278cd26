"""Keeps what is being typed: each pause hands it to the server, and Ctrl-S saves.

A text area tells the server nothing before it loses the focus; a browser that ends before that would take
the words with it. Streamlit commits a text area on Ctrl-Enter, so that is what a pause sends.
"""

from pathlib import Path

import streamlit as st

_SCRIPT = Path(__file__).parent / "assets" / "keeper.js"
_KEEPER = st.components.v2.component(
    "memedex.keeper", js=_SCRIPT.read_text(encoding="utf-8"), html="<span hidden></span>"
)


def keep(*, form: str, save: str) -> None:
    """Watch the text areas in the container of key `form`; Ctrl-S presses the button of key `save`."""
    _KEEPER(data={"form": form, "save": save}, key=f"{form}-keeper", height=1)

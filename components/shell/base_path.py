"""The path below which the server serves the app."""

from functools import cache

import streamlit as st


@cache  # asked for with each picture, and never changed while the server runs
def base_path() -> str:
    """The path below which the whole app lies, "" for the root."""
    path = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""

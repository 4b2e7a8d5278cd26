"""The path below which the server serves the app."""

import streamlit as st


def base_path() -> str:
    """The path below which the whole app lies, "" for the root."""
    path = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""

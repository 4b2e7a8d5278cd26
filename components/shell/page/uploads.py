"""Where files are dropped, with our own words: Streamlit's are "200MB per file" and every ending."""

import hashlib
import json
from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.uploaded_file_manager import UploadedFile

from components.shell.page import streamlit_style


def files(
    label: str, endings: Sequence[str], kinds: str, *, key: str, hint: str | None = None
) -> list[UploadedFile]:
    """The files dropped here, in any number; `kinds` says which, for people."""
    with _described(kinds, key):
        return st.file_uploader(label, type=[*endings], accept_multiple_files=True, key=key, help=hint)


def file(label: str, endings: Sequence[str], kinds: str, *, key: str) -> UploadedFile | None:
    """The one file dropped here, if any."""
    with _described(kinds, key):
        return st.file_uploader(label, type=[*endings], key=key)


def _described(kinds: str, key: str) -> DeltaGenerator:
    """A container in which Streamlit's words are replaced by these and the limit."""
    name = f"upload-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
    words = json.dumps(f"{kinds} · up to {st.get_option('server.maxUploadSize')} MB", ensure_ascii=False)
    place = f".st-key-{name} {streamlit_style.UPLOAD_HINT}"
    st.html(
        f"<style>{place} > * {{display: none}}\n"
        f"{place}::after {{content: {words}; font-size: .875rem; opacity: .75}}</style>"
    )
    return st.container(key=name)

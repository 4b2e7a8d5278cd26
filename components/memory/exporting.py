"""Download one kind of the text memory in the layout of its reference."""

import shutil
import tempfile
from pathlib import Path

import streamlit as st

from components.memory.kinds import KINDS
from store import Memory
from store.memory.values import DOCUMENTS, TRANSCRIPTS

_ENDINGS = {DOCUMENTS: ".jsonl", TRANSCRIPTS: ".sqlite3"}


def show(memory: Memory) -> None:
    """A choice of kind, and a button that writes the file when it is pressed."""
    st.header("Export the text memory", anchor=False)
    with st.container(border=True):
        kind = st.selectbox("Kind", list(KINDS), format_func=lambda name: KINDS[name].label)
        ending = _ENDINGS.get(kind, ".zip")
        if ending == ".zip":
            st.caption("A Chroma folder with documents and metadata, as a zip.")
        st.download_button(
            "Download", lambda: _content(memory, kind), f"{kind}{ending}",
            key="memedex.export_memory", icon=":material/download:", on_click="ignore",
            disabled=not memory.entries(kind).count(),
        )  # fmt: skip


def _content(memory: Memory, kind: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{kind}{_ENDINGS.get(kind, '')}"
        memory.export(path, kinds=[kind])
        if path.is_dir():
            path = Path(shutil.make_archive(str(path), "zip", path))
        return path.read_bytes()

"""Add a golden query: its question, and the relevant coins chosen by their pictures."""

from functools import partial
from html import escape

import streamlit as st

from components.shell import format
from components.shell.page import forms
from components.shell.page.forms import Button
from components.shell.server import pictures
from components.shell.session import resources, safe_mode
from store import Library, MemedexError, Part, Query, Record

_OFFERED = 12  # coins for each line
_LINE, _FIND = "golden_line", "golden_find"


def show(library: Library) -> None:
    """The question, the coins that may answer it, and the button that adds those that are ticked."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        line = st.text_input(
            "Query", key=_LINE, persist_state="session", placeholder="a frog in the rain"
        ).strip()
        find = st.text_input(
            "Look for more coins", key=_FIND, persist_state="session", placeholder="a name, or other words"
        ).strip()
    if not line:
        st.caption("Type a query and press Enter: then choose the coins that are relevant to it.")
        return
    try:
        offered = _offered(library, [text for text in (line, find) if text])
    except MemedexError as error:
        st.error("No coins can be offered:", icon=":material/error:")
        st.text(str(error))
        return
    st.caption("Which of these coins are relevant?")
    with st.grid(_OFFERED // 2, min_column_width=120, gap="small") as grid:
        for record in offered:
            with grid.cell():
                _coin(library, record, line)
    chosen = [record.address for record in offered if st.session_state.get(_key(record, line))]
    forms.button(
        "golden", library, partial(library.golden.save, line, chosen), message="Added",
        button=Button(
            f"Add with {format.counted(len(chosen), 'relevant coin')}", icon="add", kind="primary",
            disabled=not chosen, help="" if chosen else "Choose at least one relevant coin.",
        ),
    )  # fmt: skip


def _offered(library: Library, lines: list[str]) -> list[Record]:
    resources.ready_to_search(library)
    found: dict[str, None] = {}
    for line in lines:
        answer = library.search(Query((Part(text=line),), top=_OFFERED, fused=True))
        found |= dict.fromkeys(hit.address for hit in answer.hits)
    return library.records(found)


def _coin(library: Library, record: Record, line: str) -> None:
    address = escape(pictures.address(library, record.image_hash))
    st.html(f'<img src="{address}" alt="" loading="lazy" style="width:100%;border-radius:0.5rem">')
    st.checkbox(format.plain(safe_mode.shown(library, record).name, limit=24), key=_key(record, line))


def _key(record: Record, line: str) -> str:
    return f"golden-{line[:60]}-{record.address}"

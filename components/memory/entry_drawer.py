"""One entry in a drawer: its text to edit, its place, neighbours, vector and history."""

from collections.abc import Callable
from functools import partial
from typing import Any
from zlib import crc32

import numpy as np
import streamlit as st

from components.memory import connections, entry_link, markup
from components.memory.kinds import KINDS, around, place_of, text_of
from components.shell import format
from components.shell.page import charts, forms, tables
from components.shell.page.forms import Button, Field, Sent
from components.shell.session import presenter
from store import Library, MemedexError, Memory
from store.memory.values import Recall, Row, changed_meanwhile, marked_page

_RECALL: tuple[tuple[Recall, str, str, str], ...] = (
    ("pinned", "keep", "Pin", "In every prompt of its world, session or protocol"),
    ("never", "visibility_off", "Never recall", "In no prompt and no answer; it stays here"),
)
_OFF = {"pinned": "Unpin", "never": "Recall again"}
_FIELDS = {"documents": "content", "memories": "content", "transcript_vectors": "source_text"}


def show_if_open(library: Library, memory: Memory) -> None:
    """Show the drawer if the page's address names an entry."""
    kind, _, id = st.query_params.get(entry_link.PARAM, "").partition(":")
    if not id:
        return
    try:
        row = memory.entries(kind).get(id)
    except MemedexError as error:
        entry_link.close_entry()
        st.warning("This entry is not there (any more).", icon=":material/link_off:")
        st.text(str(error))
        return
    shown = KINDS[kind]
    st.dialog(
        f"{shown.label}: {format.plain(place_of(kind, row), limit=60)}",
        width=640, position="right", icon=shown.icon, on_dismiss=entry_link.close_entry,
    )(_drawer)(library, memory, kind, row)  # fmt: skip


def _drawer(library: Library, memory: Memory, kind: str, row: Row) -> None:
    _text(library, memory, kind, row)
    if kind == "documents":
        if memory.can_write:
            _recut(library, memory, row)
        _pages(memory, row)
    chosen = st.segmented_control(
        "About", [*_PARTS, "Coins"], default="Context", required=True,
        key="memedex.entry_about", label_visibility="collapsed",
    )  # fmt: skip
    if chosen == "Coins":
        connections.of_text(library, text_of(kind, row))
    else:
        _PARTS[chosen](memory, kind, row)


def _text(library: Library, memory: Memory, kind: str, row: Row) -> None:
    text = text_of(kind, row)
    key, base = f"{kind}-{row['id']}", str(crc32(text.encode()))
    if not memory.can_write:
        st.text_area("Text", text, height=220, disabled=True, label_visibility="collapsed")
        return

    def save(given: Sent) -> str:
        if given["base"] != base:
            raise changed_meanwhile(row["id"])
        new = {_FIELDS.get(kind, "text"): given["text"]}
        memory.entries(kind).edit(row["id"], was=text, decision=given.decision, **new)
        return "Saved and embedded again."

    def delete(sent: Sent) -> str:
        memory.entries(kind).remove([row["id"]], decision=sent.decision)
        return "Removed; undo brings it back."

    is_saved = forms.show(
        f"entry-text-{key}", library, save,
        fields=[
            Field("text", "Text", "text", value=text, height=220, is_labelled=False),
            Field("base", "Base", "base", value=base),
        ],
        button=Button("Save and embed again", icon="save", kind="primary"),
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        is_deleted = forms.show(
            f"entry-delete-{key}", library, delete, button=Button("Remove", icon="delete")
        )
        is_recalled = _recall(library, memory, kind, row["id"])
        st.caption(f"{len(text):,} characters")
    if is_saved or is_deleted:
        entry_link.close_entry()
    if is_saved or is_deleted or is_recalled:
        st.rerun()


def _recut(library: Library, memory: Memory, row: Row) -> None:
    """Make a passage one with the next, or two; undo takes it back."""

    def merge(sent: Sent) -> str:
        memory.documents.merge_with_next(row["id"], decision=sent.decision)
        return "Merged with the passage after it; undo parts them."

    def split(given: Sent) -> str:
        memory.documents.split(row["id"], given["at"], decision=given.decision)
        return "Split in two; undo joins them."

    with st.expander("Merge or split", icon=":material/call_split:"):
        is_done = forms.show(
            f"passage-merge-{row['id']}", library, merge,
            button=Button("Merge with the next passage", icon="merge"),
        ) | forms.show(
            f"passage-split-{row['id']}", library, split,
            fields=[Field("at", "The second part begins with", placeholder="its first words, as they stand")],
            button=Button("Split", icon="call_split"),
        )  # fmt: skip
    if is_done:
        st.rerun()


def _pages(memory: Memory, row: Row) -> None:
    """The pages of a PDF with the passage marked, and the file; of other papers the file alone."""
    try:
        cited = memory.documents.cite(row["id"])
        pictures = [
            (page, marks, marked_page(cited.path.read_bytes(), name=row["source"], page=page, marks=marks))
            for page, marks in (cited.pages if cited.path.suffix == ".pdf" else ())
        ]
    except MemedexError as error:
        st.warning("The page cannot be shown:", icon=":material/broken_image:")
        st.text(str(error))
        return
    for page, marks, picture in pictures:
        with st.expander(f"Page {page}", icon=":material/description:", expanded=True):
            st.image(picture, width="stretch", alt=f"Page {page} of {row['source']}")
            if not marks:
                st.caption("The passage was edited, so it cannot be marked on the page.")
    st.download_button(
        f"Open {format.plain(row['source'], limit=40)}", cited.path.read_bytes, file_name=row["source"],
        icon=":material/download:", on_click="ignore",
    )  # fmt: skip


def _recall(library: Library, memory: Memory, kind: str, id: str) -> bool:
    """Buttons that pin the entry or leave it out of all contexts; whether one was pressed."""
    state = memory.recall_of(id, kind=kind)
    pressed = False
    for wanted, icon, label, about in _RECALL:
        is_on = state == wanted
        pressed |= forms.show(
            f"entry-{wanted}-{kind}-{id}", library,
            partial(_set_recall, memory, kind, id, "" if is_on else wanted),
            button=Button(_OFF[wanted] if is_on else label, icon=icon, help=about),
        )  # fmt: skip
    return pressed


def _set_recall(memory: Memory, kind: str, id: str, state: Recall, sent: Sent) -> str:
    memory.set_recall([id], state, kind=kind, decision=sent.decision)
    return ""


def _surroundings(memory: Memory, kind: str, row: Row) -> None:
    before, after = around(memory, kind, row, reach=2)
    if not (before or after):
        st.caption("No neighbouring entries.")
        return
    st.text("\n\n".join(before))
    st.divider()
    st.markdown("*this entry*")
    st.divider()
    st.text("\n\n".join(after))


def _near(memory: Memory, kind: str, row: Row) -> None:
    found = memory.nearest(row["id"], kind=kind)
    if not found:
        st.caption("Nothing is near it, or it has no vector of this model yet.")
    markup.listed(
        markup.line(kind, other, text_of(kind, other), lead=f"<b>{cosine:.3f}</b>") for other, cosine in found
    )


def _vector(memory: Memory, kind: str, row: Row) -> None:
    vector = memory.entries(kind).vector(row["id"])
    if vector is None:
        st.caption("It has no vector yet.")
        return
    tables.show(_figures(vector, row["embedding_model"]), alt="The vector in figures")
    charts.show(charts.values(vector), key="vector", alt="The numbers of the vector in their order")


def _figures(vector: Any, model: str | None) -> list[dict[str, str]]:
    figures = {
        "model": model or "unknown",
        "numbers": f"{len(vector):,}",
        "length": f"{np.linalg.norm(vector):.4f}",
        "mean": f"{vector.mean():+.4f}",
        "deviation": f"{vector.std():.4f}",
        "smallest": f"{vector.min():+.4f}",
        "largest": f"{vector.max():+.4f}",
        "zeros": f"{int((vector == 0).sum()):,}",
    }
    return [{"what": name, "figure": value} for name, value in figures.items()]


def _metadata(memory: Memory, kind: str, row: Row) -> None:
    hidden = {*_FIELDS.values(), "text"}
    tables.fields({name: value for name, value in row.items() if value is not None and name not in hidden})


def _versions(memory: Memory, kind: str, row: Row) -> None:
    found = memory.entries(kind).versions(row["id"])
    rows = [
        {
            "since": tables.moment(version.created_at) if version.created_at else None,
            "until": tables.moment(version.superseded_at) if version.superseded_at else None,
            "what": version.verb or "was there before",
            "who": presenter.author(version.actor, version.agent) or "unknown",
            "through": version.via or "unknown",
        }
        for version in found
    ]
    tables.show(
        rows,
        alt="The versions of this entry, newest first",
        columns={"since": tables.when(), "until": tables.when()},
    )
    for version in found[1:]:
        if version.row is not None:
            author = presenter.author(version.actor, version.agent) or "unknown"
            with st.expander(f"Version by {format.plain(author)}, {version.verb or 'first'}"):
                st.text(text_of(kind, version.row))


_PARTS: dict[str, Callable[[Memory, str, Row], None]] = {
    "Context": _surroundings,
    "Similar": _near,
    "Vector": _vector,
    "Metadata": _metadata,
    "Versions": _versions,
}

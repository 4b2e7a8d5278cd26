"""What an import would bring: each kind of file, how its fields map, an example, what would be refused."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from typing import Any

import streamlit as st

from components.shell import format
from components.shell.page import uploads
from components.shell.session import safe_mode
from store import MemedexError, Refusal
from store.disk import images
from store.importing import Candidate, names, preview

_SEEN = "memedex.import_preview"
_HOLD = {"guess": "As guessed", "tags": "Tags", "sentence": "A sentence"}
_SHOWN = 8  # fields of an example
_LINE = 160  # signs of one of them
_SIDE = 96  # px of its picture

Read = Callable[[preview.Choices, preview.ImportPreview], Iterable[Candidate | Refusal]]


def show(read: Read, *, about: Hashable) -> preview.Choices:
    """Show what `read` would bring; returns what the person chose. `about` tells one import from another."""
    key = f"{_SEEN}.{hash(about):x}"
    choices = _chosen(key)
    with st.spinner("Looking …"):
        shown = _preview(read, about=(about, repr(choices)), choices=choices)
    with st.container(border=True, key=f"{_SEEN}-{hash(about):x}"):
        st.markdown(f"**{format.counted(shown.coins, 'coin')} would come in**")
        for kind in sorted(shown.kinds.values(), key=lambda kind: -kind.coins):
            _kind(kind)
        _ask(key, shown)
        if shown.refused:
            uploads.refused(shown.refused)
    return choices


def _preview(read: Read, *, about: Hashable, choices: preview.Choices) -> preview.ImportPreview:
    """The preview of an import, read once for as long as nothing about it changes."""
    known: tuple[Hashable, preview.ImportPreview] | None = st.session_state.get(_SEEN)
    if known is None or known[0] != about:
        shown = preview.ImportPreview()
        for _ in read(choices, shown):
            pass
        known = st.session_state[_SEEN] = (about, shown)
    return known[1]


def _chosen(key: str) -> preview.Choices:
    """What was chosen in the last run: the widgets that ask stand below what they change."""
    columns = st.session_state.get(f"{key}.columns", [])
    edited: Mapping[int, Mapping[str, str]] = (st.session_state.get(f"{key}.fields") or {}).get(
        "edited_rows", {}
    )
    fields = {columns[int(row)]: new["counts as"] for row, new in edited.items() if new.get("counts as")}
    return preview.Choices(fields, st.session_state.get(f"{key}.texts") or "guess")


def _kind(kind: preview.FileKind) -> None:
    named = ", ".join(kind.names) + (", …" if kind.files > len(kind.names) else "")
    st.markdown(f"{format.plain(kind.title[:1].upper() + kind.title[1:])} · {kind.summary}")
    said = [named, *(f"{count:,} read as {name}" for name, count in kind.encodings.items()), kind.texts]
    st.caption(format.plain(" · ".join(filter(None, said)), limit=400))
    if kind.remote:
        st.caption("Pictures on the network are fetched after the import, if you want.")
    if kind.example is None:
        return
    with st.container(horizontal=True, vertical_alignment="top"):
        if isinstance(kind.example, Candidate) and not safe_mode.is_on(st.context.cookies):
            with suppress(MemedexError, OSError):
                st.image(images.decode(kind.example.picture), width=_SIDE)
        lines = [f"{key}: {value}" for key, value in kind.shown().items()][:_SHOWN]
        st.text("\n".join(line if len(line) <= _LINE else f"{line[:_LINE]}…" for line in lines))


def _ask(key: str, shown: preview.ImportPreview) -> None:
    """What columns count as and what texts hold, where a person may know better."""
    fields = {name: meant for kind in shown.kinds.values() for name, meant in kind.fields.items()}
    values = {name: value for kind in shown.kinds.values() for name, value in kind.values.items()}
    if any(kind.texts for kind in shown.kinds.values()):
        st.segmented_control(
            "Texts beside pictures hold", names.TEXTS, key=f"{key}.texts", default="guess", required=True,
            format_func=lambda one: _HOLD[one],
        )  # fmt: skip
    if not fields:
        return
    rows = [
        {"field": name, "counts as": meant or names.KEPT, "for example": values.get(name, "")}
        for name, meant in fields.items()
    ]
    st.session_state[f"{key}.columns"] = [*fields]
    columns: dict[str, Any] = {
        "field": st.column_config.TextColumn("Column or key", disabled=True),
        "counts as": st.column_config.SelectboxColumn(
            "Counts as", options=[*names.FIELDS, names.KEPT, names.LEFT_OUT], required=True
        ),
        "for example": st.column_config.TextColumn("For example", disabled=True),
    }
    # With a key it stays open when a choice changes how much stands above it.
    with st.expander(f"What columns and keys count as ({len(fields):,})", key=f"{key}.ask"):
        st.caption("Click a cell of *Counts as* to change it; *kept* is under its own name.")
        st.data_editor(rows, key=f"{key}.fields", hide_index=True, column_config=columns)

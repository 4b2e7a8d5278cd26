"""Import captions: a preview of the changes first; one undo reverses all of them."""

from functools import partial

import streamlit as st

from components.editor.facets import PURPOSES
from components.editor.rows import EditorRow, show_rows
from components.grid import fields
from components.shell import format
from components.shell.page import forms, job_bar, uploads
from components.shell.page.forms import Button
from components.shell.server import server_paths
from store import Library
from store.errors import NotPermitted
from store.importing import captions
from store.records import CAPTION_FACETS, Facet
from store.tasks import import_captions

_FORM = "import-captions"
_OPENED = "memedex.import-captions.opened"
_SHOWN = 300  # changes in the list
TYPES = ["zip", "csv", "tsv", "jsonl", "ndjson", "json", "txt", "png", "jpg", "jpeg", "webp", "gif", "bmp"]


def show(library: Library) -> None:
    """Show files or a path, the preview, and the button."""
    if not library.can_write:
        return
    st.header("Import captions", anchor=False)
    with st.container(border=True):
        left, right = st.columns([2, 3], gap="medium")
        with left:
            files = uploads.files(
                "Drop what was exported",
                TYPES,
                "zip, CSV, TSV, JSON, JSONL, txt",
                form=_FORM,
                hint="JSONL, CSV, metadata.jsonl, sidecars, .txt next to pictures, or a zip.",
            )
        with right:
            path = server_paths.can_be_named() and st.text_input(
                "Or give the path of captions",
                key=uploads.key_until_sent(_FORM, "path"),
                persist_state="session",
                placeholder=server_paths.placeholder("/home/me/captions"),
            )
            facet: Facet = (
                st.segmented_control(
                    ".txt files contain",
                    CAPTION_FACETS,
                    default="entity",
                    required=True,
                    key="import-captions-facet",
                )
                or "entity"
            )
        if not files and not (path or "").strip():
            return
        dropped = [(file.name, file.getvalue()) for file in files]
        try:
            found = (
                captions.captions_dropped(dropped, facet=facet)
                if dropped
                else captions.captions_at([server_paths.named(path or "")], facet=facet)
            )
        except NotPermitted as error:
            st.error(str(error))
            return
        with st.spinner("Comparing", show_time=False):
            shown = import_captions.preview(library, found)
        _preview(library, shown)


def _preview(library: Library, shown: import_captions.Preview) -> None:
    with st.container(horizontal=True, gap="small"):
        st.badge(
            f"{len(shown.changes):,} would change",
            icon=":material/edit:",
            color="blue" if shown.changes else "gray",
        )
        st.badge(f"{shown.same:,} unchanged", icon=":material/done_all:", color="gray")
        if shown.refused:
            st.badge(f"{len(shown.refused):,} refused", icon=":material/block:", color="red")
    rows = [row for change in shown.changes for row in _rows(change)]
    if rows:
        with st.container(height=420 if len(rows) > 4 else "content", border=False):
            show_rows("import-captions-rows", library, rows[:_SHOWN], go=_open, choose=False)
        if address := st.session_state.pop(_OPENED, None):
            st.switch_page("pages/captions.py", query_params={"address": address})
        if len(rows) > _SHOWN:
            st.caption(f"The first {_SHOWN} of {len(rows):,} changes.")
    for note in shown.notes:
        st.caption(format.plain(note, limit=300))
    if shown.refused:
        uploads.refused(shown.refused)
    if shown.changes:
        label = f"Import {format.counted(len(shown.changes), 'change')}"
        forms.show(
            _FORM, library,
            job_bar.starting(partial(import_captions.start, library, shown.changes)),
            button=Button(label, icon="check", kind="primary", help="One undo reverses all of it."),
            after_run=True,
        )  # fmt: skip


def _rows(change: import_captions.CaptionChange) -> list[EditorRow]:
    """Each text before and after."""
    record = change.record
    texts = [
        (PURPOSES[facet].label, record.caption.get(facet, ""), text) for facet, text in change.caption.items()
    ]
    if change.tags is not None:
        texts.append(("Tags", ", ".join(record.tags), ", ".join(change.tags)))
    texts += [(fields.label(name), "", str(value)) for name, value in change.others.items()]
    return [
        EditorRow(f"{record.address} {label}", record, label, text=before, after=after)
        for label, before, after in texts
    ]


def _open(address: str) -> None:
    st.session_state[_OPENED] = address

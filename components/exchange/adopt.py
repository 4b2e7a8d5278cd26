"""Take over another program's data: what was found is shown first, then a job does it and leaves a report."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from components.shell import format
from components.shell.page import forms, job_bar, places, tables
from components.shell.page.forms import Button, Field
from components.shell.server import server_paths
from store import DataSurvey, Job, Library, MemedexError
from store.errors import NotPermitted
from store.tasks import adopt

_FOUND = "memedex.adopt_found"
_NAMED = 200  # refused items that the preview lists
_REPORTS = 3


def show(library: Library) -> None:
    """A path to look at, what was found there, and the reports of the last adoptions."""
    if not library.can_write:
        return
    st.header("Import from another program", anchor=False)
    with st.container(border=True):
        st.caption(
            "Folders and files of other systems: meme libraries with Chroma, memories, lore, transcripts, "
            "captioned pictures, tables and token lists. Nothing there is changed."
        )
        offer(library)
        if server_paths.can_be_named():
            _ask_path()
        if found := st.session_state.get(_FOUND):
            _preview(library, found)
        _reports(library)


def offer(library: Library) -> None:
    """Say that this library's own folder holds another program's data, and offer to look at it."""
    count = adopt.waiting_vectors(library)
    if not (library.can_write and count):
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f":material/inventory_2: This folder also holds another program's Chroma with {count:,} vectors. "
            "It was left as it is.",
            width="stretch",
        )
        st.button(
            "Preview", key="adopt-own", on_click=_look, args=(str(library.layout.memecoins),),
            help="Count what would come in: tags, categories and vectors.",
        )  # fmt: skip


def link(library: Library) -> None:
    """On another page: that there is something to take over, and where."""
    if library.can_write and (count := adopt.waiting_vectors(library)):
        st.markdown(
            f":material/inventory_2: Another program's Chroma lies in this folder: {count:,} vectors."
        )
        st.page_link(**places.IMPORT, label="Preview", icon=":material/arrow_forward:")


def _ask_path() -> None:
    path = st.text_input(
        "Path on this machine",
        placeholder=server_paths.placeholder("/home/me/other/res  or  captions.jsonl"),
        key="memedex.adopt_text",
        persist_state="session",
    )
    if st.button("Preview", key="memedex.adopt_path"):
        try:
            named = server_paths.named(path or "")
        except NotPermitted as error:
            st.error(str(error))
        else:
            with st.spinner("Looking …"):
                _look(str(named))


def _look(path: str) -> None:
    try:
        found = adopt.survey(path)
    except (MemedexError, OSError) as error:
        found = []
        st.error("It cannot be read:")
        st.text(str(error))
    else:
        if not found:
            st.warning("Nothing that is known was found there. The import takes pictures, lists and tables.")
    st.session_state[_FOUND] = found


def _preview(library: Library, found: list[DataSurvey]) -> None:
    with st.container(border=True):
        for survey in found:
            _describe(survey)
        if note := adopt.together(found):
            st.markdown(note)
        fields: list[Field] = []
        if any(survey.needs_model for survey in found):
            fields = [Field(
                "model", "Model of its vectors", placeholder="openclip:ViT-L-14/openai",
                help="If the model is on this machine, a sample is computed again and must agree. Else the "
                "vectors compare coins, and no text can be asked. Empty: all is embedded again.",
            )]  # fmt: skip
        is_begun = forms.show(
            f"adopt-{found[0].path}", library, partial(_start, library, found, job_bar.watcher()),
            fields=fields, button=Button("Import", kind="primary"),
        )  # fmt: skip
        st.button("Not now", key="adopt-not", on_click=lambda: st.session_state.pop(_FOUND, None))
    if is_begun:
        st.session_state.pop(_FOUND, None)
        st.rerun()


def _describe(survey: DataSurvey) -> None:
    st.markdown(f"**{format.plain(survey.title)}**")
    st.text(server_paths.shown(survey.path))
    rows = [
        {"what": one.what, "count": one.count, "where": one.where, "note": one.note} for one in survey.found
    ]
    if rows:
        tables.show(rows, alt="What would come in")
    for note in survey.notes:
        st.caption(format.plain(note, limit=1000))
    if survey.refused:
        refused = [{"item": one.item, "reason": one.reason} for one in survey.refused[:_NAMED]]
        with st.expander(f"Would be refused ({len(survey.refused):,})"):
            tables.show(refused, alt="What would be refused and why")


def _start(
    library: Library, found: list[DataSurvey], watch: Callable[[Job], Job], given: Mapping[str, Any]
) -> str:
    watch(adopt.start(library, found, vectors=given.get("model", "").strip()))
    return ""


def _reports(library: Library) -> None:
    for job in adopt.done(library)[:_REPORTS]:
        _report(library, job)


def _report(library: Library, job: Job) -> None:
    counts = job.note
    with st.container(horizontal=True, vertical_alignment="center"):
        is_undone = adopt.is_undone(library, job)
        st.markdown(
            f"{format.plain(job.name)} · {format.ago(job.ended_at)}: {counts.get('taken', 0):,} imported, "
            f"{counts.get('present', 0):,} already there, {counts.get('refused', 0):,} refused"
            f"{' · undone' if is_undone else ''}",
            width="stretch",
        )
        for name, type_ in (("json", "application/json"), ("csv", "text/csv")):
            st.download_button(
                f"Report ({name.upper()})", partial(adopt.report_text, library, job, name),
                f"adoption-{job.id}.{name}", type_, on_click="ignore", key=f"adopt-report-{job.id}-{name}",
            )  # fmt: skip
        if not is_undone and counts.get("taken"):
            forms.show(
                f"adopt-undo-{job.id}", library, partial(_undo, library, job, job_bar.watcher()),
                button=Button("Undo", help="Coins that came in go to Rejected, texts are removed."),
            )  # fmt: skip


def _undo(library: Library, job: Job, watch: Callable[[Job], Job], given: Mapping[str, Any]) -> str:
    watch(library.jobs.run(f"Undo: {job.name}", lambda progress: adopt.undo(library, job, progress=progress)))
    return ""

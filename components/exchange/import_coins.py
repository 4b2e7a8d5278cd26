"""Import coins from the page: dropped files, or a server path for those who may name one."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from components.shell import format
from components.shell.page import forms, job_bar, uploads
from components.shell.page.forms import Button, Field
from components.shell.server import server_paths
from components.shell.session import resources
from store import ImportReport, Job, Library, Progress, candidates
from store.importing import RemoteLogo, endings, uploaded
from store.tasks import adopt

_JOB = "memedex.import"
_BRINGS_COINS = {"brings": "coins"}  # the options of such a job that ends with the program
_NOTES = 20


def show(library: Library) -> None:
    """Both ways, side by side."""
    left, right = st.columns(2, gap="large")
    with left:
        _drop(library)
    with right:
        if server_paths.can_be_named():
            _path(library)


def section(library: Library) -> None:
    """Both ways with a heading, and the result of this session's last import; nothing for viewers."""
    if library.can_write:
        st.header("Import coins", anchor=False)
        report()
        with st.container(border=True):
            show(library)


def _drop(library: Library) -> None:
    files = uploads.files(
        "Drop files here",
        endings(),
        "Pictures, JSON, tables, zip",
        form="import-files",
        hint="Pictures, alone or with sidecars, texts or a table; lists of coins; a zip of any of these.",
    )
    files += uploads.folder("Drop a folder here", "Folders, with all in them", form="import-files")
    label = f"Import {format.counted(len(files), 'file')}" if files else "Import files"
    forms.show(
        "import-files", library, partial(_import_dropped, library, files, job_bar.watcher(_JOB)),
        button=Button(label, kind="primary", disabled=not files), after_run=True,
    )  # fmt: skip


def _path(library: Library) -> None:
    field = Field(
        "path", "Or give a path on this machine",
        placeholder=server_paths.placeholder("/home/me/tokens  or  tokens/tokenlist.json"),
        help="A token list, a folder or a zip; a folder with a token list is read through the list.",
        required=True,
    )  # fmt: skip
    forms.show(
        "import-path", library,
        partial(_import_path, library, server_paths.naming(), job_bar.watcher(_JOB)),
        fields=[field], button=Button("Import path", kind="primary"),
    )  # fmt: skip


def _import_dropped(
    library: Library, files: Sequence[UploadedFile], watch: Callable[[Job], Job], _: Mapping[str, Any]
) -> str:
    dropped = [(file.name, file.getvalue()) for file in files]
    name = dropped[0][0] if len(dropped) == 1 else format.counted(len(dropped), "file")

    def add(progress: Progress) -> ImportReport:
        return library.add(uploaded(dropped), source=name, progress=progress)

    watch(begin(library, f"Import {name}", add))
    return ""


def _import_path(
    library: Library, name: Callable[[str], Path], watch: Callable[[Job], Job], given: Mapping[str, Any]
) -> str:
    found = server_paths.existing(name, given["path"])

    def add(progress: Progress) -> ImportReport:
        return library.add(candidates([found]), source=found.name, progress=progress)

    watch(begin(library, f"Import {found.name}", add))
    return ""


def begin(library: Library, name: str, add: Callable[[Progress], object]) -> Job:
    """Start a job that brings coins and ends with the program."""
    return library.jobs.run(name, add, options=_BRINGS_COINS)


def is_under_way(library: Library) -> bool:
    """Whether a job brings coins: an import, or an adoption or download that may go on after a restart."""
    return any(
        job.options == _BRINGS_COINS or job.kind == "logos" or adopt.brings_coins(job)
        for job in library.jobs.under_way()
    )


def report() -> None:
    """The result of this session's last import."""
    job = job_bar.begun(resources.jobs(), _JOB)
    if job is None or not job.is_over:
        return
    if job.error:
        st.error("The import stopped:")
        st.text(job.error)
        return
    if not isinstance(job.result, ImportReport):
        return
    _figures(job.name, job.result)


def _figures(name: str, result: ImportReport) -> None:
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{format.plain(name)}**", width="stretch")
            st.button("Dismiss", type="tertiary", on_click=job_bar.hide_result, args=(_JOB,))
        with st.container(horizontal=True, gap="small"):
            st.badge(
                f"{len(result.done):,} added",
                icon=":material/add:",
                color="green" if result.done else "gray",
            )
            st.badge(f"{len(result.present):,} already there", icon=":material/done_all:", color="gray")
            if result.completed:
                st.badge(f"{len(result.completed):,} completed", icon=":material/edit:", color="green")
            if result.refused:
                st.badge(f"{len(result.refused):,} refused", icon=":material/block:", color="red")
        if result.done:
            st.page_link("pages/review.py", label="Review them", icon=":material/arrow_forward:")
        if logos := [refusal for refusal in result.refused if isinstance(refusal, RemoteLogo)]:
            _offer_logos(name, logos)
        if result.present:
            _present(result)
        for note in result.notes[:_NOTES]:
            st.caption(format.plain(note, limit=300))
        if (more := len(result.notes) - _NOTES) > 0:
            st.caption(f"… and {more:,} more of this kind.")
        if result.refused:
            uploads.refused(result.refused)


def _offer_logos(name: str, found: list[RemoteLogo]) -> None:
    """Offer to download the logos that are on the network."""
    library = resources.library()
    if library.can_write:
        label = f"Fetch {format.counted(len(found), 'logo')} from the network"
        about = "A few at a time, never from private addresses. It can be paused and continued."
        if forms.show(
            "fetch-logos", library, partial(_fetch_logos, library, name, found, job_bar.watcher()),
            button=Button(label, icon="cloud_download", help=about),
        ):  # fmt: skip
            job_bar.hide_result(_JOB)
            st.rerun()


def _fetch_logos(
    library: Library, name: str, found: list[RemoteLogo], watch: Callable[[Job], Job], _: Mapping[str, Any]
) -> str:
    from store.tasks import fetch_logos  # httpx comes along

    if job := fetch_logos.start(library, found, name=f"Fetch logos: {name.removeprefix('Import ')}"):
        watch(job)
    return ""


def _present(result: ImportReport) -> None:
    tiers: dict[str, int] = {}
    for tier in result.present.values():
        tiers[tier] = tiers.get(tier, 0) + 1
    where = ", ".join(f"{number:,} in {format.TIERS[tier]}" for tier, number in sorted(tiers.items()))
    what = "They got only what they lacked." if result.completed else "They were left as they are."
    st.caption(f"Already there: {where}. {what}")

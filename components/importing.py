"""Bringing coins in from the page: dropped files or a path on this machine."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from components import jobs, resources, wording
from store.importing import candidates, uploaded
from store.importing.candidate import RemoteLogo
from store.importing.tables import inert
from store.jobs import Job
from store.library import Library
from store.outcome import ImportReport
from store.progress import Progress

_JOB = "memedex.import"
_DROPPED = "memedex.dropped"
_ROUND = "memedex.drop_round"
TYPES = ["jpg", "jpeg", "png", "gif", "webp", "bmp", "json", "csv", "zip"]


def show(library: Library) -> None:
    """Both ways in, side by side."""
    left, right = st.columns(2, gap="large")
    with left:
        _drop(library)
    with right:
        _path(library)


def _drop(library: Library) -> None:
    turn = st.session_state.setdefault(_ROUND, 0)  # another key empties the uploader
    files = st.file_uploader(
        "Drop files here",
        type=TYPES,
        accept_multiple_files=True,
        key=f"{_DROPPED}-{turn}",
        help="Pictures, alone or with JSON sidecars or a CSV; token lists; a zip of any of these.",
    )
    st.button(
        f"Import {wording.counted(len(files), 'file')}" if files else "Import files",
        type="primary",
        disabled=not files,
        on_click=_import_dropped,
        args=(library, turn),
    )


def _path(library: Library) -> None:
    with st.form("memedex.import_path", border=False):
        path = st.text_input(
            "Or give a path on this machine",
            placeholder="/home/me/tokens  or  tokens/tokenlist.json",
            key="memedex.path",
            help="A token list, a folder or a zip; a folder with a token list is read through the list.",
        )
        if st.form_submit_button("Import path", type="primary"):
            _import_path(library, (path or "").strip())


def _import_dropped(library: Library, turn: int) -> None:
    dropped = [(file.name, file.getvalue()) for file in st.session_state[f"{_DROPPED}-{turn}"]]
    st.session_state[_ROUND] = turn + 1
    name = dropped[0][0] if len(dropped) == 1 else wording.counted(len(dropped), "file")
    _start(name, lambda progress: library.add(uploaded(dropped), source=name, progress=progress))


def _import_path(library: Library, path: str) -> None:
    found = Path(path).expanduser()
    if not path:
        st.error("Type the path of a token list, a folder or a zip first.")
    elif not found.exists():
        st.error("There is nothing at this path:")
        st.text(path)
    else:
        _start(
            found.name,
            lambda progress: library.add(candidates([found]), source=found.name, progress=progress),
        )
        st.rerun()


def _start(name: str, work: Callable[[Progress], ImportReport]) -> None:
    job = jobs.run(resources.jobs(), f"Import {name}", work)
    st.session_state[_JOB] = job.id


def report() -> None:
    """What became of this session's last import."""
    job = _last()
    if job is None or not job.is_over:
        return
    if job.error:
        st.error("The import stopped:")
        st.text(job.error)
        return
    if not isinstance(job.result, ImportReport):
        return
    _figures(job.name, job.result)


def _last() -> Job | None:
    number = st.session_state.get(_JOB)
    return resources.jobs().get(number) if number else None


def _figures(name: str, result: ImportReport) -> None:
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{wording.plain(name)}**", width="stretch")
            st.button("Dismiss", type="tertiary", on_click=lambda: st.session_state.pop(_JOB, None))
        with st.container(horizontal=True, gap="small"):
            st.badge(
                f"{len(result.done):,} added",
                icon=":material/add:",
                color="green" if result.done else "gray",
            )
            st.badge(f"{len(result.present):,} already there", icon=":material/done_all:", color="gray")
            if result.refused:
                st.badge(f"{len(result.refused):,} refused", icon=":material/block:", color="red")
        if result.done:
            st.page_link("pages/pending.py", label="Review them", icon=":material/arrow_forward:")
        if logos := [refusal for refusal in result.refused if isinstance(refusal, RemoteLogo)]:
            _offer_logos(name, logos)
        if result.present:
            _present(result)
        if result.refused:
            _refused(result)


def _offer_logos(name: str, found: list[RemoteLogo]) -> None:
    """Pictures that lie on the network: fetched when somebody asks, and only then."""
    library = resources.library()
    if library.can_write:
        st.button(
            f"Fetch {wording.counted(len(found), 'logo')} from the network",
            icon=":material/cloud_download:",
            help="A few at a time, never from private addresses. It can be paused and continued.",
            on_click=_fetch_logos,
            args=(library, name, found),
        )


def _fetch_logos(library: Library, name: str, found: list[RemoteLogo]) -> None:
    from store.fetching.logos import begin  # httpx comes along

    st.session_state.pop(_JOB, None)
    if job := begin(library, found, name=f"Fetch logos: {name.removeprefix('Import ')}"):
        jobs.watched(job)


def _present(result: ImportReport) -> None:
    tiers: dict[str, int] = {}
    for tier in result.present.values():
        tiers[tier] = tiers.get(tier, 0) + 1
    where = ", ".join(f"{number:,} in {tier}" for tier, number in sorted(tiers.items()))
    st.caption(f"Already there: {where}. They were left as they are.")


def _refused(result: ImportReport) -> None:
    rows = [{"item": refusal.item, "reason": refusal.reason} for refusal in result.refused]
    with st.expander(f"Refused and why ({len(rows):,})", expanded=len(rows) <= 5):
        st.dataframe(rows[:1000], hide_index=True, alt="Refused items and reasons")
        st.download_button("Download as CSV", _csv(rows), "refused.csv", "text/csv", on_click="ignore")


def _csv(rows: list[dict[str, str]]) -> bytes:
    """The rows as CSV; a cell that a spreadsheet would run as a formula is made text."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["item", "reason"])
    writer.writerows([[inert(value) for value in row.values()] for row in rows])
    return out.getvalue().encode()

"""The doctor's findings in plain words, and mending them."""

from collections.abc import Callable

import streamlit as st

from components import jobs, resources, wording
from store import doctor
from store.doctor import Finding
from store.jobs import Job
from store.library import Library
from store.progress import Progress

_EXAMINATION = "memedex.examination"
_MOST = 200


def at_once(library: Library) -> None:
    """What is known without looking: model, Chroma, what is stuck, files that cannot be taken in."""
    status = resources.status(library)
    rows = [
        (
            "Writing",
            "open for writing" if status.can_write else "reading only",
            status.can_write,
        ),
        (
            "Model",
            f"{status.model}: {status.model_status}",
            not status.model_status.startswith("unavailable"),
        ),
        ("Chroma", _chroma(status.chroma_behind, status.chroma_fault), not status.chroma_fault),
        ("Operations", status.stuck or "none is stuck", not status.stuck),
        (
            "Files",
            _files(len(status.faults)),
            not status.faults,
        ),
    ]
    with st.container(border=True, gap="small"):
        for name, what, well in rows:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.badge(
                    name,
                    icon=":material/check:" if well else ":material/priority_high:",
                    color="green" if well else "red",
                )
                st.text(what, width="stretch")
    for fault in status.faults[:_MOST]:
        st.text(fault)


def _files(faults: int) -> str:
    return f"{wording.counted(faults, 'file')} cannot be taken in:" if faults else "all can be read"


def _chroma(behind: int, fault: str) -> str:
    if fault:
        return f"behind: {fault}"
    return f"{wording.counted(behind, 'record')} behind, catching up" if behind else "has all there is"


def examine(library: Library) -> None:
    """Look at every file and every vector on request, and repair on request."""
    busy = jobs.is_busy(library.jobs)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Examine everything",
            type="primary",
            icon=":material/stethoscope:",
            disabled=busy,
            on_click=_begin,
            args=("Examine the library", lambda _: (doctor.check(library), [])),
        )
        st.caption("Compares sidecars, pictures, catalog and the five collections. Changes nothing.")
    job = _last()
    if job is not None and job.is_over:
        _show(library, job, busy=busy)


def _repair(library: Library, progress: Progress) -> tuple[list[Finding], list[str]]:
    said: list[str] = []
    return doctor.repair(library, progress=progress, tell=said.append), said


def _begin(name: str, work: Callable[[Progress], tuple[list[Finding], list[str]]]) -> None:
    st.session_state[_EXAMINATION] = jobs.run(resources.jobs(), name, work).id


def _last() -> Job | None:
    number = st.session_state.get(_EXAMINATION)
    return resources.jobs().get(number) if number else None


def _show(library: Library, job: Job, *, busy: bool) -> None:
    if job.error:
        st.error("It could not be done:", icon=":material/error:")
        st.text(job.error)
        return
    found, said = job.result or ([], [])
    for sentence in said:
        st.info(wording.plain(sentence, limit=400), icon=":material/healing:")
    when = wording.ago(job.ended_at)
    if not found:
        st.success(
            f"All is well: files, catalog and collections agree. ({when})", icon=":material/check_circle:"
        )
        return
    st.warning(f"{wording.counted(len(found), 'thing')} to mend. ({when})", icon=":material/build:")
    rows = [{"coin": one.address, "what": one.what, "what mends it": one.remedy} for one in found[:_MOST]]
    st.dataframe(rows, hide_index=True, alt="What is wrong and what mends it")
    if not library.can_write:
        return
    st.button(
        "Repair",
        icon=":material/build:",
        disabled=busy,
        help="Mends what can be mended; nothing is thrown away.",
        on_click=_begin,
        args=("Repair the library", lambda progress: _repair(library, progress)),
    )

"""System status: what is well and what is not, the check and its repairs, sessions, places and settings."""

import math
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from components.shell import format
from components.shell.page import forms, job_bar, tables
from components.shell.page.forms import Button
from components.shell.server import server_paths
from components.shell.session import login, logins, presenter, resources
from store import Job, Layout, Library, Progress, Status
from store.catalog import replication
from store.jobs import background_worker
from store.maintenance import doctor
from store.sessions import LoginSession, LoginSessions
from store.settings import Settings, settings

_EXAMINATION = "memedex.examination"
_MOST = 200
_SESSIONS = 50


def at_once(library: Library) -> None:
    """The summary: model, Chroma, stuck operations, files that cannot be imported."""
    status = resources.status(library)
    troubles, skipped = background_worker.faults(), len(status.unreadable)
    rows = [
        _writing(status),
        (
            "Model",
            f"{format.model(status.model)}: {status.model_status}",
            not status.model_status.startswith("unavailable"),
        ),
        ("Chroma", _chroma(status), not status.chroma_fault),
        ("Decisions", status.stuck or "all finished", not status.stuck),
        ("Files", _files(status), not status.faults),
        (
            "Pictures",
            _listed(f"{format.counted(skipped, 'picture')} skipped; retrying", status.unreadable)
            or "all can be read",
            not status.unreadable,
        ),
        *_copies(library, status),
        (
            "Background work",
            _listed(
                f"{format.counted(len(troubles), 'task')} failing, tried again by itself",
                [format.describe_fault(trouble) for trouble in troubles],
            )
            or "running",
            not troubles,
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
    for kept in status.moved_aside:
        with st.container(horizontal=True, gap="small"):
            st.badge("Kept", icon=":material/inventory_2:", color="blue")
            st.text(kept, width="stretch")


def _listed(title: str, lines: Sequence[str]) -> str:
    """The title above these lines; "" if there are none."""
    return "\n".join([f"{title}:", *lines[:_MOST]]) if lines else ""


def _writing(status: Status) -> tuple[str, str, bool]:
    behind = status.seconds_behind
    if behind is None:
        return "Writing", "open for writing" if status.can_write else "reading only", status.can_write
    if behind <= replication.LATE:
        return "Replica", f"{format.duration(behind)} behind the program that writes", True
    heard = "nothing yet" if behind == math.inf else f"nothing for {format.duration(behind)}"
    return "Replica", f"{heard} of the program that writes: look at Litestream on both machines", False


def _copies(library: Library, status: Status) -> list[tuple[str, str, bool]]:
    if status.seconds_behind is not None:
        return []  # a replica is one itself
    shortage = library.copies_shortage()
    return [("Copies", shortage or "the catalog is copied every day; a week is kept", not shortage)]


def _files(status: Status) -> str:
    if status.comparing:
        done, total = status.comparing
        title = f"{done:,} of {total:,} compared with the catalog so far"
        return _listed(title, status.faults) or title
    title = f"{format.counted(len(status.faults), 'file')} cannot be imported"
    return _listed(title, status.faults) or "all can be read"


def _chroma(status: Status) -> str:
    if status.chroma_place == "off":
        return "switched off; lists and searches do not need it"
    place = f"{status.chroma_place}: " if status.chroma_place else ""
    if status.chroma_fault:
        where = "" if status.chroma_place in status.chroma_fault else place
        return f"{where}index out of date: {status.chroma_fault}"
    behind = format.counted(status.chroma_behind, "record")
    return f"{place}indexing {behind}" if status.chroma_behind else f"{place}index up to date"


def examine(library: Library) -> None:
    """Check every file and every vector on request, and repair on request."""
    if not library.can_write:
        st.caption("Only a curator can run it, in the program that holds the library.")
        return
    busy = job_bar.is_busy(library.jobs)
    with st.container(horizontal=True, vertical_alignment="center"):
        job_bar.button(
            "check", library, "Check the library", partial(_check, library),
            kept_as=_EXAMINATION,
            button=Button("Run check", icon="stethoscope", kind="primary", disabled=busy),
        )  # fmt: skip
        st.caption("Compares sidecars, pictures, catalog and the search index. Changes nothing.")
    job = job_bar.begun(library.jobs, _EXAMINATION)
    if job is not None and job.is_over:
        _show(library, job, busy=busy)


def _check(library: Library, progress: Progress) -> tuple[list[doctor.DoctorFinding], list[str]]:
    return doctor.check(library, progress=progress), []


def _repair(library: Library, progress: Progress) -> tuple[list[doctor.DoctorFinding], list[str]]:
    messages: list[str] = []
    return doctor.repair(library, progress=progress, tell=messages.append), messages


def _show(library: Library, job: Job, *, busy: bool) -> None:
    if job.error:
        st.error("It could not be done:", icon=":material/error:")
        st.text(job.error)
        return
    found, messages = job.result or ([], [])
    stopped = doctor.STOPPED in found
    found = [one for one in found if one.is_fault and one != doctor.STOPPED]  # the rest is in the summary
    for sentence in messages:
        st.info(format.plain(sentence, limit=400), icon=":material/healing:")
    when = format.ago(job.ended_at)
    if stopped:
        text = "Stopped. *Run check* continues and rereads what changed."
        st.info(f"{text} ({when})", icon=":material/pause_circle:")
    if not found and not stopped:
        st.success(
            f"All is well: files, catalog and search index agree. ({when})", icon=":material/check_circle:"
        )
    if not found:
        return
    st.warning(f"{format.counted(len(found), 'problem')} found. ({when})", icon=":material/build:")
    rows = [{"coin": one.address, "what": one.what, "fix": one.remedy} for one in found[:_MOST]]
    tables.show(rows, alt="The problems and their fixes")
    job_bar.button(
        "repair", library, "Repair the library", partial(_repair, library), kept_as=_EXAMINATION,
        button=Button(
            "Repair", icon="build", help="Repairs what can be repaired; nothing is deleted.", disabled=busy
        ),
    )  # fmt: skip


def are_sessions_shown() -> bool:
    """Whether the current user may see them, and there can be any."""
    return login.is_required() and login.actor().can_administer


def sessions() -> None:
    """Each login that is still valid, and a button that ends it."""
    now = time.time()
    known, library = logins.sessions(login.actor()), resources.library()
    valid = [one for one in known.all() if not one.is_over(now)]
    if not valid:
        st.caption("No one is logged in.")
    with st.container(gap="small"):
        for session in valid[:_SESSIONS]:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.text(_describe(session), width="stretch")
                forms.show(
                    f"end-session-{session.id}", library, partial(_end, known, session.id),
                    button=Button("End", icon="logout"), changes_library=False,
                )  # fmt: skip
    if len(valid) > _SESSIONS:
        st.caption(f"and {len(valid) - _SESSIONS:,} more: `python -m store sessions`")


def _describe(session: LoginSession) -> str:
    where = f" from {session.address}" if session.address else ""
    began, seen = format.ago(session.began), format.ago(session.seen)
    person = format.cut(presenter.name(session.person), limit=80)
    return f"{person} · logged in {began}{where} · seen {seen} · {session.id}"


def _end(known: LoginSessions, id: str, _: Mapping[str, Any]) -> str:
    session = known.end(id)
    logins.invalidate()
    return f"Ended: {format.plain(presenter.name(session.person))}"


def places(library: Library) -> None:
    """Each part of the library, its folder and its size."""
    sizes = _sizes(library.layout.root, library.generation)
    rows = [{"part": name, "size": number, "where": server_paths.shown(path)} for name, path, number in sizes]
    tables.show(
        rows,
        alt="Parts of the library with size and place",
        columns={"size": st.column_config.NumberColumn(format="bytes")},
    )


@st.cache_data(show_spinner=False, max_entries=4)
def _sizes(root: Path, generation: int) -> list[tuple[str, Path, int]]:
    layout = Layout(root)
    parts = (
        ("catalog", layout.catalog),
        ("pending", layout.sidecar_folder("pending")),
        ("approved", layout.sidecar_folder("approved")),
        ("library: sidecars", layout.sidecar_folder("library")),
        ("library: pictures", layout.image_folder("library")),
        ("trash", layout.sidecar_folder("trash")),
        ("thumbnails", layout.thumbnails),
    )
    chroma = layout.chroma
    own = (
        "Chroma",
        chroma,
        sum(_size(path) for path in _inside(chroma) if path.name not in ("images", "metadata")),
    )
    return [*((name, path, _size(path)) for name, path in parts), own]


def _size(path: Path) -> int:
    try:
        if path.is_file():
            return path.stat().st_size
    except OSError:  # moved away this very moment
        return 0
    return sum(_size(each) for each in _inside(path))


def _inside(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _format(name: str, value: object) -> str:
    """A setting's value for a page; of secrets only whether there is one."""
    if name.endswith("_token"):
        return "(set)" if value else ""
    return server_paths.shown(value) if isinstance(value, Path) else str(value)


def configuration() -> None:
    """Every setting, its value, and its purpose."""
    rows = [
        {
            "variable": f"MEMEDEX_{name.upper()}",
            "value": _format(name, getattr(settings(), name)),
            "meaning": field.description or "",
        }
        for name, field in Settings.model_fields.items()
    ]
    tables.show(rows, alt="Settings with their values")
    st.caption("Set them in the environment or in a `.env` file next to `app.py`, and start again.")

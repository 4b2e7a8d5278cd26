"""Import coins from the page: dropped files, or a server path for those who may name one."""

from collections.abc import Callable

import streamlit as st

from components.shell import format, job_bar, resources, server_paths, tables
from store.errors import NotPermitted
from store.importing import candidates, uploaded
from store.importing.candidate import RemoteLogo
from store.jobs import Job
from store.library import Library
from store.outcome import ImportReport
from store.progress import Progress

_JOB = "memedex.import"
_DROPPED = "memedex.dropped"
_ROUND = "memedex.drop_round"
TYPES = ["jpg", "jpeg", "png", "gif", "webp", "bmp", "json", "csv", "zip"]


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
        st.subheader("Import coins", anchor=False)
        report()
        with st.container(border=True):
            show(library)


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
        f"Import {format.counted(len(files), 'file')}" if files else "Import files",
        type="primary",
        disabled=not files,
        on_click=_import_dropped,
        args=(library, turn),
    )


def _path(library: Library) -> None:
    with st.form("memedex.import_path", border=False):
        path = st.text_input(
            "Or give a path on this machine",
            placeholder=server_paths.placeholder("/home/me/tokens  or  tokens/tokenlist.json"),
            key="memedex.path",
            help="A token list, a folder or a zip; a folder with a token list is read through the list.",
        )
        if st.form_submit_button("Import path", type="primary"):
            _import_path(library, (path or "").strip())


def _import_dropped(library: Library, turn: int) -> None:
    dropped = [(file.name, file.getvalue()) for file in st.session_state[f"{_DROPPED}-{turn}"]]
    st.session_state[_ROUND] = turn + 1
    name = dropped[0][0] if len(dropped) == 1 else format.counted(len(dropped), "file")
    _start(name, lambda progress: library.add(uploaded(dropped), source=name, progress=progress))


def _import_path(library: Library, path: str) -> None:
    if not path:
        st.error("Type the path of a token list, a folder or a zip first.")
        return
    try:
        found = server_paths.named(path)
    except NotPermitted as error:
        st.error(str(error))
        return
    if not found.exists():
        st.error("There is nothing at this path:")
        st.text(path)
    else:
        _start(
            found.name,
            lambda progress: library.add(candidates([found]), source=found.name, progress=progress),
        )
        st.rerun()


def _start(name: str, work: Callable[[Progress], ImportReport]) -> None:
    job = job_bar.run(resources.jobs(), f"Import {name}", work)
    st.session_state[_JOB] = job.id


def report() -> None:
    """The result of this session's last import."""
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
            st.markdown(f"**{format.plain(name)}**", width="stretch")
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
    """Offer to download the logos that are on the network."""
    library = resources.library()
    if library.can_write:
        st.button(
            f"Fetch {format.counted(len(found), 'logo')} from the network",
            icon=":material/cloud_download:",
            help="A few at a time, never from private addresses. It can be paused and continued.",
            on_click=_fetch_logos,
            args=(library, name, found),
        )


def _fetch_logos(library: Library, name: str, found: list[RemoteLogo]) -> None:
    from store.tasks.fetch_logos import start  # httpx comes along

    st.session_state.pop(_JOB, None)
    if job := start(library, found, name=f"Fetch logos: {name.removeprefix('Import ')}"):
        job_bar.watched(job)


def _present(result: ImportReport) -> None:
    tiers: dict[str, int] = {}
    for tier in result.present.values():
        tiers[tier] = tiers.get(tier, 0) + 1
    where = ", ".join(f"{number:,} in {format.TIERS[tier]}" for tier, number in sorted(tiers.items()))
    st.caption(f"Already there: {where}. They were left as they are.")


def _refused(result: ImportReport) -> None:
    rows = [{"item": refusal.item, "reason": refusal.reason} for refusal in result.refused]
    with st.expander(f"Refused and why ({len(rows):,})", expanded=len(rows) <= 5):
        tables.show(rows[:1000], alt="Refused items and reasons")
        st.download_button(
            "Download as CSV", tables.as_csv(rows), "refused.csv", "text/csv", on_click="ignore"
        )

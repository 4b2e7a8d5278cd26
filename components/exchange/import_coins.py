"""Import coins from the page: dropped files, or a server path for those who may name one.

First the preview: each kind of file, how its fields map, an example, what would be refused.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.uploaded_file_manager import UploadedFile

from components.shell import format
from components.shell.page import forms, job_bar, uploads
from components.shell.page.forms import Button, Field
from components.shell.server import server_paths
from components.shell.session import resources, safe_mode
from store import ImportReport, Job, Library, MemedexError, Progress, Refusal, candidates
from store.disk import images
from store.importing import Candidate, RemoteLogo, names, preview, uploaded
from store.tasks import adopt

_JOB = "memedex.import"
_LOOKED_AT = "memedex.import_looked_at"  # in a session's state: the path whose preview is shown
_BRINGS_COINS = {"brings": "coins"}  # the options of such a job that ends with the program
_NOTES = 20
_SEEN = "memedex.import_preview"
_HOLD = {"guess": "As guessed", "tags": "Tags", "sentence": "A sentence"}
_SHOWN = 8  # fields of an example
_LINE = 160  # signs of one of them
_SIDE = 96  # px of its picture

Read = Callable[[preview.Choices, preview.ImportPreview], Iterable[Candidate | Refusal]]


def show(library: Library) -> None:
    """Both ways, side by side, and below them what would come in."""
    left, right = st.columns(2, gap="large")
    with left:
        files, place = _drop()
    if server_paths.can_be_named():
        with right:
            _path(library)
    choices = _of_files(files) if files else preview.Choices()
    with place:
        label = f"Import {format.counted(len(files), 'file')}" if files else "Import files"
        forms.show(
            "import-files", library,
            partial(_import_dropped, library, files, choices, job_bar.watcher(_JOB)),
            button=Button(label, kind="primary", disabled=not files), after_run=True,
        )  # fmt: skip
    if looked_at := _looked_at():
        _of_path(library, looked_at[0])


def _of_files(files: Sequence[UploadedFile]) -> preview.Choices:
    """Show what dropped files would bring; returns what the person chose."""
    about = tuple((file.file_id, file.name) for file in files)
    dropped = [(file.name, file.getvalue()) for file in files]
    return _agreed(lambda choices, shown: uploaded(dropped, choices=choices, preview=shown), about=about)


def _of_path(library: Library, path: Path) -> None:
    """Show what a path would bring, and offer to import it as the person chose."""
    choices = _agreed(
        lambda choices, shown: candidates([path], choices=choices, preview=shown),
        about=(str(path), forms.times_confirmed("import-path")),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        forms.show(
            "import-previewed", library,
            partial(_import_previewed, library, _looked_at(), choices, job_bar.watcher(_JOB)),
            button=Button(f"Import {path.name}", kind="primary"), after_run=True,
        )  # fmt: skip
        st.button("Not now", key="import-not", on_click=_looked_at().clear)


def _looked_at() -> list[Path]:
    """The path that this session looks at, if any."""
    found: list[Path] = st.session_state.setdefault(_LOOKED_AT, [])
    return found


def section(library: Library) -> None:
    """Both ways with a heading, and the result of this session's last import; nothing for viewers."""
    if library.can_write:
        st.header("Import coins", anchor=False)
        report()
        with st.container(border=True):
            show(library)


def _drop() -> tuple[list[UploadedFile], DeltaGenerator]:
    """The files dropped here, and the place of the button that imports them."""
    files = uploads.files(
        "Drop files here",
        (),  # a file is what its content says
        "Pictures, JSON, tables, archives",
        form="import-files",
        hint="Pictures, alone or with sidecars, texts or a table; lists of coins; an archive of these.",
    )
    # The menu closes once there are some: it lies over the form's button.
    key = uploads.key_until_sent("import-files", "folder")
    menu = f"{key}-{'closed' if st.session_state.get(key) else 'menu'}"
    with st.popover("A folder", icon=":material/folder:", key=menu):
        files += uploads.folder("Drop a folder here", "Folders, with all in them", form="import-files")
    return files, st.container()


def _path(library: Library) -> None:
    fields = [
        Field(
            "path", "Or give a path on this machine",
            placeholder=server_paths.placeholder("/home/me/tokens  or  tokens/tokenlist.json"),
            help="A list of coins, a folder or an archive; a folder with a token list is read through it.",
            required=True,
        ),
        Field("then", "Then", kind="base"),
    ]  # fmt: skip
    forms.show(
        "import-path", library,
        partial(_import_path, library, server_paths.naming(), _looked_at(), job_bar.watcher(_JOB)),
        fields=fields, button=Button("Import path", kind="primary"),
        second=Button("Look first", help="Say what each file is and what would be refused."),
    )  # fmt: skip


def _import_dropped(
    library: Library,
    files: Sequence[UploadedFile],
    choices: preview.Choices,
    watch: Callable[[Job], Job],
    _: Mapping[str, Any],
) -> str:
    dropped = [(file.name, file.getvalue()) for file in files]
    name = dropped[0][0] if len(dropped) == 1 else format.counted(len(dropped), "file")

    def add(progress: Progress) -> ImportReport:
        return library.add(uploaded(dropped, choices=choices), source=name, progress=progress)

    watch(begin(library, f"Import {name}", add))
    return ""


def _import_path(
    library: Library,
    name: Callable[[str], Path],
    looked_at: list[Path],
    watch: Callable[[Job], Job],
    given: Mapping[str, Any],
) -> str:
    found = server_paths.existing(name, given["path"])
    looked_at[:] = [found] if given["then"] else []
    return "" if looked_at else _import(library, found, preview.Choices(), watch, given)


def _import_previewed(
    library: Library,
    looked_at: list[Path],
    choices: preview.Choices,
    watch: Callable[[Job], Job],
    given: Mapping[str, Any],
) -> str:
    return _import(library, looked_at.pop(), choices, watch, given)


def _import(
    library: Library, path: Path, choices: preview.Choices, watch: Callable[[Job], Job], _: Mapping[str, Any]
) -> str:
    def add(progress: Progress) -> ImportReport:
        found = candidates([path], choices=choices)
        return library.add(found, source=path.name, progress=progress)

    watch(begin(library, f"Import {path.name}", add))
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
                f"{len(result.done):,} added", icon=":material/add:", color="green" if result.done else "gray"
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


def _agreed(read: Read, *, about: Hashable) -> preview.Choices:
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

"""What Settings has of the text memory: its figures, what needs attention, its models, its export."""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from components.memory import entry_link
from components.memory.kinds import KINDS, counted, text_of
from components.overview import model_choice
from components.shell import format
from components.shell.page import forms, job_bar, tables
from components.shell.page.forms import Button, Sent
from components.shell.session import resources
from store import Memory, Progress
from store.memory.values import (
    DOCUMENTS,
    LOCAL,
    OFFLINE_TEXT,
    READ_AGAIN,
    TRANSCRIPTS,
    Concern,
    MemoryFigures,
)
from store.settings import settings

_JOB = "memedex.memory_check"
_HEIGHT = 190  # px; the same with and without bars
_BARS_HEIGHT = 44  # px
_SHOWN = 10  # entries named of each concern
_KNOWN = (OFFLINE_TEXT, LOCAL, "litellm:text-embedding-ada-002")
_ENDINGS = {DOCUMENTS: ".jsonl", TRANSCRIPTS: ".sqlite3"}


def show(memory: Memory) -> None:
    """Show the memory's figures and concerns."""
    numbers, found = _examined(memory, settings().root, memory.generation)
    if unread := memory.unread_worlds():
        found = [unread, *found]
    _kinds(memory, numbers)
    for number, concern in enumerate(found):
        _concern(memory, concern, number)
    if not found:
        st.success(
            "Every entry has text and a vector, and belongs somewhere.", icon=":material/check_circle:"
        )
    if memory.can_write:
        _examination(memory)


@st.cache_data(show_spinner=False, max_entries=2)
def _examined(
    _memory: Memory, root: Path, generation: tuple[int, ...]
) -> tuple[Sequence[MemoryFigures], Sequence[Concern]]:
    """Computed once for each state of the memory: 100,000 entries take seconds."""
    return _memory.figures(), _memory.concerns()


def _kinds(memory: Memory, numbers: Sequence[MemoryFigures]) -> None:
    status = memory.status()
    with st.grid(5, min_column_width=170) as grid:
        for each in numbers:
            with grid.cell():
                _card(each)
    if status.chroma_fault:
        st.error("The Chroma index is out of date:", icon=":material/sync_problem:")
        st.text(status.chroma_fault)
    elif status.chroma_behind:
        st.caption(f"Indexing {status.chroma_behind:,} entries in Chroma.")
    is_whole = status.faults.keys() == status.counts.keys()  # the file of all kinds
    for fault in dict.fromkeys(status.faults.values()):
        what = "The text memory" if is_whole else "One kind of memory"
        rest = "" if is_whole else "; all others work"
        st.error(f"{what} cannot be used{rest}:", icon=":material/error:")
        st.text(fault)
    for kept in status.moved_aside:
        with st.container(horizontal=True, gap="small"):
            st.badge("Kept", icon=":material/inventory_2:", color="blue")
            st.text(kept, width="stretch")


def _card(found: MemoryFigures) -> None:
    """How many entries, and a histogram of their lengths, from the shortest to the longest."""
    with st.container(gap="xsmall"):
        with st.container(border=True, height=_HEIGHT, gap="small"):
            st.metric(
                KINDS[found.kind].label,
                f"{found.entries:,}",
                f"{found.characters:,} characters" if found.entries else None,
                delta_color="off",
                delta_arrow="off",
                help=f"From {found.shortest:,} to {found.longest:,} characters each, the bars by length; "
                f"{format.size(found.size)} on the disk.",
            )
            if found.lengths:
                st.html(_bars([number for _, number in found.lengths]))
        for model, number in found.models.items():
            label = format.plain(model.removeprefix("sentence-transformers:") or "no vector", limit=30)
            st.badge(f"{label} · {number:,}", color="gray" if model == found.model else "orange")


def _bars(numbers: Sequence[int]) -> str:
    """A bar for each number; unlike the chart of `st.metric`, without warnings in the browser's console."""
    most = max(numbers)
    bars = "".join(
        f'<div style="flex:1; height:{number / most:.1%}; border-radius:2px; background:currentColor"></div>'
        for number in numbers
    )
    style = f"display:flex; align-items:flex-end; gap:3px; height:{_BARS_HEIGHT}px; opacity:0.6"
    return f'<div aria-hidden="true" style="{style}">{bars}</div>'


def _concern(memory: Memory, concern: Concern, number: int) -> None:
    kind, count = concern.kind, concern.count
    label = f"{KINDS[kind].label}: {concern.what} · {count:,}"
    with st.expander(format.plain(label, limit=200), icon=":material/build:"):
        st.caption(f"Remedy: {concern.remedy}.")
        rows = {row["id"]: row for row in memory.entries(kind).rows(concern.which[:_SHOWN])}
        for id in concern.which[:_SHOWN]:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.text(text_of(kind, rows[id])[:120] if id in rows else id, width="stretch")
                if id in rows:
                    entry_link.show(kind, id, behind={"view": "Browse"})
        if memory.can_write:
            _remedies(memory, concern, number)


def _remedies(memory: Memory, concern: Concern, number: int) -> None:
    kind = concern.kind
    library = resources.library()
    if concern.remedy == "embed them":
        job_bar.button(
            f"embed-{kind}", library, f"Embed {KINDS[kind].label.lower()}",
            lambda progress: memory.reembed([kind], progress=progress),
            button=Button("Embed them", icon="model_training"),
        )  # fmt: skip
    elif concern.remedy == "cut them into chunks":
        job_bar.button(
            f"cut-{kind}", library, "Cut long chunks", partial(_cut, memory),
            button=Button("Cut and embed them", icon="content_cut"),
        )  # fmt: skip
    elif concern.remedy == READ_AGAIN:
        job_bar.button(
            f"read-{kind}", library, "Import worlds", lambda _: memory.lore.load_worlds(),
            button=Button("Read it again", icon="refresh"),
        )  # fmt: skip
    elif concern.remedy == "delete them":
        forms.show(
            f"delete-{kind}-{number}", library, partial(_remove, memory, kind, concern.which),
            button=Button(f"Remove {counted(kind, len(concern.which))}", icon="delete"),
        )  # fmt: skip


def _remove(memory: Memory, kind: str, ids: Sequence[str], sent: Sent) -> str:
    memory.remove(ids, kind=kind, decision=sent.decision)
    return "Removed; undo brings them back."


def _cut(memory: Memory, progress: Progress) -> None:
    memory.transcripts.cut_long_chunks()
    memory.transcripts.embed_new(progress=progress)


def _examination(memory: Memory) -> None:
    library = resources.library()
    busy = job_bar.is_busy(library.jobs)
    with st.container(horizontal=True, vertical_alignment="center"):
        job_bar.button(
            "check-memory", library, "Check the text memory", lambda _: memory.check(), kept_as=_JOB,
            button=Button("Check the text memory", icon="stethoscope", disabled=busy),
        )  # fmt: skip
        st.caption("Compares files, full text, vectors and Chroma's collections. Changes nothing.")
    job = job_bar.begun(library.jobs, _JOB)
    if job is None or job.state != "done":
        return
    result = [one for one in job.result if one.is_fault]
    if not result:
        st.success(f"All is well. ({format.ago(job.ended_at)})", icon=":material/check_circle:")
        return
    rows = [{"kind": one.kind, "what": one.what, "fix": one.remedy} for one in result]
    tables.show(rows, alt="The problems and their fixes")
    job_bar.button(
        "repair-memory", library, "Repair the text memory", lambda _: memory.repair(), kept_as=_JOB,
        button=Button("Repair", icon="build", disabled=busy),
    )  # fmt: skip


def models(memory: Memory) -> None:
    """A kind, another model for it, and a button.

    The old vectors are used until the new ones are complete.
    """
    with st.expander("Change a model", icon=":material/model_training:"):
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            kind = st.selectbox(
                "Kind", list(KINDS), key="memory-model-kind", format_func=lambda name: KINDS[name].label
            )
            entries = memory.entries(kind)
            names = dict.fromkeys((*_KNOWN, entries.kind.configured_model))
            names.pop(entries.model, None)
            name = (
                st.selectbox("Change to", list(names), key="memory-model-name", accept_new_options=True) or ""
            )
            why_not = model_choice.missing(name, offered=names)
            is_locked = bool(why_not) or name == entries.model or job_bar.is_busy(resources.jobs())
            job_bar.button(
                "memory-model", resources.library(), f"Embed {KINDS[kind].label.lower()} with {name}",
                _embedding(memory, kind, name), after_run=True,
                button=Button("Embed them with it", icon="model_training", disabled=is_locked),
            )  # fmt: skip
        if why_not:
            st.caption(f"Not available here: {format.plain(why_not, limit=400)}")
        else:
            st.caption(
                f"{counted(kind, entries.count())} by {format.plain(entries.model)} now. New vectors wait "
                "alongside the old ones until all are there; interrupted, it goes on the next time."
            )


def _embedding(memory: Memory, kind: str, name: str) -> Callable[[Progress], bool]:
    def embed(progress: Progress) -> bool:
        progress.what, progress.total = "embedding", memory.entries(kind).count()
        return memory.reembed([kind], name, progress=progress)

    return embed


def export(memory: Memory) -> None:
    """A choice of kind, and a button that writes the file when it is pressed."""
    st.header("Export the text memory", anchor=False)
    with st.container(border=True):
        kind = st.selectbox("Kind", list(KINDS), format_func=lambda name: KINDS[name].label)
        ending = _ENDINGS.get(kind, ".zip")
        if ending == ".zip":
            st.caption("A Chroma folder with documents and metadata, as a zip.")
        st.download_button(
            "Download", lambda: _exported(memory, kind), f"{kind}{ending}",
            key="memedex.export_memory", icon=":material/download:", on_click="ignore",
            disabled=not memory.entries(kind).count(),
        )  # fmt: skip


def _exported(memory: Memory, kind: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{kind}{_ENDINGS.get(kind, '')}"
        memory.export(path, kinds=[kind])
        if path.is_dir():
            path = Path(shutil.make_archive(str(path), "zip", path))
        return path.read_bytes()

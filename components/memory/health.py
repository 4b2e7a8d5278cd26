"""Health of the text memory: figures of each kind, and what needs attention, with the remedy."""

from pathlib import Path
from typing import Any

import streamlit as st

from components.memory import adding, entry_link, exporting, models, open_memory
from components.memory.kinds import KINDS, counted, text_of
from components.shell import format, job_bar, resources, tables
from store.jobs import Job
from store.memory import doctor
from store.memory.engine.reembedding import reembed
from store.memory.inspect.health import READ_AGAIN, Concern, MemoryFigures, concerns, figures, unread_worlds
from store.memory.memory import Memory
from store.progress import Progress
from store.settings import settings

_JOB = "memedex.memory_check"
_HEIGHT = 170  # px; the same with and without bars
_SHOWN = 10  # entries named of each concern


def show(memory: Memory) -> None:
    """Show the memory's figures and concerns."""
    numbers, found = _examined(memory, settings().root, memory.generation)
    if unread := unread_worlds(memory):
        found = [unread, *found]
    _kinds(memory, numbers)
    with st.container(horizontal=True, gap="small"):
        exporting.show(memory)
    if memory.can_write:
        models.show(memory)
    st.subheader("Needs attention", anchor=False)
    for number, concern in enumerate(found):
        _concern(memory, concern, number)
    if not found:
        st.success(
            "Nothing: every entry has text and a vector, and belongs somewhere.",
            icon=":material/check_circle:",
        )
    if memory.can_write:
        st.subheader("Examination", anchor=False)
        _examination(memory)


@st.cache_data(show_spinner=False, max_entries=2)
def _examined(
    _memory: Memory, root: Path, generation: tuple[int, ...]
) -> tuple[list[MemoryFigures], list[Concern]]:
    """Computed once for each state of the memory: 100,000 entries take seconds."""
    return [figures(_memory.passages[name]) for name in KINDS], concerns(_memory)


def _kinds(memory: Memory, numbers: list[MemoryFigures]) -> None:
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
    for fault in status.faults.values():
        st.error("One kind of memory cannot be used; all others work:", icon=":material/error:")
        st.text(fault)
    for kept in status.moved_aside:
        with st.container(horizontal=True, gap="small"):
            st.badge("Kept", icon=":material/inventory_2:", color="blue")
            st.text(kept, width="stretch")


def _card(found: MemoryFigures) -> None:
    """How many entries, and a histogram of their lengths, from the shortest to the longest."""
    with st.container(gap="xsmall"):
        st.metric(
            KINDS[found.kind].label,
            f"{found.entries:,}",
            f"{found.characters:,} characters" if found.entries else None,
            delta_color="off",
            delta_arrow="off",
            border=True,
            height=_HEIGHT,
            chart_data=[number for _, number in found.lengths] or None,
            chart_type="bar",
            help=f"From {found.shortest:,} to {found.longest:,} characters each, the bars by length; "
            f"{format.size(found.size)} on the disk.",
        )
        for model, number in found.models.items():
            label = format.plain(model.removeprefix("sentence-transformers:") or "no vector", limit=30)
            st.badge(f"{label} · {number:,}", color="gray" if model == found.model else "orange")


def _concern(memory: Memory, concern: Concern, number: int) -> None:
    kind, count = concern.kind, concern.count
    label = f"{KINDS[kind].label}: {concern.what} · {count:,}"
    with st.expander(format.plain(label, limit=200), icon=":material/build:"):
        st.caption(f"Remedy: {concern.remedy}.")
        rows = {row["id"]: row for row in memory.passages[kind].rows(concern.which[:_SHOWN])}
        for id in concern.which[:_SHOWN]:
            with st.container(horizontal=True, wrap=False, vertical_alignment="center"):
                st.text(text_of(kind, rows[id])[:120] if id in rows else id, width="stretch")
                if id in rows:
                    entry_link.open_button(kind, id, key=f"concern-{number}-{id}")
        if memory.can_write:
            _remedies(memory, concern, number)


def _remedies(memory: Memory, concern: Concern, number: int) -> None:
    passages = memory.passages[concern.kind]
    if concern.remedy == "embed them":
        st.button(
            "Embed them",
            key=f"embed-{number}",
            icon=":material/model_training:",
            on_click=job_bar.begin,
            args=(
                resources.jobs(),
                f"Embed {KINDS[concern.kind].label.lower()}",
                lambda progress: reembed(passages, progress=progress),
            ),
        )
    elif concern.remedy == "cut them into chunks":
        st.button(
            "Cut and embed them",
            key=f"cut-{number}",
            icon=":material/content_cut:",
            on_click=job_bar.begin,
            args=(resources.jobs(), "Cut long chunks", lambda progress: _cut(memory, progress)),
        )
    elif concern.remedy == READ_AGAIN:
        st.button(
            "Read it again",
            key=f"read-{number}",
            icon=":material/refresh:",
            on_click=job_bar.begin,
            args=(resources.jobs(), "Import worlds", lambda _: adding.load_worlds(memory)),
        )
    elif concern.remedy == "delete them":
        st.button(
            f"Remove {counted(concern.kind, len(concern.which))}",
            key=f"delete-{number}",
            icon=":material/delete:",
            on_click=open_memory.run_verb,
            args=(passages.remove, concern.which),
            kwargs={"message": "Removed; undo brings them back."},
        )


def _cut(memory: Memory, progress: Progress) -> None:
    memory.transcripts.cut_long_chunks()
    memory.transcripts.embed_new(progress=progress)


def _examination(memory: Memory) -> None:
    busy = job_bar.is_busy(resources.jobs())
    with st.container(horizontal=True, wrap=False, vertical_alignment="center"):
        st.button(
            "Run check",
            icon=":material/stethoscope:",
            disabled=busy,
            on_click=_begin,
            args=("Check the text memory", lambda _: doctor.check(memory)),
        )
        st.caption("Compares files, full text, vectors and Chroma's collections. Changes nothing.")
    job = _job(_JOB)
    if job is None or job.state != "done":
        return
    result = [one for one in job.result if one.is_fault]
    if not result:
        st.success(f"All is well. ({format.ago(job.ended_at)})", icon=":material/check_circle:")
        return
    rows = [{"kind": one.kind, "what": one.what, "what mends it": one.remedy} for one in result]
    tables.show(rows, alt="What is wrong and what mends it")
    st.button(
        "Repair",
        icon=":material/build:",
        disabled=busy,
        on_click=_begin,
        args=("Repair the text memory", lambda _: doctor.repair(memory)),
    )


def _begin(name: str, work: Any) -> None:
    st.session_state[_JOB] = job_bar.run(resources.jobs(), name, work).id


def _job(key: str) -> Job | None:
    number = st.session_state.get(key)
    return resources.jobs().get(number) if number else None

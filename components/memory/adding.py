"""Add to the text memory: an entry by hand, papers, transcripts, worlds."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import streamlit as st

from components.shell import format, forms, job_bar, resources, server_paths
from components.shell.forms import Button, Field
from store.errors import BadSource, NotPermitted
from store.memory.memory import Memory
from store.memory.story.sessions import exchange
from store.memory.story.worlds import parse_world
from store.progress import Progress

_ADDED = "Stored."
_PAPERS = ["pdf", "html", "htm", "docx", "md", "markdown", "txt", "text", "rst"]


def menu(memory: Memory, kind: str, scope: str | None) -> None:
    """A popover with the ways to add to this kind."""
    with st.popover("Add", icon=":material/add:"):
        {
            "memories": _memory,
            "world_lore": _lore,
            "session_memory": _exchange,
            "documents": _papers,
            "transcript_vectors": _transcripts,
        }[kind](memory, scope)


def _memory(memory: Memory, scope: str | None) -> None:
    def add(given: Mapping[str, Any]) -> str:
        memory.memories.store_memory(given["text"], given["tags"])
        return _ADDED

    forms.show(
        "add-memory", resources.library(), add, button=Button("Store", kind="primary"),
        fields=[Field("text", "Memory", "text"), Field("tags", "Tags", "tags", value=[])],
    )  # fmt: skip


def _lore(memory: Memory, scope: str | None) -> None:
    def add(given: Mapping[str, Any]) -> str:
        memory.lore.add_lore(given["world"], given["name"], given["text"])
        return _ADDED

    worlds = sorted({*memory.passages["world_lore"].counts(), *(one.id for one in memory.lore.worlds())})
    forms.show(
        "add-lore", resources.library(), add, button=Button("Store", kind="primary"),
        fields=[
            Field("world", "World", value=scope if scope in worlds else "", choices=worlds),
            Field("name", "Name of the entry", placeholder="harbour_law", help="Its id is {world}_{name}."),
            Field("text", "Lore", "text", height=160),
        ],
    )  # fmt: skip
    files = st.file_uploader("Or worlds as YAML files", type=["yaml", "yml"], accept_multiple_files=True)
    if files and st.button("Import worlds", type="primary"):
        _worlds(memory, [(file.name, file.getvalue()) for file in files])
    st.button(
        "Read the folder of worlds again", icon=":material/refresh:",
        help=f"{server_paths.shown(memory.places.worlds)}/*.yaml",
        on_click=job_bar.begin,
        args=(resources.jobs(), "Import worlds", lambda _: load_worlds(memory)),
    )  # fmt: skip


def _worlds(memory: Memory, files: list[tuple[str, bytes]]) -> None:
    """Write worlds to their folder once they can be parsed; then load them from there."""
    for name, content in files:
        try:
            parse_world(content, file=name)
        except ValueError as error:
            st.error("This world cannot be imported:")
            st.text(f"{name}: {error}")
            return
    for name, content in files:
        memory.lore.put_file(memory.places.worlds, Path(name).name, content)
    job_bar.run(resources.jobs(), "Import worlds", lambda _: load_worlds(memory))
    st.rerun()


def load_worlds(memory: Memory) -> None:
    """Load new or changed files; invalid ones are named at the end."""
    refused = memory.lore.load_worlds(memory.places.worlds).refused
    if refused:
        raise BadSource("; ".join(f"{one.item}: {one.reason}" for one in refused))


def _exchange(memory: Memory, scope: str | None) -> None:
    def add(given: Mapping[str, Any]) -> str:
        prompt, answer = given["prompt"], given["answer"]
        text = exchange(prompt, answer) if prompt.strip() or answer.strip() else ""
        memory.sessions.add_memory(given["key"], str(uuid4()), text)
        return _ADDED

    forms.show(
        "add-exchange", resources.library(), add, button=Button("Store", kind="primary"),
        fields=[
            Field("key", "Character and session", value=scope or "", placeholder="mira_lantern"),
            Field("prompt", "User", "text", height=80),
            Field("answer", "AI", "text"),
        ],
    )  # fmt: skip


def _papers(memory: Memory, scope: str | None) -> None:
    protocol = st.text_input("Protocol", scope or "", placeholder="aave", key="memedex.paper_protocol")
    files = st.file_uploader(
        "Papers: PDF, HTML, Word, Markdown, text", type=_PAPERS, accept_multiple_files=True
    )
    st.caption("A paper of the same protocol and file name is replaced.")
    label = f"Import {format.counted(len(files), 'paper')}" if files else "Import"
    if st.button(label, type="primary", disabled=not files or not protocol.strip()):
        given = [(file.name, file.getvalue()) for file in files]
        job_bar.run(
            resources.jobs(),
            f"Import {label.removeprefix('Import ')}",
            lambda progress: _import_papers(memory, given, protocol, progress),
        )
        st.rerun()


def _import_papers(memory: Memory, given: list[tuple[str, bytes]], protocol: str, progress: Progress) -> None:
    """Import readable papers; the others are named at the end."""
    refused = []
    progress.total = len(given)
    for name, content in given:
        if progress.cancelled:
            return
        progress.what = name
        try:
            memory.documents.import_document(Path(name), protocol=protocol, content=content)
        except BadSource as error:
            refused.append(str(error))
        progress.done += 1
    if refused:
        raise BadSource("; ".join(refused))


def _transcripts(memory: Memory, scope: str | None) -> None:
    files = st.file_uploader("Sessions as JSONL or JSON", type=["jsonl", "json"], accept_multiple_files=True)
    path = server_paths.can_be_named() and st.text_input(
        "Or a path on this machine", placeholder=server_paths.placeholder("/home/me/sessions"),
        help="A folder with metadata.json, transcript.jsonl and events.jsonl, or folders of such folders.",
    )  # fmt: skip
    typed = (path or "").strip()
    if not st.button("Import", type="primary", disabled=not files and not typed):
        return
    try:
        paths = [server_paths.named(typed)] if typed else []
    except NotPermitted as error:
        st.error(str(error))
        return
    if not all(found.exists() for found in paths):
        st.error("There is nothing at this path.")
        return
    given = [(Path(file.name).name, file.getvalue()) for file in files]
    job_bar.run(
        resources.jobs(),
        "Import transcripts",
        lambda progress: _import_transcripts(memory, given, paths, progress),
    )
    st.rerun()


def _import_transcripts(
    memory: Memory, given: list[tuple[str, bytes]], paths: list[Path], progress: Progress
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, content in given:
            (Path(folder) / name).write_bytes(content)
        dropped = [Path(folder) / name for name, _ in given]
        report = memory.transcripts.import_sessions([*paths, *dropped], progress=progress)
    if report.refused:
        told = "; ".join(f"{one.item}: {one.reason}" for one in report.refused[:3])
        raise BadSource(f"{len(report.refused):,} items were left out: {told}")

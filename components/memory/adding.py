"""Add to the text memory: an entry by hand, papers, transcripts, worlds."""

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import streamlit as st

from components.shell import format
from components.shell.page import forms, job_bar, uploads
from components.shell.page.forms import Button, Field, Sent
from components.shell.server import server_paths
from components.shell.session import resources
from store import Job, Jobs, Memory, Outcome, Progress, Refusal
from store.disk import files as disk_files
from store.errors import BadSource
from store.memory.values import exchange, parse_world
from store.settings import settings

_ADDED = "Stored."
_PAPERS = ["pdf", "html", "htm", "docx", "odt", "pptx", "xlsx", "epub"]
_PAPERS += ["md", "markdown", "txt", "text", "rst"]


def menu(memory: Memory, kind: str, scope: str | None) -> None:
    """A popover with the ways to add to this kind."""
    draw, importing = {
        "memories": (_memory, ""),
        "world_lore": (_lore, "import-worlds"),
        "session_memory": (_exchange, ""),
        "documents": (_papers, "import-papers"),
        "transcript_vectors": (_transcripts, "import-transcripts"),
    }[kind]
    with st.popover("Add", icon=":material/add:", key=uploads.key_until_sent(importing, "menu")):
        draw(memory, scope)


def _memory(memory: Memory, scope: str | None) -> None:
    def add(given: Sent) -> str:
        memory.store(given["text"], tags=given["tags"], decision=given.decision)
        return _ADDED

    forms.show(
        "add-memory", resources.library(), add, button=Button("Store", kind="primary"),
        fields=[Field("text", "Memory", "text"), Field("tags", "Tags", "tags", value=[])],
    )  # fmt: skip


def _lore(memory: Memory, scope: str | None) -> None:
    def add(given: Sent) -> str:
        memory.lore.add_lore(given["world"], given["name"], given["text"], decision=given.decision)
        return _ADDED

    worlds = sorted(memory.worlds())
    forms.show(
        "add-lore", resources.library(), add, button=Button("Store", kind="primary"),
        fields=[
            Field("world", "World", value=scope if scope in worlds else "", choices=worlds),
            Field("name", "Name of the entry", placeholder="harbour_law", help="Its id is {world}_{name}."),
            Field("text", "Lore", "text", height=160),
        ],
    )  # fmt: skip
    files = uploads.files("Or import worlds", ["yaml", "yml"], "YAML", form="import-worlds")
    _worlds(memory, [(file.name, file.getvalue()) for file in files])
    job_bar.button(
        "read-worlds", resources.library(), "Import worlds", lambda _: memory.lore.load_worlds(),
        button=Button(
            "Read the folder of worlds again", icon="refresh",
            help=f"{server_paths.shown(memory.lore.folder)}/*.yaml",
        ),
    )  # fmt: skip


def _worlds(memory: Memory, files: Sequence[tuple[str, bytes]]) -> None:
    """Name the files that are no worlds; offer to write the others to their folder and load them."""
    worlds = []
    for name, content in files:
        try:
            parse_world(content, file=name)
        except ValueError as error:
            st.error(f"{format.plain(name)} cannot be imported:", icon=":material/error:")
            st.code(str(error), language=None, wrap_lines=True)
        else:
            worlds.append((name, content))
    watch, jobs = job_bar.watcher(), resources.jobs()
    label = f"Import {format.counted(len(worlds), 'world')}" if worlds else "Import worlds"
    forms.button(
        "import-worlds", resources.library(), lambda: watch(_import_worlds(memory, jobs, worlds)),
        after_run=True, button=Button(label, disabled=not worlds),
    )  # fmt: skip


def _import_worlds(memory: Memory, jobs: Jobs, worlds: Sequence[tuple[str, bytes]]) -> Job:
    put: dict[str, bytes] = {}
    for given, content in worlds:
        name = Path(given).name
        if put.get(name, content) != content:  # from another folder: it does not replace the one before it
            name = f"{Path(name).stem}-{disk_files.content_hash(content)[:16]}{Path(name).suffix}"
        put[name] = content
        memory.lore.put_file(name, content)
    return jobs.run("Import worlds", lambda _: memory.lore.load_worlds())


def _exchange(memory: Memory, scope: str | None) -> None:
    def add(given: Sent) -> str:
        prompt, answer = given["prompt"], given["answer"]
        text = exchange(prompt, answer) if prompt.strip() or answer.strip() else ""
        memory.store(text, kind="session_memory", scope=given["key"], decision=given.decision)
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
    files = uploads.files("Papers", _PAPERS, "PDF, HTML, Office, EPUB, Markdown, text", form="import-papers")
    folders = uploads.folder("A folder of papers", "Folders, with all papers in them", form="import-papers")
    files += [file for file in folders if file.name.rpartition(".")[2].lower() in _PAPERS]
    replaces = st.checkbox(
        "Replace papers of the same name", key="add-papers-replace",
        help="Otherwise another paper of the same name is kept under a longer one.",
    )  # fmt: skip
    if folder := settings().papers:
        refused = [(path, why) for path, (_, why) in memory.documents.watched_files().items() if why]
        st.caption(f"Or save them in {format.plain(server_paths.shown(folder), limit=120)}.")
        for path, why in refused:
            st.warning(format.plain(f"{server_paths.shown(Path(path))}: {why}"), icon=":material/block:")
    label = f"Import {format.counted(len(files), 'paper')}" if files else "Import"
    watch, jobs = job_bar.watcher(), resources.jobs()

    def begin(given: Sent) -> str:
        papers = [(file.name, file.getvalue()) for file in files]
        work = partial(_import_papers, memory, papers, given["protocol"], replaces, given.decision)
        watch(jobs.run(label, work))
        return ""

    forms.show(
        "import-papers", resources.library(), begin, after_run=True,
        fields=[Field("protocol", "Protocol", value=scope or "", placeholder="aave", required=True)],
        button=Button(label, kind="primary", disabled=not files),
    )  # fmt: skip


def _import_papers(
    memory: Memory,
    given: list[tuple[str, bytes]],
    protocol: str,
    replaces: bool,
    decision: str,
    progress: Progress,
) -> Outcome:
    """Import readable papers as one decision.

    Says how many are new, which were refused, which have another name now, and which are in a language that
    the model does not read.
    """
    outcome, notes, states = Outcome(), list[str](), Counter[str]()
    progress.total = len(given)
    for name, content in given:
        if progress.cancelled:
            break
        progress.what = name
        try:
            one = memory.documents.import_document(
                Path(name), protocol=protocol, content=content, replaces=replaces, progress=progress,
                decision=decision,
            )  # fmt: skip
            states[one.state] += 1
            outcome.done.append(one.source.id)
            note = memory.documents.not_read(one.source)
            notes += [*filter(None, [one.note, f"{name}: {note}" if note else ""])]
        except BadSource as error:
            outcome.refused.append(Refusal(name, str(error)))
        progress.done += 1
    counts = f"{states['new']:,} new, {states['changed']:,} changed, {states['present']:,} were there"
    outcome.said = "; ".join([counts, *(one.reason for one in outcome.refused), *notes])
    return outcome


def _transcripts(memory: Memory, scope: str | None) -> None:
    files = uploads.files(
        "Sessions",
        (),  # a file is what its content says
        "JSON, JSONL, Markdown, databases, zip",
        form="import-transcripts",
    )
    files += uploads.folder("A folder of sessions", "Folders, with all in them", form="import-transcripts")
    watch, jobs, name = job_bar.watcher(), resources.jobs(), server_paths.naming()

    def begin(given: Mapping[str, Any]) -> str:
        typed = given.get("path", "").strip()
        paths = [server_paths.existing(name, typed)] if typed else []
        dropped = [(file.name, file.getvalue()) for file in files]
        if not paths and not dropped:
            raise BadSource("Drop files, or type a path, first.")
        watch(jobs.run("Import transcripts", partial(_import_transcripts, memory, dropped, paths)))
        return ""

    path = Field(
        "path", "Or a path on this machine", placeholder=server_paths.placeholder("/home/me/sessions"),
        help="Of Claude Code, Codex or Gemini CLI, an export of ChatGPT or Claude.ai, or recorded sessions.",
    )  # fmt: skip
    label = f"Import {format.counted(len(files), 'file')}" if files else "Import"
    forms.show(
        "import-transcripts", resources.library(), begin, after_run=True,
        fields=[path] if server_paths.can_be_named() else [],
        button=Button(label, kind="primary"),
    )  # fmt: skip


def _import_transcripts(
    memory: Memory, given: list[tuple[str, bytes]], paths: list[Path], progress: Progress
) -> Outcome:
    """Import these files and paths."""
    with tempfile.TemporaryDirectory() as folder:
        dropped = dict[Path, None]()  # folders, and files by themselves
        for number, (name, content) in enumerate(given):
            parts = [part for part in PurePosixPath(name).parts if part not in ("/", "..")] or ["file"]
            top = Path(folder, "folders" if len(parts) > 1 else str(number))  # files may have the same name
            place = top.joinpath(*parts)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            dropped[top / parts[0]] = None
        report = memory.transcripts.import_sessions([*paths, *dropped], progress=progress)
    if not report.embedded:
        memory.transcripts.embed_imported(report, progress=progress)
    refused = [f"{one.item}: {one.reason}" for one in report.refused]
    return Outcome(report.sessions, report.refused, said="; ".join([report.summary, *refused, *report.notes]))

"""The demo of the text memory: fictional worlds, sessions, memories, papers and transcripts."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from store.disk.layout import RESOURCES
from store.errors import BadSource
from store.memory.opened import OpenedMemory
from store.memory.story.sessions import exchange, memory_key
from store.progress import Progress

FOLDER = RESOURCES / "memory-demo"
WHO = "demo"
PROTOCOLS = {"harbor_lending.pdf": "harbor", "millrace_exchange.md": "millrace"}
_STEPS = 5
_FIRST = 1_783_000_000  # when the demo's sessions began, UNIX seconds


def load(memory: OpenedMemory, *, progress: Progress | None = None, folder: Path = FOLDER) -> dict[str, int]:
    """Add what is missing; how many entries each kind has then. Raises BadSource for a bad folder."""
    progress = progress or Progress()
    progress.total = _STEPS
    steps = (("worlds", _worlds), ("memories", _memories), ("sessions", _sessions),
             ("papers", _papers), ("transcripts", _transcripts))  # fmt: skip
    try:
        for name, step in steps:
            if progress.cancelled:
                break
            progress.what = f"importing {name}"
            step(memory, folder)
            progress.done += 1
    except (OSError, KeyError, ValueError) as error:
        raise BadSource(f"the demo in {folder} cannot be read: {error}") from error
    return memory.status().counts


def _worlds(memory: OpenedMemory, folder: Path) -> None:
    for path in sorted((folder / "worlds").glob("*.yaml")):
        if not (memory.lore.folder / path.name).exists():
            memory.lore.put_file(path.name, path.read_bytes())
    memory.lore.load_worlds(actor=WHO)


def _memories(memory: OpenedMemory, folder: Path) -> None:
    rows = [
        {
            "id": f"mem_{one['at']}",
            "content": one["content"],
            "tags": json.dumps(one["tags"]),
            "timestamp": f"{datetime.fromtimestamp(one['at'], UTC):%Y-%m-%dT%H:%M:%SZ}",
        }
        for one in _read(folder / "memories.json")
    ]
    _put_new(memory, "memories", rows)


def _sessions(memory: OpenedMemory, folder: Path) -> None:
    rows: list[dict[str, Any]] = []
    for session in _read(folder / "sessions.json"):
        key = memory_key(session["character"], session["session"])
        for number, (prompt, answer) in enumerate(session["exchanges"]):
            rows.append(
                {
                    "id": f"{key}_{number}",
                    "session_id": key,
                    "memory_id": str(number),
                    "text": exchange(prompt, answer),
                    "at": _FIRST + 60.0 * len(rows),
                }
            )
    _put_new(memory, "session_memory", rows)


def _papers(memory: OpenedMemory, folder: Path) -> None:
    there = {(source.protocol, source.source) for source in memory.documents.sources()}
    for name, protocol in PROTOCOLS.items():
        if (protocol, name) not in there:
            memory.documents.import_document(folder / "documents" / name, protocol=protocol, actor=WHO)


def _transcripts(memory: OpenedMemory, folder: Path) -> None:
    memory.transcripts.import_sessions([folder / "transcripts"], actor=WHO)


def _put_new(memory: OpenedMemory, kind: str, rows: list[dict[str, Any]]) -> None:
    entries = memory.kinds[kind]
    there = {row["id"] for row in entries.rows([row["id"] for row in rows])}
    if new := [row for row in rows if row["id"] not in there]:
        entries.upsert(new, verb="demo", actor=WHO)


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))

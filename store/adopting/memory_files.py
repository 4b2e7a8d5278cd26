"""Agents' memories in files of other programs: knowledge graphs of MCP's memory server, and SQLite tables.

MCP memory server     https://github.com/modelcontextprotocol/servers (src/memory): a line for each
                      entity and relation; each observation, and each relation, is a memory
mcp-memory-service    https://github.com/doobidoo/mcp-memory-service: the table `memories`
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from store.adopting.chroma_texts import memory_entry
from store.adopting.system import AdoptionReport, AdoptionRequest, DataSurvey, FoundKind
from store.adopting.texts import Adoption, Entry
from store.disk.files import read_regular
from store.disk.sqlite_identity import CATALOG_ID, MEMORY_ID, opened_foreign
from store.memory.memory import Memory
from store.progress import Progress, batches

_TABLE = "memories"
# Columns of a table of memories, by what they are; the first that is there counts.
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "text": ("content", "text", "memory", "document", "body"),
    "id": ("content_hash", "uuid", "memory_id", "id"),
    "timestamp": ("created_at_iso", "created_at", "timestamp", "created", "updated_at"),
}
_GRAPHS = (".json", ".jsonl", ".ndjson")
_DATABASES = (".db", ".sqlite", ".sqlite3")
_LARGEST = 100_000_000  # bytes of a graph
_DEEPEST = 3  # folders
_BATCH = 500

Given = tuple[str, str, dict[str, Any]]  # id, text, and what else is known


class MemoryFiles:
    """Single files, and folders that hold them."""

    name = "memory-files"
    title = "Memories of other programs"

    def recognise(self, path: Path) -> DataSurvey | None:
        """The files with memories at this path; None if there is none."""
        found = []
        for file in _files(path):
            try:
                count = sum(1 for _ in _memories(file))
            except (OSError, ValueError, sqlite3.Error):
                continue  # of another kind: only what has memories is known here
            if count:
                found.append(FoundKind("memories", count, file.name))
        return DataSurvey(self.name, self.title, path, tuple(found)) if found else None

    def adopt(
        self, memory: Memory, survey: DataSurvey, request: AdoptionRequest, progress: Progress
    ) -> AdoptionReport:
        """Take all of them as one decision."""
        adoption = Adoption(memory, survey, request, progress)
        passages = memory.passages["memories"]
        for file in _files(survey.path):
            progress.what = f"reading {file.name}"
            try:
                for batch in batches(_memories(file), _BATCH):
                    adoption.take(passages, list(_entries(adoption, batch)))
            except (OSError, ValueError, sqlite3.Error):
                continue
        adoption.embed(passages)
        return adoption.report


def _entries(adoption: Adoption, batch: list[Given]) -> Iterator[Entry]:
    for id, text, metadata in batch:
        try:
            yield memory_entry(id, text, metadata, "")
        except ValueError as error:
            adoption.refuse(id, str(error))


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for file in sorted(path.rglob("*")) if path.is_dir() else []:
        is_near = len(file.relative_to(path).parts) <= _DEEPEST
        if is_near and file.suffix.lower() in (*_GRAPHS, *_DATABASES) and file.is_file():
            yield file


def _memories(file: Path) -> Iterator[Given]:
    """The memories of a file. Raises ValueError, OSError or sqlite3.Error for a file of another kind."""
    if file.suffix.lower() in _GRAPHS:
        yield from _graph(read_regular(file, limit=_LARGEST))
    elif file.suffix.lower() in _DATABASES:
        yield from _table(file)


def _graph(content: bytes) -> Iterator[Given]:
    """Observations and relations, in their order."""
    for line in content.decode("utf-8-sig").splitlines():
        if not line.strip():
            continue
        one = json.loads(line)
        match one:
            case {"type": "entity", "name": str(name), "observations": [*observations]}:
                kind = one.get("entityType")
                for text in observations:
                    yield _fact(f"{name}: {text}", [name, *([kind] if isinstance(kind, str) else [])])
            case {"type": "relation", "from": str(left), "to": str(right), "relationType": str(verb)}:
                yield _fact(f"{left} {verb} {right}", [left, right])
            case {"type": "entity" | "relation"}:
                continue
            case _:
                raise ValueError("it is no knowledge graph")


def _fact(text: str, tags: list[str]) -> Given:
    """The same fact has the same id in every copy of the graph."""
    return f"mcp-{sha256(text.encode()).hexdigest()[:16]}", text, {"tags": tags}


def _table(file: Path) -> Iterator[Given]:
    with opened_foreign(file) as db:
        (application,) = db.execute("PRAGMA application_id").fetchone()
        if application in (CATALOG_ID, MEMORY_ID):
            return
        db.row_factory = sqlite3.Row
        names = [row["name"] for row in db.execute(f"PRAGMA table_info({_TABLE})")]
        columns = {what: next((one for one in known if one in names), "") for what, known in _COLUMNS.items()}
        if not columns["text"]:
            return
        for number, row in enumerate(db.execute(f"SELECT * FROM {_TABLE}"), start=1):
            used = {*columns.values(), "id", "embedding"}
            metadata = {name: row[name] for name in names if name not in used and row[name] not in (None, "")}
            if columns["timestamp"]:
                metadata["timestamp"] = row[columns["timestamp"]]
            yield (
                str(row[columns["id"]] if columns["id"] else number),
                str(row[columns["text"]] or ""),
                metadata,
            )

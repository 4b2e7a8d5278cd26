"""Agents' memories in files of other programs: knowledge graphs, exports in JSON or CSV, SQLite tables.

MCP memory server     https://github.com/modelcontextprotocol/servers (src/memory): a line for each
                      entity and relation; each observation, and each relation, is a memory
mcp-memory-service    https://github.com/doobidoo/mcp-memory-service: the table `memories`, and its export
mem0                  https://github.com/mem0ai/mem0: what `get_all` returns
Claude.ai             `memories.json` of its export
Letta                 https://github.com/letta-ai/agent-file: the blocks of an agent's memory by their
                      labels, and the passages of its archive
LangGraph             items of a store: https://docs.langchain.com/oss/python/langgraph/persistence
Zep                   https://help.getzep.com: facts, and the edges of its graph
Google Keep           a file for each note, as Google Takeout gives them

Markdown notes        folders such as Obsidian's: each is a memory, and an editor's change comes back

The names of fields of all of them are `_FIELDS`; rows that have some of `_TELLING` are memories.
"""

import json
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from store.adopting.chroma_texts import memory_entry
from store.adopting.system import AdoptionReport, AdoptionRequest, DataSurvey, FoundKind
from store.adopting.texts import VERB, Adoption, Entry, without_secrets
from store.disk.files import open_regular, read_regular
from store.disk.sqlite_identity import CATALOG_ID, MEMORY_ID, opened_foreign
from store.errors import BadSource
from store.importing import encodings, tables
from store.importing.metadata import settle_dates
from store.memory import exporting
from store.memory.engine.change import MemoryChange
from store.memory.engine.foreign import keep_fields, kept_fields
from store.memory.memory import Memory
from store.memory.transcripts import markdown
from store.outcome import Refusal
from store.progress import Progress, batches

_TABLE = "memories"
# Names of fields, by what they are; the first that is there counts.
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "text": ("content", "text", "memory", "document", "body", "fact", "data"),
    "id": ("content_hash", "uuid", "memory_id", "id"),
    "timestamp": ("created_at_iso", "created_at", "timestamp", "created", "updated_at"),
    "tags": ("tags", "categories", "containerTags"),
    "more": ("metadata", "metadata_"),  # an object with further fields
    "deleted": ("deleted_at",),  # if it has a value, the memory was deleted
}
_INNER = ("value", "payload")  # objects of LangGraph's and Qdrant's rows, whose fields are the row's
_LISTS = ("memories", "results", "facts", "edges", "items", "points")  # where an export in JSON has them
_TELLING = {  # one is in each of an export
    "content_hash", "hash", "user_id", "agent_id", "memory_type", "fact", "namespace", "app_name",
}  # fmt: skip
_ALONE = {  # … of rows without a name for their list, or …
    "content_hash", "memory_type", "memory", "fact", "namespace", "agent_id",
}  # fmt: skip
_OF_MEMORIES = {"tags", "timestamp", "created_at"}  # … one of these with an id and `content`, and none of …
_OF_OTHERS = {"role", "author", "sender", "type", "title", "url"}
_MADE = re.compile(rb"CREATE TABLE (?:IF NOT EXISTS )?[\"'`\[]?memories\b")
_IS_GRAPH = re.compile(r'"type"\s*:\s*"(?:entity|relation)"')
_JSON = (".json", ".jsonl", ".ndjson", ".af")
_CELLS = (".csv", ".tsv")
_DATABASES = (".db", ".sqlite", ".sqlite3")
_LARGEST = 100_000_000  # bytes of a file in JSON
_BEGINNING = 1_000_000  # bytes in which a database says which tables it has
_DEEPEST = 3  # folders
_BATCH = 500
_NAMED = 5  # broken lines of a file
_SIGN = 100  # bytes that tell what a file is

Given = tuple[str, str, dict[str, Any]]  # id, text, and what else is known
_ENDINGS = (".md", ".markdown")
_NO_NOTES = {"readme", "license", "changelog", "contributing"}
_LARGEST_NOTE = 10_000_000  # bytes of a note
_DEEPEST_NOTE = 8  # folders
_NOTES_AT_ONCE = 200
_CHANGED_TWICE = "it was changed here as well since it was exported or taken; nothing was overwritten"


class MemoryFiles:
    """Single files, and folders that hold them."""

    name = "memory-files"
    title = "Memories of other programs"

    def recognise(self, path: Path) -> DataSurvey | None:
        """The files with memories at this path; None if there is none."""
        found, refused = list[FoundKind](), list[Refusal]()
        for file in _files(path):
            given = [*_memories(file)]
            faults = [one for one in given if isinstance(one, Refusal)]
            refused += faults
            if len(given) > len(faults):
                found.append(FoundKind("memories", len(given) - len(faults), file.name))
        if not (found or refused):
            return None
        return DataSurvey(self.name, self.title, path, tuple(found), tuple(refused))

    def adopt(
        self, memory: Memory, survey: DataSurvey, request: AdoptionRequest, progress: Progress
    ) -> AdoptionReport:
        """Take all of them as one decision."""
        adoption = Adoption(memory, survey, request, progress)
        entries = memory.kinds["memories"]
        for file in _files(survey.path):
            progress.what = f"reading {file.name}"
            for batch in batches(_memories(file), _BATCH):
                adoption.take(entries, list(_entries(adoption, batch)))
        adoption.embed(entries)
        return adoption.report


def _entries(adoption: Adoption, batch: list[Given | Refusal]) -> Iterator[Entry]:
    for given in batch:
        if isinstance(given, Refusal):
            adoption.report.refused.append(given)
            continue
        id, text, metadata = given
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
        if is_near and file.suffix.lower() in (*_JSON, *_CELLS, *_DATABASES) and file.is_file():
            yield file


def _memories(file: Path) -> Iterator[Given | Refusal]:
    """The memories of a file, and what of it cannot be read; nothing of a file of another kind."""
    try:
        kind = file.suffix.lower()
        if kind in _CELLS:
            yield from _cells(read_regular(file, limit=_LARGEST), kind)
        elif kind not in _DATABASES and (kind in _JSON or _begins_as_json(file)):
            content = encodings.read(read_regular(file, limit=_LARGEST))[0]
            whole = _parsed(content)
            whole = _parsed(whole) if isinstance(whole, str) else whole  # JSON in a text, as Letta's
            if isinstance(whole, dict) and "type" not in whole:
                yield from _export(whole)
            elif isinstance(whole, list):
                yield from _listed(whole)
            elif _IS_GRAPH.search(content):
                yield from _graph(file, content)
            elif _is_memory(_flat(_object(content.partition("\n")[0])).keys()):
                yield from _listed([_parsed(line) for line in content.split("\n")])
        elif kind in _DATABASES:
            yield from _table(file)
    except (OSError, BadSource, sqlite3.Error) as error:
        if isinstance(error, sqlite3.Error) and _has_memories(file):
            yield Refusal(file.name, f"its table of memories cannot be read to its end: {error}")


def _cells(content: bytes, kind: str) -> Iterator[Given]:
    """The memories of a table; none of one that has pictures, passages of documents or anything else."""
    given = tables.rows_of(content, suffix=kind, fields=_FIELDS["text"])
    rows = [{key.lower(): cell for key, cell in row.items()} for _, row in given if isinstance(row, dict)]
    heads = {head for row in rows for head in row}
    if "embedding" not in heads and "picture" not in map(tables.counts_as, heads) and _is_memory(heads):
        settle_dates(rows)
        yield from _rows(rows)


def _begins_as_json(file: Path) -> bool:
    with open_regular(file) as opened:
        return opened.read(_SIGN).lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[", b'"{'))


def _is_memory(names: Set[str]) -> bool:
    """Whether a row with these fields, of a list without a name, is a memory."""
    is_plain = {"id", "content"} <= names and bool(_OF_MEMORIES & names)
    has_text = bool(names & {*_FIELDS["text"]})
    return (has_text and bool(_ALONE & names)) or (is_plain and not _OF_OTHERS & names)


def _graph(file: Path, content: str) -> Iterator[Given | Refusal]:
    """Observations and relations in their order; lines of other types are passed over."""
    left_out = 0
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield from _facts(json.loads(line))
        except (ValueError, RecursionError) as error:
            left_out += 1
            if left_out <= _NAMED:
                yield Refusal(f"{file.name}, line {number}", f"it is no JSON: {error}")
    if (more := left_out - _NAMED) > 0:
        yield Refusal(file.name, f"{more:,} more lines are no JSON")


def _facts(one: Any) -> Iterator[Given]:
    match one:
        case {"name": str(name), "observations": [*observations]}:
            kind = one.get("entityType")
            for given in observations:
                text = given.get("content") if isinstance(given, dict) else given
                if isinstance(text, str):
                    yield _fact(f"{name}: {text}", [name, *([kind] if isinstance(kind, str) else [])])
        case {"from": str(left), "to": str(right), "relationType": str(verb)}:
            yield _fact(f"{left} {verb} {right}", [left, right])
        case {"source": str(left), "relationship": str(verb), "target": str(right)}:  # of mem0's graph
            yield _fact(f"{left} {verb} {right}", [left, right])


def _fact(text: str, tags: list[str]) -> Given:
    """The same fact has the same id in every copy of the graph."""
    return f"mcp-{sha256(text.encode()).hexdigest()[:16]}", text, {"tags": tags}


def _export(whole: Mapping[str, Any]) -> Iterator[Given]:
    """A graph, or a list of memories, in one JSON value."""
    match whole:
        case {"entities": [*entities], "relations": [*relations]}:
            for one in (*entities, *relations):
                yield from _facts(one)
        case {"agents": [*agents], "blocks": [*blocks]}:
            yield from _letta(blocks, agents, whole)
        case {"core_memory": [*blocks], "messages": [*_]}:
            yield from _letta(blocks, [], whole)
        case {"isTrashed": bool(is_trashed), "isPinned": bool()}:
            if not is_trashed:
                yield from _keep(whole)
        case {"result": {"points": [*_]} as inner}:
            yield from _export(inner)
        case _:
            lists = (whole[name] for name in _LISTS if isinstance(whole.get(name), list))
            is_named = isinstance(whole.get("memories"), list)  # as nothing else is called
            given = ({"text": one} if is_named and isinstance(one, str) else one for one in next(lists, []))
            rows = [_flat(one) for one in given if isinstance(one, dict)]
            if rows and (is_named or any(_TELLING & row.keys() for row in rows)):  # others may lack it
                yield from _rows(rows)
                for one in whole.get("relations") or ():
                    yield from _facts(one)
            elif not rows:
                for one in ([whole], *filter(_is_list, whole.values())):  # of each person, under a name
                    yield from _listed(one)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _letta(blocks: Iterable[Any], agents: list[Any], whole: Mapping[str, Any]) -> Iterator[Given]:
    """The blocks of agents' memories, each with its label as a tag and the names of its agents."""
    owners = defaultdict[str, list[str]](list)
    for agent in agents:
        match agent:
            case {"name": str(name), "block_ids": [*ids]}:
                for id in ids:
                    owners[str(id)].append(name)
    for block in blocks:
        match block:
            case {"label": str(label), "value": str(text)} if text.strip():
                when = block.get("updated_at") or block.get("created_at") or whole.get("created_at")
                names = owners.get(str(block.get("id")), [str(whole.get("name") or "")])
                about = {
                    "agent": ", ".join(names),
                    "description": block.get("description"),
                    "timestamp": when,
                }
                id = f"letta-{sha256(f'{label} {text}'.encode()).hexdigest()[:16]}"
                yield id, text.strip(), {"tags": [label], **{key: one for key, one in about.items() if one}}


def _keep(note: Mapping[str, Any]) -> Iterator[Given]:
    """A note of Google Keep: its text, or the lines of its list, below its title."""
    boxes = [one for one in note.get("listContent") or () if isinstance(one, dict)]
    lines = [f"- [{'x' if one.get('isChecked') else ' '}] {one.get('text', '')}" for one in boxes]
    text = "\n".join([str(note.get("textContent") or ""), *lines]).strip()
    if title := str(note.get("title") or "").strip():
        text = f"# {title}\n\n{text}".strip()
    labels = [one.get("name") for one in note.get("labels") or () if isinstance(one, dict)]
    when = note.get("createdTimestampUsec") or note.get("userEditedTimestampUsec")
    if text:
        about = {"tags": labels, **({"timestamp": when} if when else {})}
        yield f"keep-{sha256(f'{when} {text}'.encode()).hexdigest()[:16]}", text, about


def _listed(values: list[Any]) -> Iterator[Given]:
    """The memories of a list by itself; none of a list of anything else."""
    rows: list[Mapping[str, Any]] = [one for one in values if isinstance(one, dict)]
    for one in rows:
        if isinstance(one.get("conversations_memory"), str):
            given = {"": one["conversations_memory"], **_object(one.get("project_memories"))}
            for project, text in given.items():
                if isinstance(text, str) and text.strip():
                    id = f"claude-{sha256(text.encode()).hexdigest()[:16]}"
                    yield id, text, {"project": project} if project else {}
    if rows and all({"label", "value", "limit"} <= one.keys() for one in rows):
        yield from _letta(rows, [], {})
        return
    rows = [_flat(one) for one in rows]
    if rows and _is_memory(rows[0].keys()):  # a row that lacks what the first one has is one all the same
        yield from _rows(rows)


def _rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[Given]:
    """Memories by the names of their fields."""
    for row in rows:
        by = {what: next((one for one in names if one in row), "") for what, names in _FIELDS.items()}
        if not by["text"] or (by["deleted"] and row[by["deleted"]]):
            continue
        used = {*by.values(), "id", "embedding"}
        metadata = {
            name: value for name, value in row.items() if name not in used and value not in (None, "")
        }
        metadata = {**_object(row.get(by["more"])), **metadata}
        metadata |= {what: row[by[what]] for what in ("timestamp", "tags") if by[what]}
        text = str(row[by["text"]] or "")
        yield str(row.get(by["id"]) or f"memory-{sha256(text.encode()).hexdigest()[:16]}"), text, metadata


def _flat(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row with what it holds in an object; the key of LangGraph's items is unique in their namespace."""
    inner: dict[str, Any] = next((row[name] for name in _INNER if isinstance(row.get(name), dict)), {})
    own = {name: value for name, value in row.items() if value is not inner}
    if isinstance(space := row.get("namespace"), list) and "key" in row:
        own["id"] = "/".join(map(str, [*space, own.pop("key")]))
    if isinstance(content := inner.get("content"), dict):  # LangMem's
        inner = {**inner, **content}
    return {**inner, **own}


def _object(given: Any) -> Mapping[str, Any]:
    value = _parsed(given) if isinstance(given, str) else given
    return value if isinstance(value, dict) else {}


def _parsed(text: str) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


def _table(file: Path) -> Iterator[Given]:
    with opened_foreign(file) as db:
        (application,) = db.execute("PRAGMA application_id").fetchone()
        if application in (CATALOG_ID, MEMORY_ID):
            return
        db.row_factory = sqlite3.Row
        if {row["name"] for row in db.execute(f"PRAGMA table_info({_TABLE})")} & {*_FIELDS["text"]}:
            yield from _rows(dict(row) for row in db.execute(f"SELECT * FROM {_TABLE}"))


def _has_memories(file: Path) -> bool:
    """Whether a database that cannot be read has a table of memories."""
    try:
        with open_regular(file) as opened:
            return bool(_MADE.search(opened.read(_BEGINNING)))
    except OSError:
        return False


class MarkdownNotes:
    """A folder most of whose files are Markdown."""

    name = "notes"
    title = "Markdown notes"

    def recognise(self, path: Path) -> DataSurvey | None:
        """The notes of this folder; None for a file, and for a folder of other files."""
        if not (files := _note_files(path)):
            return None
        read = [*_notes(path, files)]
        refused = tuple(one for one in read if isinstance(one, Refusal))
        found = FoundKind("memories", len(read) - len(refused), path.name, "one for each note")
        return DataSurvey(self.name, self.title, path, (found,), refused)

    def adopt(
        self, memory: Memory, survey: DataSurvey, request: AdoptionRequest, progress: Progress
    ) -> AdoptionReport:
        """Take what is new; of a note that was taken before, what an editor changed is a new version."""
        adoption = Adoption(memory, survey, request, progress)
        passages = memory.kinds["memories"]
        for batch in batches(_notes(survey.path, _note_files(survey.path)), _NOTES_AT_ONCE):
            if progress.cancelled:
                return adoption.report
            adoption.report.refused += [one for one in batch if isinstance(one, Refusal)]
            entries = [one for one in batch if isinstance(one, Entry)]
            with passages.change(VERB, actor=adoption.actor, decision=adoption.decision) as change:
                left = [entry for entry in entries if not _has_known(adoption, change, entry)]
            adoption.take(passages, left)
        adoption.embed(passages)
        return adoption.report


def _has_known(adoption: Adoption, change: MemoryChange, entry: Entry) -> bool:
    """Whether this memory is here; if its note alone was changed, the memory is as well."""
    id, new = entry.row["id"], without_secrets(entry, "content", Counter()).row
    row = change.row("memories", id)
    if row is None:
        return False
    given, here = _hash(new), _hash(row)
    metadata = kept_fields(change.db, change.kind, [id]).get(id, {})
    if here in (given, _hash(entry.row)):
        adoption.report.present.append(id)
    elif here not in (entry.metadata.get("from"), metadata.get(exporting.HASH)):
        adoption.refuse(id, _CHANGED_TWICE)
    else:
        change.upsert({**row, "content": new["content"], "tags": new["tags"]})
        keep_fields(change, id, {**metadata, **_kept(entry), exporting.HASH: given})
        adoption.report.taken.append(id)
    adoption.progress.done += 1
    return True


def _hash(row: Mapping[str, Any]) -> str:
    return exporting.hash_of(row["content"], json.loads(row["tags"]))


def _kept(entry: Entry) -> dict[str, object]:
    return {name: value for name, value in entry.metadata.items() if name != "from"}


def _notes(root: Path, files: list[Path]) -> Iterator[Entry | Refusal]:
    for file in files:
        place = file.relative_to(root).as_posix()
        try:
            note = exporting.read_note(
                encodings.read(read_regular(file, limit=_LARGEST_NOTE))[0], name=file.stem
            )
            id = note.id or f"note-{sha256(place.encode()).hexdigest()[:16]}"
            given = {"tags": [*note.tags], "created_at": note.created, **note.more, exporting.NOTE: place}
            saved = datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat(timespec="seconds")
            entry = memory_entry(id, note.text, given, saved)
            entry.unread = tuple(f"{place}: {one}" for one in note.unread)
        except (OSError, ValueError, BadSource) as error:
            yield Refusal(place, str(error))
        else:
            said = without_secrets(entry, "content", Counter()).row
            entry.metadata = {**note.more, exporting.NOTE: place, exporting.HASH: _hash(said)}
            if note.hash:
                entry.metadata["from"] = note.hash
            yield entry


def _note_files(path: Path) -> list[Path]:
    """The notes below a folder, without recorded conversations; none if most files are of other kinds."""
    if not path.is_dir():
        return []
    found, others = list[Path](), 0
    waiting = [(path, 0)]
    while waiting:
        folder, depth = waiting.pop()
        for one in sorted(folder.iterdir()):
            if one.name.startswith(".") or one.is_symlink():
                continue
            if one.is_dir():
                waiting += [(one, depth + 1)] if depth < _DEEPEST_NOTE else []
            elif one.suffix.lower() in _ENDINGS:
                is_none = one.stem.lower() in _NO_NOTES or markdown.is_known(one)
                found += [] if is_none else [one]
            else:
                others += 1
    return sorted(found) if len(found) > others else []

"""Export kinds of memory: to a Chroma, a table of passages, a transcript database, or Markdown notes."""

import csv
import datetime
import json
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from secrets import token_hex
from typing import Any

import numpy as np

from store.chroma.foreign import CollectionWriter, Texts
from store.chroma.process import ChildProcess, ChromaFailed
from store.errors import BadSource, NotWritten
from store.memory.documents.documents import metadata as document_metadata
from store.memory.engine.entries import Entries
from store.memory.engine.foreign import kept_fields
from store.memory.engine.inputs import InvalidInput, for_chroma
from store.memory.engine.kind import MemoryKind
from store.memory.opened import OpenedMemory
from store.memory.transcripts.tables import TABLES
from store.outcome import Outcome, Refusal

_BATCH = 500


@dataclass(frozen=True, slots=True)
class ExportEntry:
    """One entry: its row, what came with it, and its vector by the model asked for."""

    row: dict[str, Any]
    metadata: dict[str, Any]
    vector: bytes | None


def batches(entries: Entries, *, model: str = "", table: str = "") -> Iterator[list[ExportEntry]]:
    """All entries in the order in which they were written; vectors by `model`, "" for the kind's own."""
    kind, model, last = entries.kind, model or entries.version, -1
    source = f"SELECT *, NULL AS asked FROM (SELECT rowid AS rowid_, * FROM {table} WHERE ? <> '') p"
    if table in ("", kind.table):
        source = f"SELECT p.*, v.vector AS asked FROM {kind.with_any_vector()} p {kind.joined(model='?')}"
    while True:
        with entries.database.reading() as db:
            query = f"{source} WHERE p.rowid_ > ? ORDER BY p.rowid_ LIMIT ?"
            rows = db.execute(query, [model, last, _BATCH]).fetchall()
            if not rows:
                return
            last = rows[-1]["rowid_"]
            came_with = kept_fields(db, kind, [row["id"] for row in rows])
        yield [ExportEntry(_own(row), came_with.get(row["id"], {}), row["asked"]) for row in rows]


def metadata_of(kind: MemoryKind, entry: ExportEntry) -> dict[str, Any]:
    """The metadata as the references keep them, with what came along."""
    if kind.name == DOCUMENTS:
        return for_chroma(entry.metadata or document_metadata(entry.row))
    return for_chroma({**kind.fields(entry.row), **entry.metadata})


def _own(row: sqlite3.Row) -> dict[str, Any]:
    return {name: row[name] for name in row.keys() if name not in ("rowid_", "number", "asked")}  # noqa: SIM118


_GIVEN = "front_matter_given"  # where front matter is kept that cannot be read
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_NO_NAME = re.compile(r"[^\w -]+")
_TAGS, _TIMES = ("tags", "tag", "keywords"), ("created", "date", "created_at", "timestamp")
NOTE, HASH = "note", "hash"  # in the metadata of a memory: the note's place in its folder, and what it said
_LONGEST = 60  # characters of a name


@dataclass(frozen=True, slots=True)
class Note:
    """What a note says; `id` and `hash` are "" unless it was a memory before."""

    id: str
    text: str
    tags: tuple[str, ...]
    created: Any
    hash: str
    more: Mapping[str, Any]  # further fields of its front matter
    unread: tuple[str, ...] = ()  # why its front matter cannot be read, and is kept as a text


def hash_of(text: str, tags: Any) -> str:
    """A short hash of what a person changes in a note."""
    return sha256(json.dumps([text, [*tags]]).encode()).hexdigest()[:12]


def read_note(content: str, *, name: str) -> Note:
    """The note in this file; one without a heading begins with its name.

    Raises ValueError for bad YAML of a memory that was exported: it does not say which one it is.
    """
    import yaml

    fields, body, unread = dict[str, Any](), content.replace("\r\n", "\n"), tuple[str, ...]()
    if front := _FRONT.match(body):
        try:
            if any(isinstance(one, yaml.AliasEvent) for one in yaml.parse(front[1], yaml.SafeLoader)):
                raise ValueError("it has aliases")  # aliases of aliases would fill the memory
            given = yaml.safe_load(front[1])
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            unread = ("its front matter is no YAML that can be read",)
            if HASH in front[1]:
                raise ValueError(f"{unread[0]}: {' '.join(str(error).split())}") from error
            given = {_GIVEN: front[1]}
        fields = {
            str(key): _plain(value) for key, value in (given if isinstance(given, dict) else {}).items()
        }
        body = body[front.end() :]
    text = body.strip()
    if text and not text.startswith("#") and "id" not in fields:
        text = f"# {name}\n\n{text}"
    tags: Any = next((fields[one] for one in _TAGS if fields.get(one)), [])
    parts = tags if isinstance(tags, list) else str(tags).split("," if "," in str(tags) else None)
    known = {*_TAGS, *_TIMES, "id", HASH}
    return Note(
        id=str(fields.get("id") or ""),
        text=text,
        tags=tuple(dict.fromkeys(tag for one in parts if (tag := str(one).strip().lstrip("#")))),
        created=next((fields[one] for one in _TIMES if fields.get(one)), None),
        hash=str(fields.get(HASH) or ""),
        more={key: value for key, value in fields.items() if key not in known and value is not None},
        unread=unread,
    )


def note_text(row: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    """A memory as a note, which `read` reads."""
    import yaml

    tags = json.loads(row["tags"])
    more = {name: value for name, value in metadata.items() if name not in (NOTE, HASH)}
    fields = {
        "id": row["id"], HASH: hash_of(row["content"], tags), "created": row["timestamp"], "tags": tags,
        **more,
    }  # fmt: skip
    front = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False)
    return f"---\n{front}---\n\n{row['content']}\n"


def note_place(row: Mapping[str, Any], metadata: Mapping[str, Any]) -> Path:
    """Where a memory's note stands in its folder: where it came from, else named by its first words."""
    came_from = PurePosixPath(str(metadata.get(NOTE, "")))
    if came_from.suffix and not came_from.is_absolute() and ".." not in came_from.parts:
        return Path(came_from)
    words = _NO_NAME.sub("", row["content"].strip().split("\n")[0]).strip()[:_LONGEST].strip() or "memory"
    return Path(f"{words} {sha256(row['id'].encode()).hexdigest()[:6]}.md")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime.date):  # or a moment
        return value.isoformat()
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


IN_CHROMA = ("memories", "world_lore", "session_memory")
MEMORIES, DOCUMENTS, TRANSCRIPTS = "memories", "documents", "transcript_vectors"
NOTES = "notes"  # the form
_LINES = (".jsonl", ".ndjson")


def export(
    memory: OpenedMemory, path: Path, *, kinds: Sequence[str], model: str = "", form: str = ""
) -> Outcome:
    """Write these kinds in the layout of their reference; the result is there whole, or not at all.

    Memories, lore and sessions go into a new Chroma folder, documents into a .csv or .jsonl file, transcripts
    into a new SQLite file; with the form "notes" memories become a folder of Markdown notes. `model` chooses
    whose vectors; an entry without one is refused for a Chroma.
    Raises InvalidInput for kinds that do not go together, BadSource if there is something at the path.
    """
    if path.exists():
        raise BadSource(f"there is something at {path} already; an export needs a new place")
    outcome = Outcome()
    with _staged(path) as staged:
        if form == NOTES and [*kinds] == [MEMORIES]:
            _to_notes(memory, staged, outcome)
        elif form:
            raise InvalidInput(f"only {MEMORIES} are exported as {NOTES}, and there is no other form")
        elif set(kinds) <= set(IN_CHROMA) and kinds:
            _to_chroma(memory, staged, kinds, model, outcome)
        elif [*kinds] == [DOCUMENTS]:
            _to_table(memory, staged, path.suffix.lower(), model, outcome)
        elif [*kinds] == [TRANSCRIPTS]:
            _to_database(memory, staged, outcome)
        else:
            raise InvalidInput(f"{', '.join(kinds)} do not go into one export")
    return outcome


@contextmanager
def _staged(path: Path) -> Iterator[Path]:
    """A place next to the path that is renamed to it at the end."""
    staged = path.with_name(f".{path.name}.{token_hex(4)}.unfinished")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield staged
        os.replace(staged, path)  # noqa: PTH105
    except (OSError, sqlite3.Error, ChromaFailed) as error:
        raise NotWritten(f"nothing was exported to {path}: {error}") from error
    finally:
        if staged.is_dir():
            shutil.rmtree(staged, ignore_errors=True)
        staged.unlink(missing_ok=True)


def _to_chroma(
    memory: OpenedMemory, staged: Path, kinds: Sequence[str], model: str, outcome: Outcome
) -> None:
    why = "it has no vector of this model, which a Chroma needs"
    with closing(ChildProcess(CollectionWriter, staged)) as chroma:
        for kind in kinds:
            for batch in batches(memory.kinds[kind], model=model):
                whole = [entry for entry in batch if entry.vector is not None]
                chroma.call(CollectionWriter.add, kind, _texts(memory.kinds[kind].kind, whole))
                outcome.done += [entry.row["id"] for entry in whole]
                outcome.refused += [Refusal(one.row["id"], why) for one in batch if one.vector is None]


def _texts(kind: MemoryKind, whole: Sequence[ExportEntry]) -> Texts:
    return Texts(
        ids=[entry.row["id"] for entry in whole],
        documents=[entry.row[kind.text] for entry in whole],
        metadata=[metadata_of(kind, entry) for entry in whole],
        vectors=[entry.vector or b"" for entry in whole],
    )


def _to_notes(memory: OpenedMemory, staged: Path, outcome: Outcome) -> None:
    for batch in batches(memory.kinds[MEMORIES]):
        for entry in batch:
            place = staged / note_place(entry.row, entry.metadata)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(note_text(entry.row, entry.metadata), encoding="utf-8", newline="")
            outcome.done.append(entry.row["id"])
    staged.mkdir(exist_ok=True)


def _to_table(memory: OpenedMemory, staged: Path, suffix: str, model: str, outcome: Outcome) -> None:
    with staged.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if suffix not in _LINES:
            writer.writerow(("id", "content", "embedding", "metadata"))
        for batch in batches(memory.kinds[DOCUMENTS], model=model):
            for entry in batch:
                numbers = _numbers(entry.vector)
                metadata = metadata_of(memory.kinds[DOCUMENTS].kind, entry)
                if suffix in _LINES:
                    row = {"id": entry.row["id"], "content": entry.row["content"], "embedding": numbers}
                    file.write(json.dumps({**row, "metadata": metadata}, ensure_ascii=False) + "\n")
                else:
                    vector = json.dumps(numbers, separators=(",", ":")) if numbers else ""
                    cells = (entry.row["id"], entry.row["content"], vector)
                    writer.writerow((*cells, json.dumps(metadata, ensure_ascii=False)))
                outcome.done.append(entry.row["id"])


def _to_database(memory: OpenedMemory, staged: Path, outcome: Outcome) -> None:
    entries = memory.kinds[TRANSCRIPTS]
    with closing(sqlite3.connect(staged)) as db:
        db.executescript(TABLES)
        for table in ("transcripts", "transcript_vectors", "events"):
            for batch in batches(entries, table=table):
                for entry in batch:
                    row = dict(entry.row)
                    if model := row.get("embedding_model"):
                        row["embedding_model"] = model.removeprefix("litellm:")
                    db.execute(
                        f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
                        [*row.values()],
                    )
                if table == "transcripts":
                    outcome.done += [entry.row["id"] for entry in batch]
        db.commit()


def _numbers(vector: bytes | None) -> list[float] | None:
    """The numbers in as few digits as give the same float32 again."""
    return None if vector is None else [float(str(one)) for one in np.frombuffer(vector, "<f4")]

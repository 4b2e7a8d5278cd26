"""Transcript databases of every version, in SQLite or DuckDB: recognised, read and taken."""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from store.adopting.system import AdoptionReport, AdoptionRequest, DataSurvey, FoundKind
from store.adopting.texts import Adoption, Entry, model_of
from store.disk.sqlite import marks
from store.disk.sqlite_identity import CATALOG_ID, MEMORY_ID, opened_foreign
from store.errors import BadSource, MemedexError, ModelUnavailable
from store.memory.engine.foreign import (
    TIMES,
    as_vector,
    keep_fields,
    kept_fields,
    model_name,
    moment,
    time_of,
    whole_number,
)
from store.memory.engine.inputs import as_json, comparable_json
from store.memory.engine.kind import UNKNOWN
from store.memory.memory import Memory
from store.memory.text.extraction import CONTENT_TYPES, extract_all_embeddable_content, readable
from store.memory.text.secrets import masked
from store.memory.text.tokens import chunk_text, count_tokens
from store.memory.transcripts import events
from store.memory.transcripts.files import project_of
from store.memory.transcripts.intake import facts_id
from store.memory.transcripts.messages import text_of
from store.outcome import Refusal
from store.progress import Progress, batches

NEWEST = 3
_SQLITE, _DUCK = b"SQLite format 3\0", b"DUCK"  # DuckDB's is at byte 8
_BATCH = 100

Row = dict[str, Any]

# A table's columns, as SQLite and DuckDB answer it; none if there is no such table.
_COLUMNS_SQLITE = "SELECT name FROM pragma_table_info(?)"
_COLUMNS_DUCK = "SELECT column_name AS name FROM information_schema.columns WHERE table_name = ?"


@dataclass(frozen=True)
class TranscriptTables:
    """The reader of such a database."""

    db: Any  # a connection of sqlite3 or duckdb
    query_of_columns: str

    def columns_of(self, table: str) -> frozenset[str]:
        """The names of a table's columns; empty if there is no such table."""
        return frozenset(row["name"] for row in self.rows(self.query_of_columns, [table]))

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """The rows that a query finds, read one by one."""
        found = self.db.cursor().execute(query, [*values])
        names = [column[0] for column in found.description]
        while part := found.fetchmany(_BATCH):
            for row in part:
                yield dict(zip(names, row, strict=True))

    @cached_property
    def columns(self) -> frozenset[str]:
        """The columns of the table of messages."""
        return self.columns_of("transcripts")

    @property
    def is_known(self) -> bool:
        """Whether it has the table of messages at all."""
        return self.columns >= {"id", "session_id", "sequence", "role"} and bool(
            self.columns & {"content", "content_json"}
        )

    @cached_property
    def version(self) -> str:
        """The version that it names, or that its tables show: "0" one vector a message, "1" four."""
        if self.columns_of("schema_meta"):
            for row in self.rows("SELECT value FROM schema_meta WHERE key = 'version'"):
                return str(row["value"])
        if self.columns_of("transcript_vectors"):
            return "2"
        return "1" if self.inline else "0"

    @property
    def fault(self) -> str:
        """Why it cannot be read; "" if it can."""
        if self.version.isdecimal() and int(self.version) <= NEWEST:
            return ""
        return f"it has the schema version {self.version}, and {NEWEST} is the newest known"

    @cached_property
    def inline(self) -> dict[str, str]:
        """The columns of vectors in a message's row, by content type; of version 1."""
        named = {kind: (f"{kind}_vector_json", f"{kind}_vector") for kind in CONTENT_TYPES}
        return {
            kind: column for kind, columns in named.items() for column in columns if column in self.columns
        }

    @property
    def single(self) -> str:
        """The column of a message's only vector; of version 0. "" if there is none."""
        return next((name for name in ("embedding_json", "embedding") if name in self.columns), "")

    @cached_property
    def vector(self) -> str:
        """The column of vectors in the table of vectors; "" if there is none."""
        columns = self.columns_of("transcript_vectors")
        return next((name for name in ("vector", "vector_json") if name in columns), "")

    def count(self, table: str) -> int:
        """How many rows a table has; 0 if there is none."""
        if not self.columns_of(table):
            return 0
        return int(next(self.rows(f"SELECT count(*) AS count FROM {table}"))["count"])

    def all(self, table: str) -> Iterator[Row]:
        """The rows of a table; none without it."""
        return self.rows(f"SELECT * FROM {table}") if self.columns_of(table) else iter(())

    def vectors_of(self, parents: Sequence[str]) -> Iterator[Row]:
        """The rows of the table of vectors that belong to these messages."""
        if self.vector and parents:
            yield from self.rows(
                f"SELECT * FROM transcript_vectors WHERE parent_id IN ({marks(parents)})", parents
            )

    def orphans(self) -> int:
        """How many vectors belong to no message."""
        if not self.vector:
            return 0
        query = (
            "SELECT count(*) AS count FROM transcript_vectors v "
            "WHERE NOT EXISTS (SELECT 1 FROM transcripts t WHERE t.id = v.parent_id)"
        )
        return int(next(self.rows(query))["count"])


def is_database(path: Path) -> bool:
    """Whether the file begins like SQLite's or DuckDB's."""
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError:
        return False
    return head == _SQLITE or head[8:12] == _DUCK


@contextmanager
def opened(path: Path) -> Iterator[TranscriptTables]:
    """Open the database for reading, without writing a byte next to it.

    Raises BadSource for what is damaged or is no such database, ModelUnavailable without the duckdb package.
    """
    with path.open("rb") as file:
        is_duck = file.read(16)[8:12] == _DUCK
    with _duck(path) if is_duck else _sqlite(path) as tables:
        yield tables


@contextmanager
def _sqlite(path: Path) -> Iterator[TranscriptTables]:
    try:
        with opened_foreign(path) as db:
            (application,) = db.execute("PRAGMA application_id").fetchone()
            if application in (CATALOG_ID, MEMORY_ID):
                raise BadSource(f"{path.name} is a database of Memedex; `restore-backup` takes those")
            db.text_factory = lambda text: text.decode("utf-8", "replace")
            yield TranscriptTables(db, _COLUMNS_SQLITE)
    except sqlite3.Error as error:
        raise BadSource(f"{path.name} cannot be read: {error}") from error


@contextmanager
def _duck(path: Path) -> Iterator[TranscriptTables]:
    try:
        import duckdb
    except ImportError as error:
        raise ModelUnavailable(
            f"{path.name} is a DuckDB file; `pip install duckdb==2.0.0` reads those"
        ) from error
    try:
        with closing(duckdb.connect(str(path), read_only=True)) as db:
            yield TranscriptTables(db, _COLUMNS_DUCK)
    except duckdb.Error as error:
        raise BadSource(f"{path.name} cannot be read: {error}") from error


_OF_ROLE = {"user": "user_query", "assistant": "assistant_response", "tool": "tool_output"}
_EVENT_KEYS = ("tool_name", "error_type", "model_used")
_MESSAGES = 100  # of a batch, with all their vectors
_EVENTS = 2_000
_DEEPEST = 4  # folders below the given one


def message_entry(row: Row, *, project: str | None) -> Entry:
    """A message. Raises ValueError without an id, a user, a session or a place in it."""
    found = Counter[str]()
    content = masked(_content(row), found)
    message = {"role": text_of(row.get("role")) or "unknown", "content": content}
    turn, unread, ts = row.get("turn"), list[str](), None
    if turn not in (None, "") and whole_number(turn) is None:
        unread.append(f"its turn {str(turn)[:40]!r} is no number")
    try:
        ts = _written(row)
    except ValueError as error:
        unread.append(str(error))
    text = None if found else masked(text_of(row.get("text_content")), found)
    return Entry(
        {
            "id": _needed(row, "id"),
            "user_id": _needed(row, "user_id"),
            "session_id": _needed(row, "session_id"),
            "project_slug": text_of(row.get("project_slug")) or project,
            "sequence": _place(row),
            "role": message["role"],
            "content": as_json(content),
            "turn": whole_number(row.get("turn")),
            "ts": ts,
            "text_content": text or readable(message),
        },
        unread=tuple(unread),
        masked=found,
    )


def inline_entries(row: Row, message: Entry, tables: TranscriptTables) -> Iterator[Entry]:
    """The vectors in a message's own row, of versions 0 and 1. Raises ValueError for a broken one."""
    columns = dict(tables.inline)
    if not columns and tables.single:
        columns = {_OF_ROLE.get(message.row["role"], "user_query"): tables.single}
    texts = _texts(message)
    for kind, column in columns.items():
        if (vector := as_vector(row.get(column))) is None:
            continue
        text = texts.get(kind) or message.row["text_content"] or ""
        if text:
            entry = _chunk(message, kind, text, 0, 1, 0, len(text))
            entry.vector, entry.model = vector, model_name(row.get("embedding_model"))
            yield entry


def vector_entry(row: Row, message: Entry, tables: TranscriptTables) -> Entry:
    """A row of the table of vectors. Raises ValueError for a broken one."""
    text = row.get("source_text")
    if not isinstance(text, str) or not text:
        raise ValueError("it has no source_text")
    kind = row.get("content_type")
    if kind not in CONTENT_TYPES:
        raise ValueError(f"its content_type is {kind!r}")
    start = whole_number(row.get("span_start")) or 0
    entry = Entry(
        {
            "id": _needed(row, "id"),
            **_scope(message),
            "content_type": kind,
            "chunk_index": whole_number(row.get("chunk_index")) or 0,
            "total_chunks": whole_number(row.get("total_chunks")) or 1,
            "span_start": start,
            "span_end": whole_number(row.get("span_end")) or start + len(text),
            "token_count": whole_number(row.get("token_count")) or count_tokens(text),
            "source_text": text,
        },
        is_listed=False,
    )
    entry.vector = as_vector(row.get(tables.vector))
    entry.model = model_name(row.get("embedding_model"))
    return entry


def bare_entries(message: Entry, *, besides: set[str]) -> Iterator[Entry]:
    """Chunks without a vector for the texts of a message that have none."""
    for kind, text in _texts(message).items():
        chunks = chunk_text(text, kind) if text and kind not in besides else []
        for index, chunk in enumerate(chunks):
            yield _chunk(message, kind, text, index, len(chunks), chunk.start, chunk.end, chunk.tokens)


def event_entry(row: Row) -> Entry:
    """An event. Raises ValueError without a type or a time."""
    data, found = row.get("data"), Counter[str]()
    parsed = masked(_parsed(data) if isinstance(data, str) else data, found)
    given = {"event": row.get("event"), "ts": _written(row), "lvl": row.get("lvl"), "data": parsed}
    user, session = _needed(row, "user_id"), _needed(row, "session_id")
    sequence = _place(row)
    made = events.row_of(given, user=user, session=session, sequence=sequence, synced_at="")
    fields = dict(zip(events.COLUMNS, made, strict=True))
    fields |= {"id": _needed(row, "id"), "turn": whole_number(row.get("turn"))}
    fields["data"] = None if parsed is None else as_json(parsed)
    fields["data_truncated"] = bool(row.get("data_truncated"))
    fields["data_size_bytes"] = whole_number(row.get("data_size_bytes")) or fields["data_size_bytes"]
    fields["synced_at"] = moment(_time(row.get("synced_at")))
    fields |= {key: value for key in _EVENT_KEYS if (value := text_of(row.get(key)))}
    return Entry(fields, is_listed=False, masked=found)


def session_metadata(row: Row) -> dict[str, Any]:
    """Facts about a session that have no place among its messages."""
    found = {name: _time(value) for name, value in row.items() if value is not None}
    if isinstance(found.get("metadata"), str):
        found["metadata"] = _parsed(found["metadata"])
    return found


def _chunk(
    message: Entry,
    kind: str,
    text: str,
    index: int,
    total: int,
    start: int,
    end: int,
    tokens: int | None = None,
) -> Entry:
    return Entry(
        {
            "id": f"{message.row['id']}_{kind}_{index}",
            **_scope(message),
            "content_type": kind,
            "chunk_index": index,
            "total_chunks": total,
            "span_start": start,
            "span_end": end,
            "token_count": count_tokens(text[start:end]) if tokens is None else tokens,
            "source_text": text[start:end],
        },
        is_listed=False,
    )


def _scope(message: Entry) -> dict[str, Any]:
    row = message.row
    return {
        "parent_id": row["id"],
        "user_id": row["user_id"],
        "session_id": row["session_id"],
        "project_slug": row["project_slug"],
    }


def _texts(message: Entry) -> Mapping[Any, Any]:
    content = json.loads(message.row["content"])
    return extract_all_embeddable_content({"role": message.row["role"], "content": content})


def _content(row: Row) -> Any:
    """The content as JSON; what is not, as earlier versions stored texts, is a text."""
    value = row["content_json"] if "content_json" in row else row.get("content")
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    is_text = "embedding_json" in row or "embedding" in row
    if isinstance(value, str) and (not is_text or value.lstrip()[:2] == "[{"):
        return _parsed(value)
    return value


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _time(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def _written(row: Row) -> str | None:
    """When it was written, in any column that says so. Raises ValueError if that cannot be read."""
    return time_of({name: _time(row[name]) for name in TIMES if name in row})


def _place(row: Row) -> int:
    """The place in its session. Raises ValueError for one that is no number, as no other can be guessed."""
    given, found = row.get("sequence"), whole_number(row.get("sequence"))
    if given is not None and found is None:
        raise ValueError(f"its sequence {str(given)[:40]!r} is no number")
    return found or 0


def _needed(row: Row, name: str) -> str:
    if not (value := text_of(row.get(name))):
        raise ValueError(f"it has no {name}")
    return value


class TranscriptDatabases:
    """Files of recorded sessions with their vectors and events."""

    name = "transcript-database"
    title = "Recorded sessions in a database"

    def recognise(self, path: Path) -> DataSurvey | None:
        """The databases at this path or below it; None if there is none."""
        found, refused = list[FoundKind](), list[Refusal]()
        for file in _databases(path):
            place = file.relative_to(path).as_posix() if file != path else file.name
            try:
                with opened(file) as tables:
                    if not tables.is_known:
                        continue
                    if tables.fault:
                        refused.append(Refusal(place, tables.fault))
                        continue
                    found += _found(tables, place)
            except (OSError, MemedexError) as error:
                if file == path or file.suffix == ".duckdb":
                    refused.append(Refusal(place, str(error)))
        if not (found or refused):
            return None
        return DataSurvey(self.name, self.title, path, tuple(found), tuple(refused))

    def adopt(
        self, memory: Memory, survey: DataSurvey, request: AdoptionRequest, progress: Progress
    ) -> AdoptionReport:
        """Take all sessions as one decision; vectors stay under their model's name."""
        adoption = Adoption(memory, survey, request, progress)
        report = adoption.report
        report.refused += survey.refused
        progress.total = sum(one.count for one in survey.found if one.what != "vectors")
        for file in _databases(survey.path):
            if progress.cancelled:
                return report
            try:
                with opened(file) as tables:
                    if tables.is_known and not tables.fault:
                        _Taking(adoption, tables, project_of(file), named=request.vectors).take()
            except (OSError, MemedexError) as error:
                if not any(one.item.endswith(file.name) for one in report.refused):
                    adoption.refuse(file.name, str(error))
        adoption.embed(memory.transcripts.entries)
        _tell(adoption)
        return report


class _Taking:
    """One database on its way into the memory."""

    def __init__(
        self, adoption: Adoption, tables: TranscriptTables, project: str | None, *, named: str
    ) -> None:
        self._adoption = adoption
        self._tables = tables
        self._project = project
        self._named = named
        self._entries = adoption.memory.transcripts.entries
        self._models: dict[str, str] = {}  # as the source names them → as they turned out to be

    def take(self) -> None:
        adoption = self._adoption
        adoption.progress.what = "reading messages"
        for rows in batches(self._tables.all("transcripts"), _MESSAGES):
            if adoption.progress.cancelled:
                return
            self._take_messages(rows)
        adoption.progress.what = "reading events"
        taken = 0
        for rows in batches(self._tables.all("events"), _EVENTS):
            if adoption.progress.cancelled:
                return
            entries = [entry for row in rows if (entry := self._made(event_entry, row))]
            taken += adoption.take(self._entries, entries, table="events")
        if taken:
            adoption.note(f"{taken:,} events were taken")
        self._take_sessions()
        if orphans := self._tables.orphans():
            adoption.refuse(f"{orphans:,} vectors", "the messages that they belong to are missing")

    def _take_messages(self, rows: list[Row]) -> None:
        messages = [
            (row, entry)
            for row in rows
            if (entry := self._made(lambda row: message_entry(row, project=self._project), row))
        ]
        messages = [(row, entry) for row, entry in messages if self._has_own_place(entry)]
        # Vectors and spans that came are of the text with its secrets: such a message is cut here.
        by_id = {entry.row["id"]: entry for _, entry in messages if not entry.masked}
        vectors = [
            entry
            for row in self._tables.vectors_of([*by_id])
            if (
                entry := self._made(lambda row: vector_entry(row, by_id[row["parent_id"]], self._tables), row)
            )
        ]
        have = {(entry.row["parent_id"], entry.row["content_type"]) for entry in vectors}
        for row, message in messages:
            try:
                inline = [] if message.masked else list(inline_entries(row, message, self._tables))
            except ValueError as error:
                self._adoption.refuse(message.row["id"], str(error))
                inline = []
            vectors += [one for one in inline if (message.row["id"], one.row["content_type"]) not in have]
            kinds = {kind for parent, kind in have if parent == message.row["id"]}
            kinds |= {one.row["content_type"] for one in inline}
            vectors += bare_entries(message, besides=kinds)
        self._name_models(vectors)
        self._adoption.take(self._entries, [entry for _, entry in messages], table="transcripts")
        done = self._adoption.progress.done
        self._adoption.take(self._entries, vectors)
        self._adoption.progress.done = done

    def _has_own_place(self, entry: Entry) -> bool:
        """Whether no other message is at its place: an import of files gives other ids."""
        place = [entry.row[name] for name in ("user_id", "session_id", "sequence")]
        row = self._entries.database.row(
            "SELECT id, content FROM transcripts WHERE user_id = ? AND session_id = ? AND sequence = ?", place
        )
        if row is None or row["id"] == entry.row["id"]:
            return True
        if comparable_json(row["content"]) == comparable_json(entry.row["content"]):
            self._adoption.report.present.append(entry.row["id"])
        else:
            self._adoption.refuse(entry.row["id"], "there is another message at its place in the session")
        return False

    def _take_sessions(self) -> None:
        """What the source knows of sessions, kept for an export."""
        with self._entries.change(
            "adopt", actor=self._adoption.actor, decision=self._adoption.decision
        ) as change:
            for row in self._tables.all("sessions"):
                id = facts_id(str(row.get("user_id")), str(row.get("session_id")))
                if not kept_fields(change.db, change.kind, [id]):
                    keep_fields(change, id, masked(session_metadata(row), self._adoption.secrets))

    def _name_models(self, entries: list[Entry]) -> None:
        """Give each vector its model; the kind's own is only believed if a sample agrees."""
        for entry in entries:
            if entry.vector is None:
                continue
            model_name = self._named or entry.model
            if model_name not in self._models:
                sample = [(one.row["source_text"], one.vector) for one in entries if one.model == entry.model]
                checks = model_name in (UNKNOWN, self._entries.model)
                model, sentence = (
                    model_of(self._entries, sample, named=model_name) if checks else (model_name, "")
                )
                self._models[model_name] = model
                self._adoption.note(sentence)
            entry.model = self._models[model_name]

    def _made(self, make: Callable[[Row], Entry], row: Row) -> Entry | None:
        try:
            return make(row)
        except ValueError as error:
            self._adoption.refuse(str(row.get("id") or "a row without an id"), str(error))
            return None


def _found(tables: TranscriptTables, place: str) -> Iterator[FoundKind]:
    where = f"{place}, version {tables.version}"
    yield FoundKind("messages", tables.count("transcripts"), where)
    if vectors := tables.count("transcript_vectors"):
        yield FoundKind("vectors", vectors, where)
    if events := tables.count("events"):
        yield FoundKind("events", events, where)


def _tell(adoption: Adoption) -> None:
    """Notes on the vectors that were adopted."""
    transcripts = adoption.memory.transcripts
    for one in transcripts.entries.vectors_by_model():
        if not one.is_in_use and adoption.report.reused:
            adoption.note(
                f"{one.count:,} vectors of {one.model} are kept; words find their texts, and meaning does "
                f"with `memory model {one.model} --kind transcript_vectors`"
            )
    if long := len(transcripts.long_chunks()):
        adoption.note(
            f"{long:,} long texts are one chunk each; Memory → Status cuts them, which can be undone"
        )


def _databases(path: Path) -> list[Path]:
    if path.is_file():
        return [path] if is_database(path) else []
    return [one for one in _below(path, _DEEPEST) if is_database(one)]


def _below(folder: Path, depth: int) -> Iterator[Path]:
    try:
        inside = sorted(folder.iterdir())
    except OSError:
        return
    for one in inside:
        if one.is_symlink():
            continue
        if one.is_file() and not one.name.startswith(("chroma.", "catalog.")):
            yield one
        elif one.is_dir() and depth and not one.name.startswith("."):
            yield from _below(one, depth - 1)

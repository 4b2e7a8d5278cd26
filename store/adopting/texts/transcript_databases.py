"""Transcript databases (reference 5): SQLite of every version, and DuckDB by its own package."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TypeVar

from store.adopting.report import AdoptionReport
from store.adopting.survey import DataSurvey, FoundKind
from store.adopting.system import AdoptionRequest
from store.adopting.texts.adoption import Adoption, Entry
from store.adopting.texts.transcript_entries import (
    bare_entries,
    event_entry,
    inline_entries,
    message_entry,
    session_metadata,
    vector_entry,
)
from store.adopting.texts.transcript_tables import Row, TranscriptTables, is_database, opened
from store.adopting.texts.vector_check import model_of
from store.errors import MemedexError
from store.memory.engine import foreign_metadata
from store.memory.engine.inputs import comparable_json
from store.memory.engine.vector_cache import UNKNOWN
from store.memory.memory import Memory
from store.memory.transcripts.files import project_of
from store.outcome import Refusal
from store.progress import Progress

_MESSAGES = 100  # of a batch, with all their vectors
_EVENTS = 2_000
_DEEPEST = 4  # folders below the given one
_T = TypeVar("_T")


class TranscriptDatabases:
    """Files of recorded sessions with their vectors and events."""

    name = "transcript-database"
    title = "Recorded sessions in a database"

    def recognise(self, path: Path) -> DataSurvey | None:
        """The databases at this path or below it; None if there is none."""
        found, refused, notes = list[FoundKind](), list[Refusal](), list[str]()
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
        return DataSurvey(self.name, self.title, path, tuple(found), tuple(refused), tuple(notes))

    def adopt(
        self, memory: Memory, survey: DataSurvey, request: AdoptionRequest, progress: Progress
    ) -> AdoptionReport:
        """Take all sessions as one decision; vectors stay under their model's name."""
        report = AdoptionReport(system=self.name, source=str(survey.path))
        report.refused += survey.refused
        adoption = Adoption(memory, survey.path, report, actor=request.actor, progress=progress)
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
        adoption.embed(memory.transcripts.passages)
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
        self._passages = adoption.memory.transcripts.passages
        self._models: dict[str, str] = {}  # as the source names them → as they turned out to be

    def take(self) -> None:
        adoption = self._adoption
        adoption.progress.what = "reading messages"
        for rows in _batches(self._tables.messages(), _MESSAGES):
            if adoption.progress.cancelled:
                return
            self._take_messages(rows)
        adoption.progress.what = "reading events"
        taken = 0
        for rows in _batches(self._tables.events(), _EVENTS):
            if adoption.progress.cancelled:
                return
            entries = [entry for row in rows if (entry := self._made(event_entry, row))]
            taken += adoption.take(self._passages, entries, table="events")
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
        by_id = {entry.row["id"]: entry for _, entry in messages}
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
                inline = list(inline_entries(row, message, self._tables))
            except ValueError as error:
                self._adoption.refuse(message.row["id"], str(error))
                inline = []
            vectors += [one for one in inline if (message.row["id"], one.row["content_type"]) not in have]
            kinds = {kind for parent, kind in have if parent == message.row["id"]}
            kinds |= {one.row["content_type"] for one in inline}
            vectors += bare_entries(message, besides=kinds)
        self._name_models(vectors)
        self._adoption.take(self._passages, [entry for _, entry in messages], table="transcripts")
        done = self._adoption.progress.done
        self._adoption.take(self._passages, vectors)
        self._adoption.progress.done = done

    def _has_own_place(self, entry: Entry) -> bool:
        """Whether no other message is at its place: an import of files gives other ids."""
        place = [entry.row[name] for name in ("user_id", "session_id", "sequence")]
        with self._passages.database.reading() as db:
            row = db.execute(
                "SELECT id, content FROM transcripts WHERE user_id = ? AND session_id = ? AND sequence = ?",
                place,
            ).fetchone()
        if row is None or row["id"] == entry.row["id"]:
            return True
        if comparable_json(row["content"]) == comparable_json(entry.row["content"]):
            self._adoption.report.present.append(entry.row["id"])
        else:
            self._adoption.refuse(entry.row["id"], "there is another message at its place in the session")
        return False

    def _take_sessions(self) -> None:
        """What the source knows of sessions, kept for an export."""
        with self._passages.change(
            "adopt", actor=self._adoption.actor, number=self._adoption.number
        ) as change:
            for row in self._tables.sessions():
                id = f"session:{row.get('user_id')}:{row.get('session_id')}"
                if not foreign_metadata.of(change.db, [id]):
                    foreign_metadata.store(change, id, session_metadata(row))

    def _name_models(self, entries: list[Entry]) -> None:
        """Give each vector its model; the kind's own is only believed if a sample agrees."""
        for entry in entries:
            if entry.vector is None:
                continue
            model_name = self._named or entry.model
            if model_name not in self._models:
                sample = [(one.row["source_text"], one.vector) for one in entries if one.model == entry.model]
                checks = model_name in (UNKNOWN, self._passages.model)
                model, sentence = (
                    model_of(self._passages, sample, named=model_name) if checks else (model_name, "")
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
    """What a person should know of the vectors that came along."""
    transcripts = adoption.memory.transcripts
    own = transcripts.passages.model
    for one in transcripts.passages.vectors_by_model():
        if one.model != own and adoption.report.reused:
            adoption.note(
                f"{one.count:,} vectors of {one.model} are kept; words find their texts, and meaning does "
                f"with `memory model {one.model} --kind transcript_vectors`"
            )
    if long := len(transcripts.long_chunks()):
        adoption.note(
            f"{long:,} long texts are one chunk each; Lore & memory → Status cuts them, which can be undone"
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


def _batches(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch

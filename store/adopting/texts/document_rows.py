"""Rows of a pgvector table (reference 3), dumped as CSV or as JSON Lines."""

import csv
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from store.adopting.report import AdoptionReport
from store.adopting.survey import DataSurvey, FoundKind
from store.adopting.system import AdoptionRequest
from store.adopting.texts.adoption import Adoption, Entry
from store.adopting.texts.document_entries import PageNumbers, PassageCounter, document_entry
from store.adopting.texts.vector_check import SAMPLE, model_of
from store.disk.files import open_regular
from store.errors import BadSource
from store.memory.engine.foreign_vectors import as_vector
from store.memory.engine.vector_cache import UNKNOWN
from store.memory.memory import Memory
from store.outcome import Refusal
from store.progress import Progress

ADA = "litellm:text-embedding-ada-002"  # reference 3's model
_ADA_DIMENSIONS = 1536
_BATCH = 500
_FIELD = 50_000_000  # characters of one field
_NULL = ("", "\\N", "NULL")
_COLUMNS = {"content", "embedding"}
_LINES = (".jsonl", ".ndjson")
_ENDINGS = (".csv", ".tsv", *_LINES)

Row = Mapping[str, Any]


class DocumentRows:
    """A dump of a table with the columns id, content, embedding and metadata."""

    name = "document-rows"
    title = "Passages of documents from a pgvector table"

    def recognise(self, path: Path) -> DataSurvey | None:
        """The dumps in this file or folder; None if there is none."""
        found, refused = [], list[Refusal]()
        for file in _files(path):
            rows = passed = 0
            try:
                for row in read_rows(file):
                    if isinstance(row, Refusal):
                        refused.append(row)
                    else:
                        rows += 1
            except (OSError, ValueError) as error:
                refused.append(Refusal(file.name, f"it cannot be read: {error}"))
                passed = 1
            if rows or passed:
                found.append(FoundKind("passages of documents", rows, file.name))
        return DataSurvey(self.name, self.title, path, tuple(found), tuple(refused)) if found else None

    def adopt(
        self, memory: Memory, survey: DataSurvey, request: AdoptionRequest, progress: Progress
    ) -> AdoptionReport:
        """Take all rows as one decision; their vectors are kept under their model's name."""
        report = AdoptionReport(system=self.name, source=str(survey.path))
        adoption = Adoption(memory, survey.path, report, actor=request.actor, progress=progress)
        progress.total = survey.count
        for file in _files(survey.path):
            progress.what = f"reading {file.name}"
            try:
                _take_file(adoption, file, named=request.vectors)
            except (OSError, ValueError) as error:
                adoption.refuse(file.name, f"it cannot be read on: {error}")
        adoption.embed(memory.documents.passages)
        return report


def read_rows(path: Path) -> Iterator[Row | Refusal]:
    """The rows of a dump, as written by `psql \\copy … CSV HEADER`, or one JSON object a line.

    Raises ValueError if it is no such dump.
    """
    with open_regular(path) as binary, TextIOWrapper(binary, "utf-8-sig", newline="") as file:
        if path.suffix.lower() in _LINES:
            yield from _json_lines(file, path)
            return
        limit = csv.field_size_limit(_FIELD)
        try:
            yield from _csv_rows(file, path)
        except csv.Error as error:
            raise ValueError(str(error)) from error
        finally:
            csv.field_size_limit(limit)


def _csv_rows(file: TextIOWrapper, path: Path) -> Iterator[Row | Refusal]:
    reader = csv.reader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
    header = [name.strip().lower() for name in next(reader, [])]
    if not set(header) >= _COLUMNS:
        return
    for cells in reader:
        if len(cells) != len(header):
            yield Refusal(f"{path.name}, line {reader.line_num}", "it has another number of columns")
            continue
        yield {name: None if cell in _NULL else cell for name, cell in zip(header, cells, strict=True)}


def _json_lines(file: TextIOWrapper, path: Path) -> Iterator[Row | Refusal]:
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            if number == 1:
                return
            yield Refusal(f"{path.name}, line {number}", f"it is not JSON: {error}")
            continue
        if isinstance(row, dict) and row.keys() >= _COLUMNS:
            yield row
        elif number == 1:
            return
        else:
            yield Refusal(f"{path.name}, line {number}", "it has no content and no embedding")


def _take_file(adoption: Adoption, file: Path, *, named: str) -> None:
    passages, batch, model = adoption.memory.documents.passages, list[Entry](), ""
    counter, pages = PassageCounter(adoption), PageNumbers(_known_metadata(file))
    for note in pages.notes:
        adoption.note(note)
    for number, row in enumerate(read_rows(file), start=1):
        if adoption.progress.cancelled:
            return
        if isinstance(row, Refusal):
            adoption.report.refused.append(row)
            continue
        try:
            batch.append(counter.number(_entry(row, pages)))
        except ValueError as error:
            adoption.refuse(str(row.get("id") or f"{file.name}, row {number}"), str(error))
        if len(batch) == _BATCH:
            model = model or _model(adoption, batch, named=named)
            _take(adoption, batch, model)
            batch = []
    _take(adoption, batch, model or _model(adoption, batch, named=named))
    counter.finish()
    if adoption.report.reused and model != passages.model:
        _tell_of_other_model(adoption, model or _model(adoption, batch, named=named))


def _take(adoption: Adoption, batch: list[Entry], model: str) -> None:
    for entry in batch:
        entry.model = model
    adoption.take(adoption.memory.documents.passages, batch)


def _tell_of_other_model(adoption: Adoption, model: str) -> None:
    if model != adoption.memory.documents.passages.model:
        adoption.note(
            f"the vectors of {model} are kept; `memory model {model} --kind documents` searches with them, "
            "and sends each question to that model"
        )


def _entry(row: Row, pages: PageNumbers) -> Entry:
    metadata = _metadata(row.get("metadata"))
    text = row.get("content")
    if not isinstance(text, str):
        raise ValueError("it has no text")
    given = row.get("id")
    key = json.dumps([text, metadata], sort_keys=True)
    entry = document_entry(str(given or uuid5(NAMESPACE_URL, key)), text, metadata, pages)
    entry.vector = as_vector(row.get("embedding"))
    return entry


def _known_metadata(file: Path) -> Iterator[dict[str, Any]]:
    for row in read_rows(file):
        with suppress(ValueError):  # such a row is refused when it is taken
            if not isinstance(row, Refusal):
                yield _metadata(row.get("metadata"))


def _metadata(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError) as error:
        raise ValueError("its metadata are not JSON") from error
    if not isinstance(found, dict):
        raise ValueError("its metadata are not an object")
    return found


def _model(adoption: Adoption, batch: list[Entry], *, named: str) -> str:
    passages = adoption.memory.documents.passages
    sample = [(entry.row["content"], entry.vector) for entry in batch[: 16 * SAMPLE]]
    model, sentence = model_of(passages, sample, named=named)
    sizes = {len(entry.vector) // 4 for entry in batch if entry.vector}
    if model == UNKNOWN and sizes == {_ADA_DIMENSIONS}:
        return ADA
    if sentence:
        adoption.note(sentence)
    return model


def _files(path: Path) -> list[Path]:
    """Files that may be dumps; a folder's own, not those of its folders."""
    if path.is_file():
        return [path] if path.suffix.lower() in _ENDINGS and _may_be(path) else []
    try:
        return sorted(
            one for one in path.iterdir() if one.suffix.lower() in _ENDINGS and one.is_file() and _may_be(one)
        )
    except OSError as error:
        raise BadSource(f"{path} cannot be read: {error.strerror}") from error


def _may_be(path: Path) -> bool:
    """Whether its first row has the columns of a dump."""
    try:
        return any(not isinstance(row, Refusal) for row in _first(path))
    except (OSError, ValueError):
        return False


def _first(path: Path) -> Iterator[Row | Refusal]:
    for number, row in enumerate(read_rows(path)):
        if number == 20:
            return
        yield row

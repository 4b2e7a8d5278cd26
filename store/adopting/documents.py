"""Passages of documents: as rows of the memory, and read from dumps of a pgvector table."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from io import TextIOWrapper
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from store.adopting.system import AdoptionReport, AdoptionRequest, DataSurvey, FoundKind
from store.adopting.texts import SAMPLE, Adoption, Entry, model_of
from store.disk.files import open_regular
from store.errors import BadSource
from store.memory.documents.documents import checked_protocol
from store.memory.documents.documents import metadata as metadata_of
from store.memory.documents.schema import NO_PAGE
from store.memory.engine.foreign import as_vector, time_of, whole_number
from store.memory.engine.inputs import checked_text
from store.memory.engine.kind import UNKNOWN
from store.memory.memory import Memory
from store.outcome import Refusal
from store.progress import Progress

NO_PROTOCOL, NO_SOURCE = "unnamed", "unnamed"

Metadata = Mapping[str, Any]
ADA = "litellm:text-embedding-ada-002"  # 1,536 numbers; what a pgvector table has that names no model
_ADA_DIMENSIONS = 1536
_BATCH = 500
_FIELD = 50_000_000  # characters of one field
_NULL = ("", "\\N", "NULL")
# The columns of a passage, and what LangChain's and LlamaIndex's stores call them.
_COLUMNS = {
    "document": "content", "page_content": "content", "text": "content", "cmetadata": "metadata",
    "metadata_": "metadata", "uuid": "id", "node_id": "id", "vector": "embedding",
}  # fmt: skip
_PLACE = {"protocol", "page", "page_label", "page_number", "file_name", "file_path"}
_OF_MEMORIES = {"content_hash", "tags"}
_LINES = (".jsonl", ".ndjson")
_ENDINGS = (".csv", ".tsv", *_LINES)

Row = Mapping[str, Any]


class PageNumbers:
    """How the documents of one source count their pages, inferred from all of their passages."""

    # The pgvector table counts from 1. LangChain's loaders count `page` from 0, with the number that the page
    # has in `page_label` (https://github.com/langchain-ai/langchain/pull/29225); LlamaIndex has `page_label`
    # alone; Unstructured and Haystack count `page_number` from 1.

    def __init__(self, passages: Iterable[Metadata]) -> None:
        self._places: dict[str, list[tuple[int | None, int | None, int | None]]] = {}
        for metadata in passages:
            place = (metadata.get("page"), metadata.get("page_label"), metadata.get("total_pages"))
            page, label, total = map(whole_number, place)
            self._places.setdefault(_source(metadata), []).append((page, label, total))
        self._printed = {source for source, places in self._places.items() if _is_printed(places)}
        self._from_zero = {source for source, places in self._places.items() if _is_from_zero(places)}

    @property
    def notes(self) -> list[str]:
        """What a person should know before the documents are taken, a sentence each."""
        counted = sorted(self._from_zero - self._printed)
        return [f"{source}: its pages count from 0 there, and from 1 here" for source in counted]

    def page(self, metadata: Metadata) -> int:
        """The page of a passage, 1 if nothing is said. Raises ValueError if what is said is no page."""
        source, page, label = _source(metadata), metadata.get("page"), metadata.get("page_label")
        if source in self._printed or page in (None, ""):
            found = next(
                (one for one in (label, page, metadata.get("page_number")) if one not in (None, "")), 1
            )
            number = whole_number(found)
        else:
            found, number = page, whole_number(page)
            if number is not None and source in self._from_zero:
                number += 1
        if number is None or number < 1:
            raise ValueError(f"its page {str(found)[:40]!r} is no page's number")
        return number


def document_entry(id: str, text: str, metadata: Metadata, pages: PageNumbers) -> Entry:
    """A passage; without a source or a protocol it is of "unnamed". Raises ValueError without text."""
    unread, written, last = list[str](), None, whole_number(metadata.get("last_page"))
    try:
        page = pages.page(metadata)
    except ValueError as error:
        page = NO_PAGE
        unread.append(str(error))
    try:
        written = time_of(metadata)
    except ValueError as error:
        unread.append(str(error))
    row = {
        "id": checked_text(id, what="the id"),
        "content": checked_text(text, what="the text"),
        "source": checked_text(_source(metadata), what="its source"),
        "page": page,
        "protocol": checked_protocol(metadata.get("protocol") or NO_PROTOCOL),
        "chunk_index": 0,
        "span_start": 0,
        "span_end": len(text),
        "section": str(metadata.get("section") or ""),
        "last_page": last if last and last > page else None,
    }
    is_told = dict(metadata) == metadata_of(row)
    return Entry(row, metadata={} if is_told else metadata, written=written, unread=tuple(unread))


class PassageCounter:
    """Numbers the passages of each document in the order in which they come."""

    def __init__(self, adoption: Adoption) -> None:
        self._adoption = adoption
        self._next: dict[tuple[str, str], int] = {}
        self._pages: dict[tuple[str, str], int] = {}
        self._written: dict[tuple[str, str], str] = {}

    def number(self, entry: Entry) -> Entry:
        """The entry with its place in its document."""
        key = (entry.row["protocol"], entry.row["source"])
        if key not in self._next:
            self._next[key] = self._here(key)
        entry.row["chunk_index"] = self._next[key]
        self._next[key] += 1
        self._pages[key] = max(self._pages.get(key, 0), entry.row["page"])
        if entry.written:
            self._written[key] = max(self._written.get(key, ""), entry.written)
        return entry

    def finish(self) -> None:
        """List the documents whose passages were taken; they came without their files."""
        memory = self._adoption.memory
        known = {source.id for source in memory.documents.sources()}
        rows = [
            {
                "id": f"{protocol}/{source}", "protocol": protocol, "source": source, "original": "",
                "pages": pages, "bare_pages": "", "imported_at": self._imported_at((protocol, source)),
            }
            for (protocol, source), pages in self._pages.items()
            if f"{protocol}/{source}" not in known
        ]  # fmt: skip
        passages = memory.documents.entries
        self._adoption.take(passages, [Entry(row, is_listed=False) for row in rows], table="sources")

    def _imported_at(self, key: tuple[str, str]) -> float:
        """When the document was imported there, if its passages say it."""
        if written := self._written.get(key):
            return datetime.fromisoformat(written).timestamp()
        return self._adoption.memory.documents.entries.clock()

    def _here(self, key: tuple[str, str]) -> int:
        query = "SELECT coalesce(max(chunk_index), -1) + 1 FROM documents WHERE protocol = ? AND source = ?"
        return int(self._adoption.memory.documents.entries.database.row(query, key)[0])


def _source(metadata: Metadata) -> Any:
    return metadata.get("source") or metadata.get("file_name") or metadata.get("file_path") or NO_SOURCE


def _is_printed(places: Sequence[tuple[int | None, int | None, int | None]]) -> bool:
    """Whether every passage has the number that is printed on its page."""
    return all(label is not None and label > 0 for _, label, _ in places)


def _is_from_zero(places: Sequence[tuple[int | None, int | None, int | None]]) -> bool:
    """Whether a document has a page 0, or more pages than its last page's number."""
    pages = [page for page, _, _ in places if page is not None]
    totals = [total for _, _, total in places if total is not None]
    return 0 in pages or bool(pages and totals and max(pages) < max(totals))


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
        adoption = Adoption(memory, survey, request, progress)
        for file in _files(survey.path):
            progress.what = f"reading {file.name}"
            try:
                _take_file(adoption, file, named=request.vectors)
            except (OSError, ValueError) as error:
                adoption.refuse(file.name, f"it cannot be read on: {error}")
        adoption.embed(memory.documents.entries)
        return adoption.report


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
    is_dump = False
    for cells in reader:
        if len(cells) != len(header):
            yield Refusal(f"{path.name}, line {reader.line_num}", "it has another number of columns")
            continue
        row = _named(
            {name: None if cell in _NULL else cell for name, cell in zip(header, cells, strict=True)}
        )
        if not (is_dump := is_dump or _is_passage(row)):
            return
        yield row


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
        if isinstance(row, dict) and _is_passage(row := _named(row)):
            yield row
        elif number == 1:
            return
        else:
            yield Refusal(
                f"{path.name}, line {number}", "it has no content, or neither an embedding nor a source"
            )


def _named(row: Row) -> Row:
    """The row by the names that a pgvector table's columns have here."""
    return {**row, **{ours: row[name] for name, ours in _COLUMNS.items() if name in row and ours not in row}}


def _is_passage(row: Row) -> bool:
    """Whether a row is a passage: it has a vector, or its metadata say where in a document it stands."""
    if "content" not in row or "embedding" in row:
        return "content" in row
    with suppress(ValueError):
        said = _metadata(row.get("metadata"))
        return bool(_PLACE & said.keys() or "." in str(said.get("source"))) and not _OF_MEMORIES & row.keys()
    return False


def _take_file(adoption: Adoption, file: Path, *, named: str) -> None:
    passages, batch, model = adoption.memory.documents.entries, list[Entry](), ""
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
    adoption.take(adoption.memory.documents.entries, batch)


def _tell_of_other_model(adoption: Adoption, model: str) -> None:
    if model not in (UNKNOWN, adoption.memory.documents.entries.model):
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
    passages = adoption.memory.documents.entries
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

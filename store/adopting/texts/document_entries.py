"""Passages of documents (reference 3) as rows of the text memory, and the documents that they are of."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from store.adopting.texts.adoption import Adoption, Entry
from store.memory.documents.documents import checked_protocol
from store.memory.documents.documents import metadata as metadata_of
from store.memory.documents.schema import NO_PAGE
from store.memory.engine.foreign_values import time_of, whole_number
from store.memory.engine.inputs import checked_text

NO_PROTOCOL, NO_SOURCE = "unnamed", "unnamed"

Metadata = Mapping[str, Any]


class PageNumbers:
    """How the documents of one source count their pages, told by all of their passages."""

    # Reference 3 counts from 1. LangChain's loaders count `page` from 0, with the number that is printed on
    # the page in `page_label` (https://github.com/langchain-ai/langchain/pull/29225); LlamaIndex has
    # `page_label` alone; Unstructured and Haystack count `page_number` from 1.

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
        passages = memory.documents.passages
        self._adoption.take(passages, [Entry(row, is_listed=False) for row in rows], table="sources")

    def _imported_at(self, key: tuple[str, str]) -> float:
        """When the document was imported there, if its passages say it."""
        if written := self._written.get(key):
            return datetime.fromisoformat(written).timestamp()
        return self._adoption.memory.documents.passages.clock()

    def _here(self, key: tuple[str, str]) -> int:
        with self._adoption.memory.documents.passages.database.reading() as db:
            query = (
                "SELECT coalesce(max(chunk_index), -1) + 1 FROM documents WHERE protocol = ? AND source = ?"
            )
            return int(db.execute(query, key).fetchone()[0])


def _source(metadata: Metadata) -> Any:
    return metadata.get("source") or NO_SOURCE


def _is_printed(places: Sequence[tuple[int | None, int | None, int | None]]) -> bool:
    """Whether every passage has the number that is printed on its page."""
    return all(label is not None and label > 0 for _, label, _ in places)


def _is_from_zero(places: Sequence[tuple[int | None, int | None, int | None]]) -> bool:
    """Whether a document has a page 0, or more pages than its last page's number."""
    pages = [page for page, _, _ in places if page is not None]
    totals = [total for _, _, total in places if total is not None]
    return 0 in pages or bool(pages and totals and max(pages) < max(totals))

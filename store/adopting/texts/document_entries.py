"""Passages of documents (reference 3) as rows of the text memory, and the documents that they are of."""

from collections.abc import Mapping
from typing import Any

from store.adopting.texts.adoption import Adoption, Entry
from store.memory.documents.documents import checked_protocol
from store.memory.documents.documents import metadata as metadata_of
from store.memory.engine.inputs import checked_text

NO_PROTOCOL, NO_SOURCE = "unnamed", "unnamed"


def document_entry(id: str, text: str, metadata: Mapping[str, Any]) -> Entry:
    """A passage; what its metadata do not say is "unnamed", on page 1. Raises ValueError without text."""
    row = {
        "id": checked_text(id, what="the id"),
        "content": checked_text(text, what="the text"),
        "source": checked_text(metadata.get("source") or NO_SOURCE, what="its source"),
        "page": _page(metadata.get("page")),
        "protocol": checked_protocol(metadata.get("protocol") or NO_PROTOCOL),
        "chunk_index": 0,
        "span_start": 0,
        "span_end": len(text),
        "section": str(metadata.get("section") or ""),
        "last_page": _page(last) if (last := metadata.get("last_page")) else None,
    }
    is_told = dict(metadata) == metadata_of(row)
    return Entry(row, metadata={} if is_told else metadata)


class PassageCounter:
    """Numbers the passages of each document in the order in which they come."""

    def __init__(self, adoption: Adoption) -> None:
        self._adoption = adoption
        self._next: dict[tuple[str, str], int] = {}
        self._pages: dict[tuple[str, str], int] = {}

    def number(self, entry: Entry) -> Entry:
        """The entry with its place in its document."""
        key = (entry.row["protocol"], entry.row["source"])
        if key not in self._next:
            self._next[key] = self._here(key)
        entry.row["chunk_index"] = self._next[key]
        self._next[key] += 1
        self._pages[key] = max(self._pages.get(key, 0), entry.row["page"])
        return entry

    def finish(self) -> None:
        """List the documents whose passages were taken; they came without their files."""
        memory = self._adoption.memory
        known = {source.id for source in memory.documents.sources()}
        rows = [
            {
                "id": f"{protocol}/{source}", "protocol": protocol, "source": source, "original": "",
                "pages": pages, "bare_pages": "", "imported_at": memory.documents.passages.clock(),
            }
            for (protocol, source), pages in self._pages.items()
            if f"{protocol}/{source}" not in known
        ]  # fmt: skip
        passages = memory.documents.passages
        self._adoption.take(passages, [Entry(row, is_listed=False) for row in rows], table="sources")

    def _here(self, key: tuple[str, str]) -> int:
        with self._adoption.memory.documents.passages.database.reading() as db:
            query = (
                "SELECT coalesce(max(chunk_index), -1) + 1 FROM documents WHERE protocol = ? AND source = ?"
            )
            return int(db.execute(query, key).fetchone()[0])


def _page(value: Any) -> int:
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 1

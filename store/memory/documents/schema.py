"""How documents are stored: their passages and, for each document, its file."""

from dataclasses import dataclass

from store.memory.engine.kind import MemoryKind

NO_PAGE = 0  # the page of an adopted passage that names none that can be read

KIND = MemoryKind(
    name="documents",
    file="documents",
    tables=("documents", "sources"),
    text="content",
    scope="protocol",
    filters=("source", "page", "protocol"),
    more_filters=("section",),
    order="protocol, source, page, chunk_index, span_start",
    written="(SELECT s.imported_at FROM sources s WHERE s.id = protocol || '/' || documents.source)",
    siblings=("protocol", "source"),
    sequence=("chunk_index", "span_start"),  # the halves of a split passage have one number
    has_token_states=True,
    least=0.35,  # where late interaction does not tell (docs/memory.md)
)


SECTIONS = 2  # of `has_sections`: as this version finds them


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """One imported document."""

    id: str
    protocol: str
    source: str
    original: str
    pages: int
    bare_pages: str
    imported_at: float
    has_sections: int = 0  # 0: imported before passages knew their sections, 1: before a PDF's type told them

    @property
    def knows_sections(self) -> bool:
        """Whether its passages have the sections that this version finds."""
        return self.has_sections >= (SECTIONS if self.original.endswith(".pdf") else 1)

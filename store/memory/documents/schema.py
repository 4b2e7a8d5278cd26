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
    order="protocol, source, page, chunk_index",
    written="(SELECT s.imported_at FROM sources s WHERE s.id = protocol || '/' || documents.source)",
    siblings=("protocol", "source"),
    sequence=("chunk_index",),
    has_token_states=True,
    least=0.35,  # docs/memory.md has what it refuses
    schema="""
CREATE TABLE documents (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,            -- a UUID
    content TEXT NOT NULL,
    source TEXT NOT NULL,               -- the file's name
    page INTEGER NOT NULL,              -- from 1; 0 if the program that it comes from named none
    protocol TEXT NOT NULL,             -- in lower case
    chunk_index INTEGER NOT NULL,       -- within the document
    span_start INTEGER NOT NULL,        -- offset into the page's text
    span_end INTEGER NOT NULL,          -- offset into the text of its last page
    vector BLOB,
    embedding_model TEXT,
    section TEXT NOT NULL DEFAULT '',   -- the heading that it stands under
    last_page INTEGER                   -- where it runs over its page's end
) STRICT;
CREATE INDEX documents_by_source ON documents (protocol, source, page, chunk_index);
CREATE TABLE sources (
    id TEXT PRIMARY KEY,                -- {protocol}/{source}
    protocol TEXT NOT NULL,
    source TEXT NOT NULL,
    original TEXT NOT NULL,             -- the file as it came, in memory/originals
    pages INTEGER NOT NULL,
    bare_pages TEXT NOT NULL,           -- those without text, such as "3, 7"
    imported_at REAL NOT NULL,
    has_sections INTEGER NOT NULL DEFAULT 0 -- 0: its passages are of before they knew their sections
) STRICT;
""",
    added="""
ALTER TABLE documents ADD COLUMN section TEXT NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN last_page INTEGER;
ALTER TABLE sources ADD COLUMN has_sections INTEGER NOT NULL DEFAULT 0;
""",
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

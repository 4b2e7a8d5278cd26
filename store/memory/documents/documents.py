"""Protocol papers (reference 3), in passages that can be cited by page."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from store.disk.files import Disk, content_hash
from store.errors import BadSource
from store.memory.documents import files, pdf
from store.memory.documents.furniture import bodies
from store.memory.documents.pdf import Rectangle
from store.memory.engine.commits import deciding
from store.memory.engine.entries import Row
from store.memory.engine.errors import InvalidInput
from store.memory.engine.inputs import LONGEST_QUESTION, checked_count, checked_text
from store.memory.engine.inside import join_lines
from store.memory.engine.kind import MemoryKind
from store.memory.engine.names import check_known
from store.memory.engine.passages import Passages
from store.memory.text.recursive_chunks import LONGEST as CHUNK
from store.memory.text.recursive_chunks import OVERLAP, split_recursively

RESULTS = 5
_LOOKED_AT = 20  # passages that tell a document's language
_BEGUN = "originals_begun"  # in `meta`: files written for imports, of which not every one came to an end

KIND = MemoryKind(
    name="documents",
    file="documents",
    tables=("documents", "sources"),
    text="content",
    scope="protocol",
    filters=("source", "page", "protocol"),
    order="protocol, source, page, chunk_index",
    written="(SELECT s.imported_at FROM sources s WHERE s.id = protocol || '/' || documents.source)",
    siblings=("protocol", "source"),
    sequence=("chunk_index",),
    schema="""
CREATE TABLE documents (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,            -- a UUID
    content TEXT NOT NULL,
    source TEXT NOT NULL,               -- the file's name
    page INTEGER NOT NULL,              -- from 1
    protocol TEXT NOT NULL,             -- in lower case
    chunk_index INTEGER NOT NULL,       -- within the document
    span_start INTEGER NOT NULL,        -- offsets into the page's text
    span_end INTEGER NOT NULL,
    vector BLOB,
    embedding_model TEXT
) STRICT;
CREATE INDEX documents_by_source ON documents (protocol, source, page, chunk_index);
CREATE TABLE sources (
    id TEXT PRIMARY KEY,                -- {protocol}/{source}
    protocol TEXT NOT NULL,
    source TEXT NOT NULL,
    original TEXT NOT NULL,             -- the file as it came, in memory/originals
    pages INTEGER NOT NULL,
    bare_pages TEXT NOT NULL,           -- those without text, such as "3, 7"
    imported_at REAL NOT NULL
) STRICT;
""",
)


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


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a passage is: the original file, the page from 1, rectangles as fractions of the page."""

    path: Path
    page: int
    marks: list[Rectangle]


class Documents:
    """Import, search, compare and cite documents."""

    def __init__(self, passages: Passages, *, originals: Path) -> None:
        self.passages = passages
        self._originals = originals

    def import_document(
        self, path: Path, *, protocol: str, content: bytes | None = None, actor: str = ""
    ) -> DocumentSource:
        """Import a file, replacing the one of the same protocol and name. Raises BadSource or InvalidInput.

        `content` is given for an upload, whose `path` is only its name.
        """
        self.passages.database.check_writable()
        protocol = checked_protocol(protocol)
        if content is None:
            content = files.read(path)
        name = checked_text(path.name, what="the file's name")
        pages = files.pages(content, name=name)
        chunks = _chunks(pages)
        vectors, model = self.passages.embed([chunk[3] for chunk in chunks]), self.passages.model
        with deciding(self.passages.database.path.parent):  # no other process may tidy up meanwhile
            source = DocumentSource(
                id=f"{protocol}/{name}",
                protocol=protocol,
                source=name,
                original=self._keep(content, suffix=Path(name).suffix.lower()),
                pages=len(pages),
                bare_pages=", ".join(str(n) for n, text in enumerate(pages, start=1) if not text.strip()),
                imported_at=self.passages.clock(),
            )
            with self.passages.change("import document", actor=actor) as change:
                self._remove(change, source)
                for index, ((page, start, end, text), vector) in enumerate(zip(chunks, vectors, strict=True)):
                    change.upsert(
                        {
                            "id": str(uuid4()), "content": text, "source": name, "page": page,
                            "protocol": protocol, "chunk_index": index, "span_start": start, "span_end": end,
                            "vector": vector, "embedding_model": model,
                        }
                    )  # fmt: skip
                change.upsert(
                    {name: getattr(source, name) for name in DocumentSource.__slots__}, table="sources"
                )
        return source

    def not_read(self, source: DocumentSource) -> str:
        """The sentence that says that the model does not read this document's language, or ""."""
        where = {"protocol": source.protocol, "source": source.source}
        rows = self.passages.find(where=where, limit=_LOOKED_AT)
        return self.passages.not_read("\n".join(row["content"] for row in rows))

    def cut_again(self, source: DocumentSource, *, longest: int, overlap: int) -> list[Row]:
        """The passages that this document would have with other chunks, without vectors; nothing is stored.

        `longest` and `overlap` are in characters. Raises InvalidInput unless the overlap is shorter, and
        BadSource if the file is no longer there.
        """
        self.passages.actor.check_login()
        checked_count(longest, what="the chunk size", most=LONGEST_QUESTION)
        if not 0 <= overlap < longest:
            raise InvalidInput(f"the overlap has to be from 0 to {longest - 1:,}, not {overlap:,}")
        path = self._originals / source.original
        if not source.original or not path.is_file():
            raise BadSource(f"the file {source.source} is no longer there; import it again")
        pages = files.pages(files.read(path), name=source.source)
        return [
            {
                "id": f"{source.id} #{index + 1}", "content": text, "source": source.source, "page": page,
                "protocol": source.protocol, "chunk_index": index, "span_start": start, "span_end": end,
                "vector": None, "embedding_model": None,
            }
            for index, (page, start, end, text) in enumerate(_chunks(pages, longest=longest, overlap=overlap))
        ]  # fmt: skip

    def remove_document(self, protocol: str, source: str, *, actor: str = "") -> int:
        """Remove a document with its passages; undo restores it. Returns how many passages it had."""
        with self.passages.change("remove document", actor=actor) as change:
            gone = DocumentSource(
                f"{checked_protocol(protocol)}/{source}", protocol.strip().lower(), source, "", 0, "", 0
            )
            self._remove(change, gone)
            change.remove(gone.id, table="sources")
            return change.count

    def search(
        self, question: str, n: int = RESULTS, *, protocol: str | Collection[str] | None = None
    ) -> list[dict[str, Any]]:
        """The passages that fit the question best: of one protocol, of several, or of all.

        `score` is words and meaning together; `meaning` (the cosine, None while the model is away) and
        `words` are its parts.
        """
        question = checked_text(question, what="the question", most=LONGEST_QUESTION)
        where = {} if protocol is None else {"protocol": _protocols(protocol)}
        found = self.passages.best(question, n=checked_count(n, what="n"), where=where)
        for name in sorted({str(hit.row["protocol"]) for hit in found}):
            self.passages.questions.record(name)
        self.passages.log_retrieval(question, found, scope="", n=n, where=where)
        return [{**passage(hit.row), "score": hit.score, **hit.parts()} for hit in found]

    def compare(
        self, question: str, protocols: Sequence[str], n: int = RESULTS
    ) -> dict[str, list[dict[str, Any]]]:
        """Ask each protocol separately, n passages for each."""
        return {name: self.search(question, n, protocol=name) for name in _protocols(protocols)}

    def check_known(self, protocols: Iterable[str]) -> None:
        """Raises UnknownEntry, with the nearest names, if no document is of one of these protocols."""
        known = self.protocols()
        for name in _protocols(protocols):
            check_known(name, known, what="protocol")

    def protocols(self) -> dict[str, int]:
        """Every protocol with its number of passages."""
        return self.passages.counts("protocol")

    def sources(self) -> list[DocumentSource]:
        """Every document, by protocol and name."""
        with self.passages.database.reading() as db:
            return [
                DocumentSource(**row) for row in db.execute("SELECT * FROM sources ORDER BY protocol, source")
            ]

    def cite(self, id: str) -> Citation:
        """The place of this passage; files without pages, and edited passages, have no rectangles."""
        row = self.passages.get(id)
        with self.passages.database.reading() as db:
            found = db.execute(
                "SELECT original FROM sources WHERE protocol = ? AND source = ?",
                [row["protocol"], row["source"]],
            ).fetchone()
        if found and not found[0]:
            raise BadSource(f"{row['source']} came as passages, without its file; import the file to see it")
        path = self._originals / (found[0] if found else "")
        if not path.is_file():
            raise BadSource(f"the file {row['source']} is no longer there; import it again")
        marked = pdf.marks(path, page=row["page"], passage=row["content"]) if path.suffix == ".pdf" else []
        return Citation(path, row["page"], marked)

    def tidy(self) -> None:
        """Delete the originals of unfinished imports that neither a document nor the history refers to.

        Other files there belong to somebody, or to a lost database, and stay.
        """
        database = self.passages.database
        database.check_writable()
        with deciding(database.path.parent):  # not while an import is between file and commit
            if not (begun := database.meta(_BEGUN)):
                return
            with self.passages.database.reading() as db:
                known = {row[0] for row in db.execute("SELECT original FROM sources")}
                past = db.execute(
                    "SELECT json_extract(before, '$.original') FROM history WHERE tbl = 'sources'"
                )
                known |= {row[0] for row in past}
            for name in json.loads(begun):
                if name not in known:
                    (self._originals / name).unlink(missing_ok=True)
            database.set_meta(_BEGUN, "")

    def _keep(self, content: bytes, *, suffix: str) -> str:
        """Store the original file under its hash, before the commit that refers to it."""
        disk, name = Disk(), f"{content_hash(content)}{suffix}"
        if not (self._originals / name).exists():
            begun = json.loads(self.passages.database.meta(_BEGUN) or "[]")
            self.passages.database.set_meta(_BEGUN, json.dumps([*begun, name]))
            disk.make_folder(self._originals)
            disk.replace(self._originals / name, content)
        return name

    @staticmethod
    def _remove(change: Any, source: DocumentSource) -> None:
        rows = change.db.execute(
            "SELECT id FROM documents WHERE protocol = ? AND source = ?", [source.protocol, source.source]
        ).fetchall()
        for row in rows:
            change.remove(row["id"])


def passage(row: Row) -> dict[str, Any]:
    """A passage in reference 3's form."""
    metadata = {"source": row["source"], "page": row["page"], "protocol": row["protocol"]}
    return {"id": row["id"], "content": row["content"], "metadata": metadata}


def checked_protocol(protocol: object) -> str:
    """A protocol's name in lower case. Raises InvalidInput for an empty one."""
    return checked_text(protocol, what="the protocol").strip().lower()


def _chunks(
    pages: Sequence[str], *, longest: int = CHUNK, overlap: int = OVERLAP
) -> list[tuple[int, int, int, str]]:
    """Each passage of a document: its page from 1, where it begins and ends there, and its text."""
    return [
        (number, first + start, first + end, join_lines(text[first + start : first + end]))
        for number, (text, spans) in enumerate(zip(pages, bodies(pages), strict=True), start=1)
        for first, last in spans
        for start, end in split_recursively(text[first:last], longest=longest, overlap=overlap)
    ]


def _protocols(given: str | Iterable[str]) -> list[str]:
    names = [given] if isinstance(given, str) else given
    return list(dict.fromkeys(checked_protocol(name) for name in names))

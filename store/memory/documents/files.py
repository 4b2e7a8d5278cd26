"""The files of documents: PDF, HTML, office documents, Markdown and plain text, as their pages' text."""

from pathlib import Path

from store.disk.files import read_regular
from store.errors import BadSource
from store.memory.documents import markup, office, pdf
from store.memory.documents.parser import DocumentText, read_document
from store.progress import Progress

LARGEST = 200_000_000  # bytes
_TEXTS = (".md", ".markdown", ".txt", ".text", ".rst")


def read(path: Path) -> bytes:
    """The bytes of a document's file. Raises BadSource if it cannot be read or is larger than LARGEST."""
    try:
        return read_regular(path, limit=LARGEST)
    except OSError as error:
        raise BadSource(f"{path} cannot be read: {error.strerror}") from error


def document_text(
    content: bytes, *, name: str, with_tables: bool = False, progress: Progress | None = None
) -> DocumentText:
    """The text of each page, with a PDF's tables if wanted; one page for what is no PDF.

    What needs a parser is read in a process of its own, which ends if `progress` is cancelled. Raises
    BadSource for unknown kinds and no text.
    """
    suffix = Path(name).suffix.lower()
    if pdf.is_pdf(content, name=name) or suffix in (*markup.HTML, *markup.DOCX, *office.OFFICE):
        return read_document(content, name=name, with_tables=with_tables, progress=progress)
    if suffix not in _TEXTS:
        known = (pdf.SUFFIX, *markup.HTML, *markup.DOCX, *office.OFFICE, *_TEXTS)
        raise BadSource(f"{name} is not of a kind that can be read ({', '.join(known)})")
    try:
        encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise BadSource(f"{name} is not UTF-8 text: {error.reason} at byte {error.start:,}") from error
    if "\0" in text or not text.strip():
        raise BadSource(f"{name} has no text in it")
    return DocumentText([text.replace("\r\n", "\n")])

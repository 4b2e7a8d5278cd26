"""The text of documents' files: PDF, HTML and office documents, read in a process of its own, and plain text.

Their parsers are large, and a small file can keep one busy for hours or make it fill the memory. The process
has limits on its processor time and its memory, and ends with the call that waits for it.
`python -m store.memory.documents.parser TASK SECONDS ARGUMENTS` reads a document from its standard input and
prints the answer as JSON.
"""

import base64
import contextlib
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from store.disk.files import read_regular
from store.errors import BadSource
from store.memory.documents import markup, pdf, recognition
from store.memory.documents.headings import Heading, typeset_headings
from store.memory.documents.readings import PageReading, Rectangle, page_reading
from store.memory.documents.recognition import LONGEST_SIDE
from store.progress import Progress

LARGEST = 200_000_000  # bytes
_TEXTS = (".md", ".markdown", ".txt", ".text", ".rst")
KINDS = (pdf.SUFFIX, *markup.HTML, *markup.DOCX, *markup.OFFICE, *_TEXTS)
SECONDS = 60  # of processor time; what the limits on tags let through takes a quarter of that …
PDF_SECONDS = 240  # … and 5,000 pages of a PDF take half of this
TOGETHER = 4  # pages that are recognised by one process, some five seconds each
MEMORY = 2_000_000_000  # bytes of address space
LIMIT = 300.0  # seconds for one answer
_LOOKED_AT = 0.2  # seconds between two looks whether the caller still waits for it
_PROGRAM = Path(__file__).resolve().parents[3]


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The text of each page; and where a PDF's type tells the headings, these, with their pages from 0."""

    pages: list[str]
    headings: list[tuple[int, Heading]] = field(default_factory=list)
    scanned: list[int] = field(default_factory=list)  # pages, from 1, whose text is only in their picture

    tables: dict[int, PageReading] = field(default_factory=dict)  # the text of the pages that have some

    def with_readings(self, readings: Mapping[int, PageReading]) -> "DocumentText":
        """This text with what else was read on its pages."""
        more = {page: one.text for page, one in readings.items() if one.text}
        pages = [more.get(page, text) for page, text in enumerate(self.pages, start=1)]
        headings = [(page, one) for page, one in self.headings if page + 1 not in readings]
        headings += [(page - 1, Heading(*one)) for page in readings for one in readings[page].headings]
        return replace(self, pages=pages, headings=sorted(headings, key=lambda one: (one[0], one[1].start)))


def read(path: Path) -> bytes:
    """The bytes of a document's file. Raises BadSource if it cannot be read or is larger than LARGEST."""
    try:
        return read_regular(path, limit=LARGEST)
    except OSError as error:
        raise BadSource(f"{path} cannot be read: {error.strerror}") from error


def document_text(
    content: bytes, *, name: str, with_tables: bool = False, progress: Progress | None = None
) -> DocumentText:
    """The text of each page, with a PDF's tables if wanted; one page of others. Raises BadSource."""
    suffix = Path(name).suffix.lower()
    if pdf.is_pdf(content, name=name) or suffix in (*markup.HTML, *markup.DOCX, *markup.OFFICE):
        return read_document(content, name=name, with_tables=with_tables, progress=progress)
    if suffix not in _TEXTS:
        raise BadSource(f"{name} is not of a kind that can be read ({', '.join(KINDS)})")
    try:
        encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise BadSource(f"{name} is not UTF-8 text: {error.reason} at byte {error.start:,}") from error
    if "\0" in text or not text.strip():
        raise BadSource(f"{name} has no text in it")
    return DocumentText([text.replace("\r\n", "\n")])


def read_document(
    content: bytes, *, name: str, with_tables: bool = False, progress: Progress | None = None
) -> DocumentText:
    """The text of a PDF, HTML or office document; of a PDF with its tables if wanted. Raises BadSource."""
    found = _asked("read", content, name=name, progress=progress, with_tables=with_tables)
    return DocumentText(
        found["pages"], [(page, Heading(start, title)) for page, start, title in found["headings"]],
        found["scanned"], {int(page): page_reading(one) for page, one in found["tables"].items()},
    )  # fmt: skip


def recognised(
    content: bytes, *, name: str, pages: Sequence[int], progress: Progress | None = None
) -> Iterator[dict[int, PageReading]]:
    """The text of these pages of a PDF, recognised from their pictures, a few at a time. Raises BadSource."""
    progress = progress or Progress()
    for start in range(0, len(pages), TOGETHER):
        progress.what = f"{name}: recognising page {start + 1:,} of {len(pages):,} without text"
        some = pages[start : start + TOGETHER]
        found = _asked("recognise", content, name=name, progress=progress, pages=some)
        yield {page: page_reading(one) for page, one in zip(some, found, strict=True)}


def marks(content: bytes, *, name: str, page: int, passage: str) -> list[Rectangle]:
    """The rectangles of a passage on a PDF's page, as `pdf.marks` finds them. Raises BadSource."""
    found = _asked("marks", content, name=name, page=page, passage=passage)
    return [(left, top, right, bottom) for left, top, right, bottom in found]


def marked_page(content: bytes, *, name: str, page: int, marks: Sequence[Rectangle]) -> bytes:
    """A PNG of a PDF's page with these rectangles highlighted. Raises BadSource."""
    return base64.b64decode(_asked("marked_page", content, name=name, page=page, marks=marks))


def _asked(task: str, content: bytes, *, name: str, progress: Progress | None = None, **given: Any) -> Any:
    progress = progress or Progress()
    seconds = PDF_SECONDS if pdf.is_pdf(content, name=name) else SECONDS
    command = _command(task, seconds, {"name": name, **given})
    try:
        with tempfile.TemporaryFile() as file:
            file.write(content)
            file.seek(0)
            status, out = _answered(command, file, progress)
    except OSError as error:
        raise BadSource(f"{name} cannot be read: {error.strerror}") from error
    except subprocess.TimeoutExpired:
        if progress.cancelled:
            raise BadSource(f"{name} was not read: this was stopped") from None
        raise BadSource(f"{name} was not read within {LIMIT:.0f} seconds") from None
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        raise BadSource(
            f"{name} takes more than {seconds} seconds of processor time to read, the limit for one "
            "document; save it with another program, or as plain text, and import that"
        )
    if status:
        raise BadSource(
            f"{name} cannot be read: its reader ended ({status}); it is damaged, or needs more than "
            f"{MEMORY // 1_000_000:,} MB of memory, the limit for one document"
        )
    answer = json.loads(out)
    if "refused" in answer:
        raise BadSource(answer["refused"])
    return answer["found"]


def _answered(command: Sequence[str], stdin: IO[bytes], progress: Progress) -> tuple[int, bytes]:
    """The command's status and output. Raises subprocess.TimeoutExpired, also if it is cancelled."""
    until = time.monotonic() + LIMIT
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=stdin, stdout=pipe, stderr=pipe, cwd=_PROGRAM) as process:
        try:
            while True:
                try:
                    out, _ = process.communicate(timeout=_LOOKED_AT)
                    return process.returncode, out
                except subprocess.TimeoutExpired:
                    if progress.cancelled or time.monotonic() > until:
                        raise
        except BaseException:
            process.kill()
            raise


def _command(task: str, seconds: int, given: Mapping[str, Any]) -> list[str]:
    return [sys.executable, "-W", "ignore", "-m", __name__, task, str(seconds), json.dumps(given)]


def _read(content: bytes, name: str, with_tables: bool) -> dict[str, Any]:
    if pdf.is_pdf(content, name=name):
        known = pdf.read(content, name=name, with_tables=with_tables)
        found = [(page, one.start, one.title) for page, one in typeset_headings(known.lines)]
        tables = {
            page: asdict(
                replace(one, headings=[(start, title) for at, start, title in found if at + 1 == page])
            )
            for page, one in known.tables.items()
        }
        return {"pages": known.pages, "headings": found, "scanned": known.scanned, "tables": tables}
    is_office = Path(name).suffix.lower() in markup.OFFICE
    pages = markup.pages(content, name=name) if is_office else [markup.text(content, name=name)]
    return {"pages": pages, "headings": [], "scanned": [], "tables": {}}


def _recognise(content: bytes, name: str, pages: Sequence[int]) -> list[dict[str, Any]]:
    pixels = (pdf.page_pixels(content, name=name, page=page, side=LONGEST_SIDE) for page in pages)
    return [asdict(recognition.recognised(one)) for one in pixels]


def _marked_page(content: bytes, name: str, page: int, marks: Sequence[Rectangle]) -> str:
    return base64.b64encode(pdf.marked_page(content, name=name, page=page, marks=marks)).decode()


_TASKS: Mapping[str, Callable[..., Any]] = {
    "read": _read, "recognise": _recognise, "marks": pdf.marks, "marked_page": _marked_page,
}  # fmt: skip


def main(task: str, seconds: str, given: str) -> None:
    """In the process of its own: do this task within the limits."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # not every system has them
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    content = sys.stdin.buffer.read()
    try:
        answer = {"found": _TASKS[task](content, **json.loads(given))}
    except BadSource as error:
        answer = {"refused": str(error)}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])

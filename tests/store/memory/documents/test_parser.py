"""Strangers' documents are read in a process that has limits and can be ended."""

import re
import subprocess
import sys
import threading
import time
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from store.errors import BadSource
from store.memory.documents import parser
from store.memory.documents.parser import document_text
from store.memory.memory import Memory
from store.progress import Progress
from tests.store.memory.documents.small_pdf import small_pdf
from tests.store.memory.documents.test_markup import docx


def packed(content: bytes) -> bytes:
    """A Word document as Word packs it."""
    file = BytesIO()
    with zipfile.ZipFile(BytesIO(content)) as known, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for name in known.namelist():
            new.writestr(name, known.read(name))
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("nested.html", b"<div>" * 200_000, "elements nested more than 25,000 deep, the limit"),
        ("closed.html", b"<b></i>" * 200_000, "elements nested more than 25,000 deep, the limit"),
        ("flat.html", b"<p>a" * 1_000_001, "1,000,001 tags; 1,000,000 is the limit"),
        ("long.docx", packed(docx(*["a"] * 200_000)), "200,000 paragraphs; 50,000 is the limit"),
        ("runs.docx", packed(docx("a</w:t></w:r><w:r><w:t>" * 300_000)), "tags; 1,000,000 is the limit"),
    ],
)
def test_what_would_fill_the_memory_is_refused_at_once_with_the_limit(
    memory: Memory, name: str, content: bytes, reason: str
) -> None:
    begun = time.process_time()
    with pytest.raises(BadSource, match=rf"{re.escape(name)} has .*{re.escape(reason)} for one document"):
        memory.documents.import_document(Path(name), protocol="lore", content=content)
    assert time.process_time() - begun < 5
    assert memory.documents.sources() == []


@pytest.mark.parametrize(
    ("name", "content", "pieces"),
    [
        ("paper.html", b"<p>" + b"a word or so " * 7 + b"</p>\n", 50_000),
        ("unclosed.html", b"<p>one<li>two<tr><td>three<br>", 50_000),
        ("menu.html", b"<div><ul><li><span>one</span></li></ul></div>", 50_000),
    ],
)
def test_a_normal_large_page_is_read(name: str, content: bytes, pieces: int) -> None:
    assert len(document_text(content * pieces, name=name).pages[0]) > pieces


def test_a_book_of_300_pages_is_read() -> None:
    text = document_text(packed(docx(*["word " * 20] * 6_000)), name="book.docx").pages[0]
    assert text.count("\n\n") == 5_999


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A parser that never ends, in the place of the real one."""
    command = [sys.executable, "-c", "while True: pass"]
    monkeypatch.setattr(parser, "_command", lambda *_, **__: command)
    return Path("a.html")


def test_reading_ends_when_it_is_cancelled(memory: Memory, endless: Path) -> None:
    progress = Progress()
    threading.Timer(0.1, progress.cancel).start()
    with pytest.raises(BadSource, match=r"a\.html was not read: this was stopped"):
        memory.documents.import_document(endless, protocol="lore", content=b"<p>a", progress=progress)
    assert memory.documents.sources() == []


def test_a_parser_that_takes_too_long_or_dies_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for code, reason in (
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGXCPU)",
            "takes more than 60 seconds of processor",
        ),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "damaged, or needs more than 2,000 MB"),
        ("import sys; sys.exit(1)", "damaged, or needs more than 2,000 MB"),
    ):
        monkeypatch.setattr(parser, "_command", lambda *_, c=code, **__: [sys.executable, "-c", c])
        with pytest.raises(BadSource, match=reason):
            document_text(b"<p>a", name="a.html")


def test_the_process_has_limits_on_time_and_memory() -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_AS)
    code = (
        "import sys, io, json, resource; from types import SimpleNamespace as N; "
        "from store.memory.documents import parser; sys.stdin = N(buffer=io.BytesIO(b'<p>a')); "
        "parser.main('read', parser.SECONDS, json.dumps({'name': 'a.html', 'with_tables': False})); print(); "
        "print(resource.getrlimit(resource.RLIMIT_CPU)[0], resource.getrlimit(resource.RLIMIT_AS)[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        '{"found": {"pages": ["a"], "headings": [], "scanned": [], "tables": {}}}',
        f"{parser.SECONDS} {parser.MEMORY}",
    ]  # fmt: skip
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_a_page_of_a_hostile_size_is_drawn_small() -> None:
    content = small_pdf("alpha", box="/MediaBox [0 0 14400 14400]")
    (mark,) = parser.marks(content, name="p.pdf", page=1, passage="alpha")
    picture = parser.marked_page(content, name="p.pdf", page=1, marks=[mark])
    width = int.from_bytes(picture[16:20], "big")
    assert picture.startswith(b"\x89PNG")
    assert 3_900 < width <= 4_000

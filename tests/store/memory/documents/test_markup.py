"""HTML and DOCX files are read in reading order, without what no reader sees."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from store.errors import BadSource
from store.memory.documents.markup import docx_text, html_text
from store.memory.memory import Memory
from tests.store.memory.bags import Bags

PAGE = b"""<!doctype html><html><head><title>No</title><style>p {}</style></head><body>
<nav>Menu</nav><script>no()</script><h2>Hooks</h2><p>Run <b>before</b>
 and after.</p><ul><li>one</li><li>two</li></ul>
<table><tr><th>Fee</th><th>Pool</th></tr><tr><td>0.3 %</td><td>A</td></tr></table><pre>x = 1
  y = 2</pre></body></html>"""


def docx(*paragraphs: str) -> bytes:
    """A Word document with these paragraphs."""
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            f'<Override PartName="/word/document.xml" ContentType="{kind}"/></Types>',
        )
        archive.writestr(
            "_rels/.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f'<Relationship Id="r1" Type="{relation}" Target="word/document.xml"/></Relationships>',
        )
        archive.writestr(
            "word/document.xml",
            '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
            f"<w:body>{body}</w:body></w:document>",
        )
    return file.getvalue()


def test_html_is_read_as_it_is_seen() -> None:
    assert html_text(PAGE, name="a.html") == (
        "## Hooks\n\nRun before and after.\n\n- one\n\n- two\n\nFee | Pool\n\n0.3 % | A\n\nx = 1\ny = 2"
    )


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ('<meta charset="iso-8859-1"><p>Zürich'.encode("latin-1"), "Zürich"),
        ("<p>Zürich".encode(), "Zürich"),
        ("<p>Zürich".encode("cp1252"), "Zürich"),
        (b"<div>" * 20_000 + b"deep", "deep"),
        (b"", ""),
    ],
)
def test_html_of_any_encoding_and_depth(content: bytes, text: str) -> None:
    assert html_text(content, name="a.html") == text


def test_word_documents_and_pages_become_passages(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "res", embedder=Bags()) as memory:
        for name, content in (("paper.docx", docx("Hooks run", "Fees &amp; pools")), ("page.html", PAGE)):
            memory.documents.import_document(Path(name), protocol="uni", content=content)
        texts = {row["source"]: row["content"] for row in memory.documents.entries.find()}
        assert texts["paper.docx"] == "Hooks run\n\nFees & pools"
        assert texts["page.html"].startswith("## Hooks")


@pytest.mark.parametrize("content", [b"PK\x03\x04 no", b"", docx("")[:-40]])
def test_broken_word_documents_are_refused(content: bytes) -> None:
    with pytest.raises(BadSource, match=r"a\.docx is no Word document"):
        docx_text(content, name="a.docx")

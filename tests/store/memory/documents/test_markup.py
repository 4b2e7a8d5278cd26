"""HTML and DOCX files are read in reading order, without what no reader sees."""

import re
import zipfile
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import pytest

from store.errors import BadSource
from store.memory.documents import markup
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


needs_extra = pytest.mark.skipif(find_spec("markitdown") is None, reason="the extra office is not installed")


def zipped(files: dict[str, str]) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def imported(memory: Memory, name: str, content: bytes) -> dict[int, str]:
    memory.documents.import_document(Path(name), protocol="pond", content=content)
    return {row["page"]: row["content"] for row in memory.documents.entries.find(limit=None)}


@needs_extra
def test_each_slide_of_a_presentation_is_a_page_with_its_table_and_notes(memory: Memory) -> None:
    from pptx import Presentation

    made, file = Presentation(), BytesIO()
    for title, body in (("Otter fees", "Each trade pays 3 copper."), ("Herons", "They pay at low tide.")):
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = title, body
    slide.notes_slide.notes_text_frame.text = "say this slowly"
    table = made.slides[0].shapes.add_table(2, 2, 0, 0, 9, 9).table
    for number, text in enumerate(("Pool", "Fee", "Otter", "0.05")):
        table.cell(*divmod(number, 2)).text = text
    made.save(file)
    pages = imported(memory, "fees.pptx", file.getvalue())
    assert pages.keys() == {1, 2}
    assert "Each trade pays 3 copper." in pages[1]
    assert "| Otter | 0.05 |" in pages[1]
    assert pages[2].startswith("# Herons")
    assert "say this slowly" in pages[2]


@needs_extra
def test_each_sheet_is_a_page_and_an_empty_cell_is_empty(memory: Memory) -> None:
    import openpyxl

    made, file = openpyxl.Workbook(), BytesIO()
    first = made.worksheets[0]
    first.title = "Pools"
    for row in (["Pool", None, "Fee"], ["Otter", "river", 0.05], ["Heron", None, None]):
        first.append(row)
    made.create_sheet("Votes").append(["for", 7])
    made.save(file)
    pages = imported(memory, "pools.xlsx", file.getvalue())
    assert re.sub(" +", " ", pages[1]) == (
        "## Pools\n| Pool | | Fee |\n| --- | --- | --- |\n| Otter | river | 0.05 |\n| Heron | | |"
    )
    assert pages[2].startswith("## Votes\n| for | 7 |")


@needs_extra
def test_a_book_is_read_in_the_order_of_its_chapters(memory: Memory) -> None:
    container, package = "urn:oasis:names:tc:opendocument:xmlns:container", "http://www.idpf.org/2007/opf"
    content = zipped(
        {
            "META-INF/container.xml": f'<container xmlns="{container}"><rootfiles><rootfile '
            'full-path="b.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
            "b.opf": f'<package xmlns="{package}"><metadata/><manifest><item id="z" href="z.xhtml"/>'
            '<item id="a" href="a.xhtml"/></manifest><spine><itemref idref="z"/><itemref idref="a"/></spine>'
            "</package>",
            "z.xhtml": "<html><body><h1>One</h1><p>The tide comes.</p></body></html>",
            "a.xhtml": "<html><body><h1>Two</h1><p>The tide goes.</p></body></html>",
        }
    )
    text = imported(memory, "tides.epub", content)[1]
    assert text == "# One\n\nThe tide comes.\n\n# Two\n\nThe tide goes."


def test_headings_lists_and_tables_of_an_odt_are_kept(memory: Memory) -> None:
    body = (
        '<text:h text:style-name="x" text:outline-level="2">Fées</text:h><text:p>Each<text:s text:c="2"/>'
        "trade<text:line-break/>pays.</text:p><text:p/><text:list><text:list-item><text:p>one</text:p>"
        "</text:list-item></text:list><table:table><table:table-row><table:table-cell><text:p>Otter</text:p>"
        '</table:table-cell><table:table-cell office:value="3"><text:p>3</text:p></table:table-cell>'
        "</table:table-row></table:table><text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        "<office:annotation><text:p>a remark</text:p></office:annotation>"
    )
    content = zipped({"content.xml": f"<x><office:body><office:text>{body}</office:text></office:body></x>"})
    text = imported(memory, "fees.odt", content)[1]
    assert text.startswith("## Fées\n\nEach trade\npays.")
    assert re.search(r"- *\s*one", text)
    assert re.search(r"Otter\s*\|\s*3", text)
    assert "deleted" not in text
    assert "remark" not in text


@pytest.mark.parametrize("name", ["a.pptx", "a.xlsx", "a.epub"])
def test_without_the_extra_the_error_names_what_to_install(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(markup, "find_spec", lambda _: None)
    with pytest.raises(BadSource, match=rf"{name} is an? .*: markitdown reads it, .* \(make office, or: pip"):
        markup.pages(b"", name=name)


@needs_extra
@pytest.mark.parametrize("name", ["a.pptx", "a.xlsx", "a.epub", "a.odt"])
def test_a_damaged_or_empty_file_is_refused_by_name(memory: Memory, name: str) -> None:
    for content in (b"", b"PK\x03\x04", zipped({"other.xml": "<a/>"}), b"<html>not found</html>"):
        with pytest.raises(BadSource, match=rf"{name} (is not|has no text)"):
            imported(memory, name, content)
    assert memory.documents.sources() == []


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    content = zipped({"content.xml": "<a>" * 1_100_000})
    with pytest.raises(BadSource, match="1,000,000 is the limit"):
        markup.pages(content, name="a.odt")

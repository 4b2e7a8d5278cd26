"""Scanned pages are read by RapidOCR, in the order of their columns, and cited by their lines."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2
import pytest
from PIL import Image, ImageDraw, ImageFont
from pypdfium2 import raw

from store.errors import BadSource
from store.memory.documents import documents, parser, readings
from store.memory.documents.pdf import page_picture
from store.memory.documents.recognition import Line, _reading, in_reading_order
from store.memory.memory import Memory
from store.pictures.picture_texts import can_read
from store.progress import Progress
from tests.length import LENGTH
from tests.store.memory.documents.small_pdf import small_pdf

reading = pytest.mark.skipif(not can_read(), reason="the extra eyes is not installed")

LEFT = ("The harbour master keeps", "the ledger of every ship", "that anchors in the bay",
        "and charges each of them", "a fee of seven copper coins")  # fmt: skip
RIGHT = ("Boats of the guild pay only", "half of it, since they carry", "the lamps along the pier",
         "Nobody pays on the night", "of the long tide in winter")  # fmt: skip
TITLE = "Rules of the harbour and its fees for all who come by ship"


def page(*, turn: int = 0) -> Image.Image:
    """A page of two columns below a title, as a scanner sees it, turned to the left by so many quarters."""
    image = Image.new("RGB", (1240, 1754), "white")
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(34)
    draw.text((110, 150), TITLE, "black", ImageFont.load_default(38))
    for x, column in zip((110, 660), (LEFT, RIGHT), strict=True):
        for number, line in enumerate(column):
            draw.text((x, 300 + 60 * number), line, "black", font)
    return image.rotate(90 * turn, expand=True)


def scan(*pages: Image.Image) -> bytes:
    file = BytesIO()
    pages[0].save(file, "PDF", save_all=True, append_images=pages[1:], resolution=150)
    return file.getvalue()


def together(*parts: bytes) -> bytes:
    """The pages of several PDFs as one."""
    made, file = pypdfium2.PdfDocument.new(), BytesIO()
    for part in parts:
        made.import_pages(pypdfium2.PdfDocument(part))
    made.save(file)
    return file.getvalue()


def import_content(
    memory: Memory, content: bytes, name: str = "scan.pdf", progress: Progress | None = None
) -> documents.ImportedDocument:
    return memory.documents.import_document(Path(name), protocol="bay", content=content, progress=progress)


@reading
@pytest.mark.parametrize("turn", [0, 1, 2] if LENGTH >= 1 else [0, 1])
def test_a_scan_is_read_column_by_column_and_cited_by_its_lines(memory: Memory, turn: int) -> None:
    one = import_content(memory, content := scan(page(turn=turn)))
    assert "the text of page 1 was recognised by RapidOCR, which knows Latin" in one.note
    (row,) = memory.documents.entries.find()
    assert "".join(row["content"].split()) == "".join([TITLE, *LEFT, *RIGHT]).replace(" ", "")
    assert row["page"] == 1
    ((number, marks),) = memory.documents.cite(row["id"]).pages
    assert (number, len(marks)) == (1, 11)
    ink = np.asarray(Image.open(BytesIO(page_picture(content, name="p", page=1))).convert("L")) < 128
    covered = np.zeros_like(ink)
    for mark in marks:
        left, top, right, bottom = np.multiply(mark, [*ink.shape[::-1]] * 2).astype(int)
        covered[top : bottom + 1, left : right + 1] = True
    assert (ink & covered).sum() > 0.98 * ink.sum()
    assert covered.mean() < 0.15, "and little else"


@reading
def test_only_pages_without_text_are_recognised_though_a_number_be_typed_on_them(memory: Memory) -> None:
    blank = Image.new("RGB", (1240, 1754), "white")
    typed, other = small_pdf("A typed page", ""), small_pdf("Another typed page")
    content = together(typed, _numbered(scan(page(), blank)), other)
    one = import_content(memory, content)
    assert "the text of page 3 was recognised" in one.note
    assert (one.source.pages, one.source.bare_pages) == (5, "2, 4")
    pages = {row["page"]: row["content"] for row in memory.documents.entries.find()}
    assert pages.keys() == {1, 3, 5}
    assert (pages[1], pages[5]) == ("A typed page", "Another typed page")
    assert "the ledger of every ship" in pages[3]
    assert memory.documents.search("Who keeps the ledger?")[0]["metadata"]["page"] == 3


def _numbered(content: bytes) -> bytes:
    """The PDF with a typed 17 in the corner of its first page."""
    document = pypdfium2.PdfDocument(content)
    sheet = document[0]
    font = raw.FPDFText_LoadStandardFont(document, b"Helvetica")
    text = raw.FPDFPageObj_CreateTextObj(document, font, 12)
    encoded = "17".encode("utf-16-le") + b"\0\0"
    raw.FPDFText_SetText(text, (raw.FPDF_WCHAR * 3).from_buffer_copy(encoded))
    raw.FPDFPage_InsertObject(sheet, text)
    sheet.gen_content()
    file = BytesIO()
    document.save(file)
    return file.getvalue()


@reading
def test_without_the_extra_a_sentence_says_what_to_install_and_then_it_is_read(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    mixed = together(small_pdf("A typed page"), scan(page()))
    with monkeypatch.context() as patch:
        patch.setattr(documents, "can_read", lambda: False)
        with pytest.raises(BadSource, match=r"no text on any of them.*pip install .*requirements-eyes\.txt"):
            import_content(memory, scan(page()))
        one = import_content(memory, mixed, "mixed.pdf")
        assert "the text of page 2 is only in pictures, and RapidOCR is not installed" in one.note
        assert one.source.bare_pages == "2"
        assert import_content(memory, mixed, "mixed.pdf").state == "present"
    again = import_content(memory, mixed, "mixed.pdf")
    assert (again.state, again.source.bare_pages) == ("changed", "")
    assert "the ledger of every ship" in memory.documents.entries.find(where={"page": 2})[0]["content"]
    assert import_content(memory, mixed, "mixed.pdf").state == "present"
    memory.undo()
    assert [row["page"] for row in memory.documents.entries.find()] == [1]


@reading
def test_a_scan_without_words_is_refused(memory: Memory) -> None:
    with pytest.raises(BadSource, match=r"1 page and no text on any of them: nothing was recognised in its"):
        import_content(memory, scan(Image.new("RGB", (1240, 1754), "white")))
    assert memory.documents.sources() == []


def test_pages_that_were_recognised_before_it_was_stopped_are_kept(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress, asked = Progress(), list[list[int]]()

    def recognise(task: str, content: bytes, **given: Any) -> list[dict[str, object]]:
        if given["progress"].cancelled:
            raise BadSource("this was stopped")
        asked.append(given["pages"])
        return [
            {"text": f"Page {page} of the scan.", "places": [], "headings": []} for page in given["pages"]
        ]

    content = scan(*[Image.new("RGB", (124, 175), "white")] * 6)
    read = parser._asked

    def ask(task: str, content: bytes, **given: Any) -> Any:
        return (recognise if task == "recognise" else read)(task, content, **given)

    monkeypatch.setattr(parser, "_asked", ask)
    monkeypatch.setattr(documents, "can_read", lambda: True)
    store = readings.store
    monkeypatch.setattr(readings, "store", lambda *given: (store(*given), progress.cancel()))
    with pytest.raises(BadSource, match="this was stopped"):
        import_content(memory, content, progress=progress)
    assert memory.documents.sources() == []
    import_content(memory, content)
    assert asked == [[1, 2, 3, 4], [5, 6]]
    assert len(memory.documents.entries.find()) == 6


def test_a_damaged_file_of_readings_costs_the_marks_alone(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "a.read.json"
    for content in (b"", b"[]", b'{"1": {}}', b'{"x": {"text": "", "places": []}}', b"\xff"):
        path.write_bytes(content)
        assert readings.load(path) == {}


# -- the order of lines ------------------------------------------------------------------------------------


def line(text: str, left: float, top: float, right: float) -> Line:
    return Line(text, (left, top, right, top + 0.02))


def columns(count: int, *, from_: float = 0.2) -> list[Line]:
    return [
        line(f"{side}{n}", left, from_ + 0.03 * n, left + 0.38)
        for n in range(count)
        for side, left in (("l", 0.1), ("r", 0.52))
    ]


def in_order(lines: list[Line]) -> str:
    return " ".join(one.text for one in in_reading_order(lines))


def test_a_line_across_both_columns_parts_what_is_above_from_what_is_below() -> None:
    figure = line("figure", 0.1, 0.5, 0.9)
    below = [Line(one.text.upper(), one.place) for one in columns(4, from_=0.6)]
    assert in_order([line("title", 0.2, 0.1, 0.8), *columns(4), figure, *below]) == (
        "title l0 l1 l2 l3 r0 r1 r2 r3 figure L0 L1 L2 L3 R0 R1 R2 R3"
    )


def test_a_table_is_read_row_by_row_and_a_row_is_one_line() -> None:
    cells = [
        line(f"{n}{x}", 0.1 + 0.2 * x, 0.1 + 0.03 * n, 0.15 + 0.2 * x) for n in range(5) for x in range(4)
    ]
    assert in_order(cells[::-1]).split()[:6] == ["00", "01", "02", "03", "10", "11"]
    assert _reading([*in_reading_order(cells)], turn=0).text.splitlines()[1] == "10 11 12 13"


def test_a_word_that_a_line_end_cuts_is_joined_and_found() -> None:
    made = _reading([line("the liquid-", 0.1, 0.1, 0.5), line("ation of a", 0.1, 0.13, 0.5)], turn=0)
    assert made.text == "the liquidation of a"
    marks, between = made.marks("liquidation")
    assert (len(marks), between) == (2, [])
    assert made.marks("nothing") == made.marks("") == ([], [])

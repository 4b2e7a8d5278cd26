"""Tables of a PDF come in as Markdown, and a passage of one is cited by its rows."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pypdfium2
import pytest
from PIL import Image

from store.memory.documents.pdf import page_picture
from store.memory.documents.readings import PageReading
from store.memory.documents.tables import tables
from store.memory.memory import Memory
from tests.store.memory.documents.small_pdf import small_pdf

Words = list[tuple[float, float, str]]  # from the left and from below, in points

HEAD = [(100, 700, "Pool"), (220, 700, "Fee"), (300, 700, "Volume")]
BODY = [
    (100, 680, "Otter pond"), (220, 680, "0.05%"), (300, 680, "1,234"),
    (100, 665, "Heron"), (220, 665, "0.30%"), (300, 665, "-7"),
    (100, 650, "Toad"), (300, 650, "99"),
]  # fmt: skip
TABLE = (
    "| Pool | Fee | Volume |\n| --- | --- | --- |\n"
    "| Otter pond | 0.05% | 1,234 |\n| Heron | 0.30% | -7 |\n| Toad |  | 99 |"
)


def drawn(
    words: Words, rules: list[float], *, down: list[float] | None = None, behind: list[float] | None = None
) -> bytes:
    """A PDF with these words, rules across at these heights, and others down at these places.

    `behind` are the heights at which the grey backgrounds of rows begin.
    """
    text = "".join(f") Tj 1 0 0 1 {x} {y} Tm ({one}" for x, y, one in words)
    lines = "".join(f" 95 {y} m 360 {y} l S" for y in rules)
    lines += "".join(f" {x} {min(rules)} m {x} {max(rules)} l S" for x in down or ())
    lines += "".join(f" .9 g 95 {y} 265 15 re f" for y in behind or ())
    return small_pdf(f"{text}) Tj ET {lines} BT (")


def found(content: bytes) -> list[list[list[str]]]:
    page = pypdfium2.PdfDocument(content)[0]
    return [one.rows for one in tables(page, page.get_textpage())]


def import_content(memory: Memory, content: bytes) -> None:
    memory.documents.import_document(Path("paper.pdf"), protocol="pond", content=content)


def test_a_table_is_markdown_among_the_text_and_its_rows_are_cited(memory: Memory) -> None:
    around = [(95, 740, "Fees of every pool"), (95, 600, "The pond pays more.")]
    content = drawn([around[0], *HEAD, *BODY, around[1]], [715, 695, 645])
    import_content(memory, content)
    (row,) = memory.documents.entries.find()
    assert row["content"] == f"Fees of every pool\n\n{TABLE}\n\nThe pond pays more."
    ((number, marks),) = memory.documents.cite(row["id"]).pages
    assert (number, len(marks)) == (1, 6), "a mark for each row and for the text above and below"
    ink = np.asarray(Image.open(BytesIO(page_picture(content, name="p", page=1))).convert("L")) < 128
    covered = np.zeros_like(ink)
    for mark in marks:
        left, top, right, bottom = np.multiply(mark, [*ink.shape[::-1]] * 2).astype(int)
        covered[top : bottom + 1, left : right + 1] = True
    assert (ink & covered).sum() > 0.6 * ink.sum(), "all but the rules"
    assert covered.mean() < 0.1


def test_what_was_imported_before_tables_were_read_is_cited_as_it_was(memory: Memory) -> None:
    content = drawn([*HEAD, *BODY], [715, 695, 645])
    import_content(memory, content)
    (stored,) = memory.places.originals.glob("*.read.json")
    kept = stored.read_bytes()
    stored.unlink()
    (row,) = memory.documents.entries.find()
    assert memory.documents.cite(row["id"]).pages == [(1, [])]
    stored.write_bytes(kept)
    assert len(memory.documents.cite(row["id"]).pages[0][1]) == 4


@pytest.mark.parametrize(
    ("words", "rules", "down", "rows"),
    [
        pytest.param(
            [*HEAD, *BODY], [715, 695, 675, 660, 645], [95, 210, 290, 360],
            [["Pool", "Fee", "Volume"], ["Otter pond", "0.05%", "1,234"], ["Heron", "0.30%", "-7"],
             ["Toad", "", "99"]],
            id="a grid",
        ),
        pytest.param(
            [(240, 715, "Rates of the year"), *HEAD, *BODY], [730, 695, 645], [],
            [["Pool", "Rates of the year Fee", "Rates of the year Volume"],
             ["Otter pond", "0.05%", "1,234"], ["Heron", "0.30%", "-7"], ["Toad", "", "99"]],
            id="a header over two columns",
        ),
        pytest.param(
            [(100, 700, "Kind"), (170, 700, "Pool"), (300, 700, "Fee"),
             (170, 680, "Otter"), (300, 680, "1"), (100, 672, "Deep"), (170, 665, "Heron"), (300, 665, "2"),
             (170, 640, "Toad"), (300, 640, "3")],
            [715, 695, 655, 630], [],
            [["Kind", "Pool", "Fee"], ["Deep", "Otter", "1"], ["", "Heron", "2"], ["", "Toad", "3"]],
            id="a label in the middle of its rows",
        ),
        pytest.param(
            [(100, 700, "Name"), (170, 700, "Meaning"), (310, 700, "Default"),
             (100, 680, "fee"), (170, 680, "what a trade has to pay"), (310, 680, "3"),
             (170, 668, "to the pool"), (100, 655, "cap"), (170, 655, "the most"), (310, 655, "9")],
            [715, 695, 645], [],
            [["Name", "Meaning", "Default"], ["fee", "what a trade has to pay to the pool", "3"],
             ["cap", "the most", "9"]],
            id="a cell of two lines",
        ),
        pytest.param([*HEAD, *BODY], [695], [], None, id="a rule below the header alone"),
        pytest.param([*HEAD, *BODY], [715, 695], [], None, id="no rule below the last row"),
        pytest.param(
            [*HEAD, *BODY, (95, 632, "A paragraph of plain text that runs over the width of the table.")],
            [695], [], None, id="text below it",
        ),
        pytest.param(
            [*HEAD, *BODY, (95, 625, "Between both tables is a paragraph of plain text.")]
            + [(x, y - 120, one) for x, y, one in [*HEAD, *BODY]],
            [715, 695, 645, 595, 575, 525], [], None,
            id="two tables below each other",
        ),
    ],
)  # fmt: skip
def test_tables_are_found_by_their_rules(
    words: Words, rules: list[float], down: list[float], rows: list[list[str]] | None
) -> None:
    once = [
        ["Pool", "Fee", "Volume"],
        ["Otter pond", "0.05%", "1,234"],
        ["Heron", "0.30%", "-7"],
        ["Toad", "", "99"],
    ]
    expected = [rows] if rows else [once] * (2 if len(rules) > 3 else 1)
    assert found(drawn(words, rules, down=down)) == expected


def test_the_backgrounds_of_rows_count_as_rules() -> None:
    (rows,) = found(drawn([*HEAD, *BODY], [], behind=[696, 676, 661, 646]))
    assert rows[:2] == [["Pool", "Fee", "Volume"], ["Otter pond", "0.05%", "1,234"]]
    assert len(rows) == 4


@pytest.mark.parametrize(
    ("words", "rules", "down"),
    [
        ([(100, 700 - 12 * n, "a paragraph of plain text") for n in range(9)], [715, 580], []),
        ([(100, 700, "a heading"), (100, 680, "its text")], [715, 695, 670], []),
        ([(x, 700 - 12 * n, "a column of plain text") for n in range(15) for x in (100, 235)], [715, 505],
         []),
        ([(100, 700, "Check beforeSwap flag"), (100, 680, "Execute swap")], [715, 690, 670], [95, 125, 360]),
        ([], [715, 670], []),
        ([*HEAD, *BODY], [], []),
    ],
    ids=["text between rules", "a heading", "two columns", "a flow chart", "rules alone", "no rules"],
)  # fmt: skip
def test_what_is_no_table_stays_text(words: Words, rules: list[float], down: list[float]) -> None:
    content = drawn(words, rules, down=down) if rules else small_pdf("text")
    assert found(content) == []


def test_a_bar_in_a_cell_does_not_part_it() -> None:
    page = pypdfium2.PdfDocument(drawn([*HEAD, (100, 680, "a|b"), (220, 680, "1")], [715, 695, 670]))[0]
    (one,) = tables(page, page.get_textpage())
    assert [line for line, _ in one.lines()][2] == r"| a\|b | 1 |  |"


def test_a_passage_has_its_rows_and_what_stands_between_them() -> None:
    box = (0.1, 0.2, 0.3, 0.4)
    reading = PageReading("above\n| a | b |\nbelow", [(6, 15, box)])
    assert reading.marks("above | a | b | below") == ([box], ["above", "below"])
    assert reading.marks("| b |") == ([box], [])
    assert reading.marks("above") == ([], ["above"])
    assert reading.marks("elsewhere") == ([], [])

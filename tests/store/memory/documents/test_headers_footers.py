"""Headers, footers, page numbers and tables of contents are in no passage; everything else is."""

from pathlib import Path

import pytest

from store.memory.documents.headers_footers import bodies
from store.memory.memory import Memory
from tests.store.memory.documents.small_pdf import small_pdf

CONTENTS = "Contents\n1 Introduction 1\n2 Lending and\nborrowing 3\n3 Liquidation 7\n3.1 Bonus 9\n4 Safety 12"


def kept(*pages: str) -> list[str]:
    """What is left of each page."""
    return [
        "|".join(text[start:end].strip() for start, end in spans)
        for text, spans in zip(pages, bodies(pages), strict=True)
    ]


def test_lines_repeated_at_the_edges_of_pages_are_left_out() -> None:
    pages = [f"Aave V3, {n}\nText {'abcd'[n]} of a page.\nConfidential\n{n + 1}" for n in range(4)]
    assert kept(*pages) == [f"Text {letter} of a page." for letter in "abcd"]


def test_headers_of_left_and_right_pages_are_both_found() -> None:
    pages = [f"{'Adams et al.' if n % 2 else 'Uniswap v4 Core'}\nParagraph {'abcdefgh'[n]}" for n in range(8)]
    assert kept(*pages) == [f"Paragraph {letter}" for letter in "abcdefgh"]


@pytest.mark.parametrize(
    "pages",
    [
        ["Same line\none", "Same line\ntwo"],
        ["alone"],
        [f"{a}1x\n{a}y\n{a}z\nrepeated inside\n{a}x\n{a}yy\n{a}zz" for a in "abc"],
    ],
    ids=["two pages", "one page", "not at an edge"],
)  # fmt: skip
def test_lines_of_few_pages_or_inside_of_pages_stay(pages: list[str]) -> None:
    assert kept(*pages) == pages


def test_a_table_of_contents_is_left_out_and_what_surrounds_it_stays() -> None:
    assert kept(f"Title\n{CONTENTS}\nThis paper is about lending.\nIt has parts.") == [
        "Title|This paper is about lending.\nIt has parts."
    ]
    dotted = "\n".join(
        f"Chapter {name} ......... {n}" for n, name in enumerate(("one", "two", "three", "four"))
    )
    assert kept(f"Preface\n{dotted}\nThe end") == ["Preface|The end"]


def test_tables_of_numbers_and_short_lists_are_no_contents() -> None:
    table = "\n".join(f"Asset {n} {n * 7}" for n in range(9))
    assert kept(table) == [table]
    assert kept("Contents\nof the box: 3\nand a lid") == ["Contents\nof the box: 3\nand a lid"]


def test_a_document_of_nothing_else_is_kept_whole() -> None:
    assert kept(*["Same words"] * 4) == ["Same words"] * 4


def test_passages_lack_the_footer_and_cite_their_place(memory: Memory) -> None:
    pages = [f"Interest rates of pool {name}" for name in ("aa", "bb", "cc")]
    content = "\n".join(pages).encode()
    memory.documents.import_document(
        Path("a.txt"), protocol="aave", content=CONTENTS.encode() + b"\n\n" + content
    )
    (row,) = memory.documents.entries.find()
    assert row["content"] == "\n".join(pages)
    whole = CONTENTS + "\n\n" + "\n".join(pages)
    assert whole[row["span_start"] : row["span_end"]] == row["content"]


def test_a_pdf_whose_pages_are_all_alike_is_still_found(memory: Memory) -> None:
    memory.documents.import_document(Path("a.pdf"), protocol="aave", content=small_pdf(*["Same words"] * 3))
    assert [row["page"] for row in memory.documents.entries.find()] == [1, 2, 3]


SAID = "A line of ten words or more says something about this protocol."


def test_alternate_headers_of_a_short_paper_are_in_no_passage() -> None:
    pages = [
        f"{head}\n{SAID} {n * 'x'}" for n, head in enumerate(("Core", "Ann et al.", "Core", "Ann et al."))
    ]
    left = [text[slice(*span)] for text, spans in zip(pages, bodies(pages), strict=True) for span in spans]
    assert [text.strip() for text in left] == [f"{SAID} {n * 'x'}".strip() for n in range(4)]


def test_a_title_page_is_in_no_passage_unless_it_says_something() -> None:
    pages = ["Frog Protocol\nAnn Frog\nann@frog.example\nMay 2026", SAID * 12 + " one", SAID * 12 + " two"]
    assert bodies(pages)[0] == []
    assert bodies([f"Frog Protocol\n{SAID}", *pages[1:]])[0] != []
    assert bodies(pages[:2])[0] != [], "too short to have one"

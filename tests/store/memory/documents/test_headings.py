"""Headings are found in Markdown, reStructuredText, numbered text, licences and the text of PDFs."""

import pytest

from store.memory.documents.headings import TypesetLine, headings, section, sections_named, typeset_headings
from store.memory.engine.inputs import UnknownEntry


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("# Aave\n\nText.\n\n## Risk ##\nMore.", ["Aave", "Risk"]),
        ("# Aave\n\n```\n# a comment\n```\n\n1. A step", ["Aave"]),
        ("Aave\n====\n\nText.\n\nRisk\n~~~~\nMore.", ["Aave", "Risk"]),
        ("Text.\n\n  2. Basic Permissions.\n\n  All rights.", ["2. Basic Permissions"]),
        ("Text.\n\n   4. Redistribution. You may reproduce\n   copies.", ["4. Redistribution"]),
        ("Text.\n\nEND OF TERMS\n\nAppendix.", ["END OF TERMS"]),
        ("of them.\n2 HOOKS\nHooks are contracts.\n2.1 Action Hooks\nText.", ["2 HOOKS", "2.1 Action Hooks"]),
        ("of them.\n6.4 donate()\ndonate() allows users to pay.", ["6.4 donate()"]),
        ("Abstract\nThis paper is about lending.", ["Abstract"]),
    ],
    ids=["marks", "code", "underlines", "number", "in text", "capitals", "pdf", "function", "customary"],
)  # fmt: skip
def test_headings_are_found(text: str, titles: list[str]) -> None:
    found = headings(text)
    assert [one.title for one in found] == titles
    assert all(one.title.split()[0] in text[one.start :].split("\n")[0] for one in found)


@pytest.mark.parametrize(
    "text",
    [
        "1. Redistributions of source code must retain the above\ncopyright notice.",
        "It rose by\n30 Percent of all loans were repaid within a day,\nand more.",
        "Before.\n\n" + "WORD " * 30 + "\n\nAfter.",
        "no\n\nheading here.",
        "",
    ],
    ids=["list", "number", "paragraph in capitals", "text", "empty"],
)
def test_sentences_and_lists_are_no_headings(text: str) -> None:
    assert headings(text) == []


def test_a_part_of_a_text_is_in_the_section_that_most_of_it_is_in() -> None:
    text = "before\n\n# One\n" + "a " * 40 + "\n\n# Two\n" + "b " * 40
    found = headings(text)
    assert section(found, 0, 6) == ""
    assert section(found, 10, 60) == "One"
    assert section(found, found[1].start - 10, len(text)) == "Two"


def typeset(*lines: tuple[str, float, bool]) -> list[TypesetLine]:
    """Lines of a page with their size and whether they are bold, each followed by a line of text."""
    text = (
        "and this is what the text of a paper says, which is longer than all of its headings",
        10.0,
        False,
    )
    return [
        TypesetLine(0, 100 * at, words, size, "Serif", is_bold)
        for at, (words, size, is_bold) in enumerate(each for line in lines for each in (line, text, text))
    ]


@pytest.mark.parametrize(
    ("lines", "titles"),
    [
        (
            [("1 Introduction", 14, True), ("1.1 Isolated pairs", 12, True), ("2 Risk of loss", 14, True)],
            ["1 Introduction", "1.1 Isolated pairs", "2 Risk of loss"],
        ),
        (
            [("1 The pool", 14, True), ("1. Capital efficiency", 10, False), ("2. Safety", 10, False),
             ("3 Percent Of All", 10, False), ("2 The vault", 14, True), ("3 Fees", 14, True)],
            ["1 The pool", "2 The vault", "3 Fees"],
        ),
        (
            [("1 The pool", 10, True), ("30 Tokens of it", 10, True), ("2 The vault", 10, True),
             ("7 Days", 10, True), ("3 Fees", 10, True), ("3.1 Of swaps", 10, True)],
            ["1 The pool", "2 The vault", "3 Fees", "3.1 Of swaps"],
        ),
        (
            [("Abstract", 14, True), ("1 The pool", 14, True), ("Invariants", 10, True),
             ("2 The vault", 14, True), ("References", 14, True), ("Figure 1: a pool", 10, True)],
            ["Abstract", "1 The pool", "2 The vault", "References"],
        ),
        (
            [("The pond", 22, True), ("Why a pond", 14, True), ("How it works", 14, True)],
            ["Why a pond", "How it works"],
        ),
        ([("1. First", 10, False), ("2. Second", 10, False)], []),
    ],
    ids=["sizes", "lists and rows", "bold rows", "unnumbered", "no numbers", "plain"],
)  # fmt: skip
def test_a_pdfs_type_and_numbers_tell_its_headings(
    lines: list[tuple[str, float, bool]], titles: list[str]
) -> None:
    assert [one.title for _, one in typeset_headings(typeset(*lines))] == titles


@pytest.mark.parametrize(
    ("size", "more", "titles"),
    [
        (14, "know about frogs", ["1 The pool", "2 What a guard has to know about frogs"]),
        (14, "2.1 Frogs", ["1 The pool", "2 What a guard has to", "2.1 Frogs"]),
        (10, "Frogs", ["1 The pool", "2 What a guard has to"]),
    ],
    ids=["larger", "another number", "bold only"],
)
def test_lines_of_one_heading_are_joined(size: float, more: str, titles: list[str]) -> None:
    lines = typeset(("1 The pool", size, True), ("2 What a guard has to", size, True))
    lines.insert(4, TypesetLine(0, 350, more, size, "Serif", is_bold=True))
    assert [one.title for _, one in typeset_headings(lines)] == titles


def test_a_section_is_called_by_its_number_or_title_in_any_case() -> None:
    known = ["", "10 Fees", "2.1 Isolated liquidity pairs", "2.1.1 Gas", "Gas", "A.1 Proofs"]
    for name in ("2.1 Isolated liquidity pairs", "2.1", "2.1.", "isolated  LIQUIDITY pairs"):
        assert sections_named(name, known) == ["2.1 Isolated liquidity pairs"]
    assert sections_named("gas", known) == ["2.1.1 Gas", "Gas"]
    assert sections_named("a.1", known) == ["A.1 Proofs"]
    with pytest.raises(UnknownEntry, match=r"no section '2'.*there are '2\.1 Isolated.*'10 Fees', 'A\.1"):
        sections_named("2", known)

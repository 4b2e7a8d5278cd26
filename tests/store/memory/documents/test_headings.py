"""Headings are found in Markdown, reStructuredText, numbered text, licences and the text of PDFs."""

import pytest

from store.memory.documents.headings import headings, section


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

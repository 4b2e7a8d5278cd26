"""Passages know their section and their exact place, also over a page's end."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from store.errors import BadSource
from store.memory.documents.chunking import cut
from store.memory.engine.errors import UnknownEntry
from store.memory.memory import Memory
from store.memory.searching import SearchFilters
from tests.store.memory.documents.small_pdf import small_pdf
from tests.store.memory.earlier import as_of_1_2

PAPER = (
    b"# Lending\n\nRates rise.\n\n" + b"Money is lent. " * 70 + b"\n\n# Safety\n\n" + b"Loans are safe. " * 70
)


@pytest.fixture
def paper(memory: Memory) -> Memory:
    memory.documents.import_document(Path("paper.md"), protocol="aave", content=PAPER)
    return memory


def test_a_sentence_that_goes_on_makes_one_passage_over_the_pages_end() -> None:
    pages = ["1 Lending\nRates rise when the pool is", "used by borrowers.\nThey fall again."]
    (passage,) = cut(pages)
    assert passage.text == "\n".join(pages)
    assert (passage.page, passage.start, passage.last_page, passage.end) == (1, 0, 2, len(pages[1]))
    assert passage.section == "1 Lending"


@pytest.mark.parametrize(
    "second", ["2 Safety\nLoans are safe.", "• a list", "12"], ids=["heading", "list", "number"]
)
def test_other_pages_are_cut_at_their_end(second: str) -> None:
    assert [(one.page, one.last_page) for one in cut(["Rates rise when", second])] == [(1, 1), (2, 2)]
    assert [one.last_page for one in cut(["Rates rise.", "they do"])] == [1, 2]


def test_a_section_goes_on_over_pages() -> None:
    assert [one.section for one in cut(["1 Lending\nRates rise.", "They fall.", "2 Safety\nLoans."])] == [
        "1 Lending", "1 Lending", "2 Safety",
    ]  # fmt: skip


def test_offsets_are_right_on_each_page() -> None:
    pages = ["word word\n" * 150 + "and", "so on\n" + "term term\n" * 250 + "ends.", "Last."]
    found = cut(pages)
    assert [one.page != one.last_page for one in found].count(True) == 1
    for one in found:
        if one.page == one.last_page:
            assert pages[one.page - 1][one.start : one.end] == one.text
        else:
            assert f"{pages[one.page - 1][one.start :]}\n{pages[one.last_page - 1][: one.end]}" == one.text


def test_hits_show_their_section_and_are_filtered_by_it(paper: Memory) -> None:
    found = paper.documents.search("loans and money", section="Safety")
    assert {hit["metadata"]["section"] for hit in found} == {"Safety"}
    rows = paper.search("loans", kind="documents", filters=SearchFilters(section="Safety"))
    assert {row["section"] for row in rows} == {"Safety"}
    with pytest.raises(UnknownEntry, match="Safety"):
        paper.search("loans", kind="documents", filters=SearchFilters(section="Safely"))


def test_a_document_of_before_gets_its_sections_and_keeps_everything_else(
    paper: Memory, reopen: Callable[[], Memory]
) -> None:
    passages = paper.documents.entries
    passages.edit((edited := passages.find()[1])["id"], content="a person's words")
    before = passages.find(limit=None)
    vector = passages.vector(edited["id"])
    paper.close()
    as_of_1_2(paper.places.root)
    with closing(sqlite3.connect(paper.places.former("documents"))) as db:  # as version 3 left it
        db.executescript(
            "ALTER TABLE documents DROP COLUMN section; ALTER TABLE documents DROP COLUMN last_page; "
            "ALTER TABLE sources DROP COLUMN has_sections; PRAGMA user_version = 3"
        )
    memory = reopen()
    documents = memory.documents
    assert [row["section"] for row in documents.entries.find(limit=None)] == [""] * len(before)
    assert documents.search("rates rise")[0]["metadata"] == {
        "source": "paper.md", "page": 1, "protocol": "aave",
    }  # fmt: skip
    (source,) = documents.sources()
    assert not source.has_sections
    assert documents.find_sections(source) == len(before)
    assert documents.entries.find(limit=None) == before, "the same ids, texts, places and sections"
    assert (documents.entries.vector(edited["id"]) == vector).all()
    assert documents.sources()[0].has_sections
    memory.undo()
    assert not documents.sources()[0].has_sections


def test_sections_are_not_found_without_the_file(paper: Memory) -> None:
    (source,) = paper.documents.sources()
    (paper.places.originals / source.original).unlink()
    with pytest.raises(BadSource, match=r"paper\.md is no longer there"):
        paper.documents.find_sections(source)


def test_a_citation_of_two_pages_names_both(memory: Memory) -> None:
    content = small_pdf("Rates rise when the pool is", "used by borrowers")
    memory.documents.import_document(Path("p.pdf"), protocol="aave", content=content)
    (row,) = memory.documents.entries.find()
    cited = memory.documents.cite(row["id"])
    assert [page for page, marks in cited.pages if marks] == [1, 2]

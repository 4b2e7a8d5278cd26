"""Passages know their section and their exact place, also over a page's end."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import BadSource
from store.memory.documents.chunking import LONGEST, OVERLAP, cut, split_recursively
from store.memory.engine.inputs import InvalidInput, UnknownEntry
from store.memory.engine.kind import Row
from store.memory.memory import Memory, SearchFilters
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


LONG = " ".join(f"Sentence number {n} of the paper says something of its own." for n in range(60))


def imported(memory: Memory, name: str, content: bytes) -> list[Row]:
    memory.documents.import_document(Path(name), protocol="pond", content=content)
    return rows(memory)


def rows(memory: Memory) -> list[Row]:
    return memory.documents.entries.find(limit=None)


def marked(memory: Memory, row: Row) -> list[tuple[int, int]]:
    """The pages of a passage, and how many rectangles each has."""
    return [(page, len(marks)) for page, marks in memory.documents.cite(row["id"]).pages]


def test_merged_passages_have_the_text_of_both_once_and_undo_parts_them(memory: Memory) -> None:
    before = imported(memory, "long.md", LONG.encode())
    assert len(before) > 3
    merged = memory.documents.merge_with_next(before[1]["id"], decision="a")
    assert memory.documents.merge_with_next(before[1]["id"], decision="a") == merged, "sent twice"
    after = rows(memory)
    assert [one["id"] for one in after] == [one["id"] for one in (before[0], before[1], *before[3:])]
    assert merged["content"] == LONG[before[1]["span_start"] : before[2]["span_end"]]
    assert memory.documents.search("Sentence number 30", 1)
    memory.undo()
    assert rows(memory) == before


def test_a_split_passage_is_two_in_its_place_and_undo_joins_them(memory: Memory) -> None:
    before = imported(memory, "long.md", LONG.encode())
    beginning = before[1]["content"][300:340]
    first, second = memory.documents.split(before[1]["id"], beginning, decision="a")
    assert memory.documents.split(before[1]["id"], beginning, decision="a") == (first, second), "sent twice"
    after = rows(memory)
    assert [one["id"] for one in after] == [
        before[0]["id"],
        first["id"],
        second["id"],
        *[x["id"] for x in before[2:]],
    ]
    assert second["content"].startswith(beginning.strip())
    assert LONG[first["span_start"] : first["span_end"]] == first["content"]
    assert LONG[second["span_start"] : second["span_end"]] == second["content"]
    around = memory.around(second["id"], kind="documents")
    assert [[one["id"] for one in side] for side in around] == [[first["id"]], [before[2]["id"]]]
    assert memory.documents.merge_with_next(first["id"])["content"] == before[1]["content"]
    memory.undo()
    memory.undo()
    assert rows(memory) == before


def test_each_half_is_marked_on_its_own_page(memory: Memory) -> None:
    content = small_pdf("The vault opens at dawn and is guarded by", "otters who sleep until noon")
    (row,) = imported(memory, "paper.pdf", content)
    assert (row["page"], row["last_page"]) == (1, 2)
    first, second = memory.documents.split(row["id"], "who sleep")
    assert (first["page"], first["last_page"], second["page"], second["last_page"]) == (1, 2, 2, None)
    assert (marked(memory, first), marked(memory, second)) == ([(1, 1), (2, 1)], [(2, 1)])
    merged = memory.documents.merge_with_next(row["id"])
    assert merged["content"] == row["content"]
    assert marked(memory, merged) == [(1, 1), (2, 1)]


def test_an_edited_passage_is_split_and_merged_by_its_text(memory: Memory) -> None:
    before = imported(memory, "long.md", LONG.encode())
    memory.documents.entries.edit(before[0]["id"], content="What a person wrote about otters.")
    first, second = memory.documents.split(before[0]["id"], "wrote about")
    assert (first["content"], second["content"]) == ("What a person", "wrote about otters.")
    assert [one["id"] for one in rows(memory)][:3] == [first["id"], second["id"], before[1]["id"]]
    merged = memory.documents.merge_with_next(second["id"])
    assert merged["content"] == f"wrote about otters.\n{before[1]['content']}"


def test_what_cannot_be_split_or_merged_is_refused(memory: Memory) -> None:
    (row,) = imported(memory, "short.md", b"One passage alone.")
    for beginning in ("", "  ", "One", "nowhere"):
        with pytest.raises(InvalidInput, match="has to begin with words from within"):
            memory.documents.split(row["id"], beginning)
    with pytest.raises(InvalidInput, match="the last passage of its paper"):
        memory.documents.merge_with_next(row["id"])
    with pytest.raises(UnknownEntry):
        memory.documents.merge_with_next("nothing")
    assert rows(memory) == [row]


texts = st.text(st.sampled_from("ab   \n\n\t\ré界𝔘"), max_size=400) | st.text(max_size=200)
sizes = st.tuples(st.integers(1, 60), st.integers(0, 30))


@given(texts, sizes)
def test_only_white_space_at_chunk_edges_is_lost(text: str, sizes: tuple[int, int]) -> None:
    end = 0
    for start, stop in split_recursively(text, longest=sizes[0], overlap=sizes[1]):
        assert not text[end : max(end, start)].strip(), "what lies between two chunks is white space"
        assert stop > end, "every chunk goes on"
        end = stop
    assert not text[end:].strip()


@given(texts, sizes)
def test_no_chunk_is_empty_or_too_long_or_overlaps_too_much(text: str, sizes: tuple[int, int]) -> None:
    spans = split_recursively(text, longest=sizes[0], overlap=sizes[1])
    for start, stop in spans:
        assert 0 < stop - start <= sizes[0]
        assert text[start:stop] == text[start:stop].strip()
    for (_, before), (after, _) in pairwise(spans):
        assert before - after <= sizes[1]


def test_paragraphs_that_fit_stay_whole() -> None:
    paragraphs = ["a" * 600, "b" * 500, "c" * 300]
    text = "\n\n".join(paragraphs)
    assert [text[s:e] for s, e in split_recursively(text)] == ["a" * 600, "b" * 500 + "\n\n" + "c" * 300]


def test_chunks_of_prose_overlap_by_nearly_100_characters() -> None:
    text = " ".join(f"word{number:04}" for number in range(1000))
    spans = split_recursively(text)
    assert all(900 < end - start <= LONGEST for start, end in spans[:-1])
    overlaps = [before - after for (_, before), (after, _) in pairwise(spans)]
    assert all(OVERLAP - 9 <= overlap <= OVERLAP for overlap in overlaps)


def test_a_very_long_word_is_cut_at_1000_with_100_of_overlap() -> None:
    assert split_recursively("x" * 2500) == [(0, 1000), (900, 1900), (1800, 2500)]


def test_1000_characters_are_one_chunk() -> None:
    assert split_recursively("x" * 1000) == [(0, 1000)]
    assert split_recursively("") == split_recursively(" \n\n ") == []

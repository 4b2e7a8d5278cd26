"""Passages that a person splits or merges: their texts, their places, their order, and undo."""

from pathlib import Path

import pytest

from store.memory.engine.errors import InvalidInput, UnknownEntry
from store.memory.engine.kind import Row
from store.memory.memory import Memory
from tests.store.memory.documents.small_pdf import small_pdf

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

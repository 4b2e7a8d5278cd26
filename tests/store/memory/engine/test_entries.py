"""A text longer than the model's window is embedded to its end."""

from pathlib import Path

import pytest

from store.embedding import open_embedder
from store.memory.engine.inputs import InvalidInput, UnknownEntry
from store.memory.memory import Memory


def test_a_text_longer_than_the_model_window_is_embedded_to_its_end(tmp_path: Path) -> None:
    start, end = "The harbour lies in fog. " * 60, "Kangaroos play the violin. " * 60
    embedder = open_embedder("sentence-transformers:all-MiniLM-L6-v2")
    assert embedder.count_tokens(start) > embedder.token_limit
    whole, alone, question = embedder.embed_texts([start + end, start, "violins and kangaroos"])
    assert float(whole @ question) > float(alone @ question) + 0.1


def test_entries_are_found_by_words_filtered_sorted_and_paged(memory_with_lore: Memory) -> None:
    entries = memory_with_lore.lore.entries
    assert entries.count(words="dragon tal") == 6
    assert entries.count(words="dragon", where={"world_id": "peaks"}) == 3
    assert entries.count(words='x" OR *') == 0
    assert entries.count(words="tale dragon") > entries.count(words='"tale dragon"') == 0, "a phrase"
    page = entries.find(order="-length", where={"world_id": ["peaks", "swamp"]}, offset=1, limit=2)
    assert [row["lore_id"] for row in page] == ["l4", "l3"]
    assert entries.counts() == {"peaks": 3, "swamp": 3}
    assert "vector" not in page[0]
    for wrong in ({"order": "vector"}, {"order": "id; DROP TABLE meta"}, {"where": {"text": "x"}}):
        with pytest.raises(InvalidInput):
            entries.find(**wrong)  # type: ignore[arg-type]


def test_an_edited_entry_is_found_by_its_new_words_and_meaning(memory_with_lore: Memory) -> None:
    entries = memory_with_lore.lore.entries
    entries.edit("peaks_l1", text="goats only")
    assert entries.count(words="goats") == 1
    assert memory_with_lore.lore.query_lore("peaks", "goats only", 1)[0] == ["goats only"]
    for wrong in ({"id": "other"}, {"world_id": "other"}, {"vector": b""}, {"nonsense": 1}, {"text": ""}):
        with pytest.raises(InvalidInput):
            entries.edit("peaks_l1", **wrong)
    with pytest.raises(UnknownEntry):
        entries.edit("nobody", text="x")


def test_a_bulk_removal_is_one_decision_and_one_undo(memory_with_lore: Memory) -> None:
    entries = memory_with_lore.lore.entries
    ids = [row["id"] for row in entries.find(where={"world_id": "peaks"})]
    assert entries.remove([*ids, "nobody"]) == 3
    assert memory_with_lore.log.find()[0].count == 3
    assert memory_with_lore.lore.query_lore("peaks", "dragon") == ([], False)
    memory_with_lore.undo()
    assert len(memory_with_lore.lore.query_lore("peaks", "Dragón tale")[0]) == 3

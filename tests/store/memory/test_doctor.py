"""Doctor finds and repairs missing vectors and full text."""

import pytest

from store.memory import doctor
from store.memory.memory import Memory
from store.memory.story.lore import KIND, World


@pytest.mark.usefixtures("chroma")
def test_doctor_finds_nothing_wrong_with_a_memory_in_use(memory_with_lore: Memory) -> None:
    memory_with_lore.memories.store_memory("words")
    memory_with_lore.memories.entries.remove([row["id"] for row in memory_with_lore.memories.entries.find()])
    assert memory_with_lore.wait_for_chroma(60)
    assert doctor.check(memory_with_lore) == []


@pytest.mark.usefixtures("chroma")
def test_doctor_repairs_missing_vectors_and_full_text(memory_with_lore: Memory) -> None:
    with memory_with_lore.lore.entries.database.writing() as db:
        vector = f"SELECT v.key FROM world_lore p {KIND.joined()} WHERE p.id = 'peaks_l1'"
        db.execute(f"DELETE FROM world_lore_vectors WHERE key = ({vector})")
        db.execute(
            "INSERT OR REPLACE INTO changes (kind, tbl, id) VALUES ('world_lore', 'world_lore', 'peaks_l1')"
        )
        db.execute("INSERT INTO world_lore_words (world_lore_words) VALUES ('delete-all')")
    memory_with_lore.lore.put_world(World("bare", "Bare", "", "", "bare.yaml", "1"))
    found = {finding.what for finding in doctor.check(memory_with_lore)}
    assert found == {
        "1 entries have no vector of this kind's model",
        "full-text search does not agree with the texts",
        "the world bare has no lore",
        "the file of the world bare is gone",
    }
    left = {finding.what for finding in doctor.repair(memory_with_lore)}
    assert left == {"the world bare has no lore", "the file of the world bare is gone"}
    assert memory_with_lore.lore.entries.count(words="tale") == 6

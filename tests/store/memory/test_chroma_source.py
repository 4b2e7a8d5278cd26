"""Chroma holds what the memory holds, and is rebuilt without a model."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from store.memory.exporting import export
from store.memory.kinds import KINDS
from store.memory.memory import Memory
from tests.store.memory.bags import Bags
from tests.store.memory.chroma_as_it_is import stored


def test_collections_are_named_as_in_the_references() -> None:
    assert {kind.name for kind in KINDS} == {
        "memories",
        "documents",
        "world_lore",
        "session_memory",
        "transcript_vectors",
    }


@pytest.mark.usefixtures("chroma")
def test_chroma_is_updated_after_changes_and_removals(memory_with_lore: Memory) -> None:
    memory_with_lore.lore.entries.remove(["peaks_l1"])
    memory_with_lore.lore.entries.edit("peaks_l3", text="goats")
    assert memory_with_lore.wait_for_chroma(60)
    memory_with_lore.close()
    entries = stored(memory_with_lore.places.root, "world_lore")
    assert entries.keys() == {"swamp_l0", "swamp_l2", "swamp_l4", "peaks_l3", "peaks_l5"}
    np.testing.assert_allclose(entries["peaks_l3"]["embedding"], Bags().embed_texts(["goats"])[0], atol=1e-6)


@pytest.mark.usefixtures("chroma")
def test_a_memory_whose_file_was_removed_while_it_was_open_is_closed(memory_with_lore: Memory) -> None:
    assert memory_with_lore.wait_for_chroma(60)
    memory_with_lore.places.database.unlink()
    memory_with_lore.close()


@pytest.mark.slow
@pytest.mark.usefixtures("chroma")
def test_half_characters_and_endless_numbers_that_an_earlier_version_stored_do_not_stop_chroma(
    memory_with_lore: Memory, tmp_path: Path
) -> None:
    id = memory_with_lore.memories.store_memory("frogs")["memory_id"]
    memory_with_lore.memories.entries.edit(id, tags='["\\ud83d"]')
    memory_with_lore.lore.entries.edit("peaks_l3", metadata='{"\\ud83d":"\\ud83d","n":1e999,"i":9e22}')
    assert memory_with_lore.wait_for_chroma(60)
    assert memory_with_lore.check_chroma() == []
    exported = export(memory_with_lore, tmp_path / "out", kinds=["memories", "world_lore"])
    assert exported.refused == []
    memory_with_lore.close()
    assert stored(memory_with_lore.places.root, "memories")[id]["metadata"]["tags"] == "?"


@pytest.mark.usefixtures("chroma")
def test_a_lost_or_damaged_chroma_is_rebuilt_without_a_model(
    memory_with_lore: Memory, reopen: Callable[[], Memory], bags: Bags
) -> None:
    assert memory_with_lore.wait_for_chroma(60)
    memory_with_lore.close()
    for file in memory_with_lore.places.chroma.rglob("*"):
        if file.is_file():
            file.write_bytes(b"rubbish")
    bags.fails = True
    memory = reopen()
    assert memory.wait_for_chroma(120)
    assert memory.check_chroma() == []
    memory.close()
    assert len(stored(memory.places.root, "world_lore")) == 6


def test_the_dirty_marker_remains_until_chroma_is_checked(
    memory_with_lore: Memory, reopen: Callable[[], Memory]
) -> None:
    memory_with_lore.database.set_meta("chroma_dirty", "1")
    memory_with_lore.close()
    memory = reopen()
    memory.close()
    assert reopen().database.meta("chroma_dirty")

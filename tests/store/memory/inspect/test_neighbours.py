"""Surrounding chunks in their order, and the nearest entries."""

from store.memory.inspect.neighbours import around, nearest
from store.memory.memory import Memory
from tests.store.memory.inspect.city import add_world_and_session


def test_surrounding_chunks_are_in_their_original_order(memory: Memory) -> None:
    add_world_and_session(memory)
    before, after = around(memory, "city_base_lore_10", kind="world_lore", reach=2)
    assert [row["lore_id"] for row in before] == ["base_lore_8", "base_lore_9"]
    assert [row["lore_id"] for row in after] == ["base_lore_11"]


def test_the_nearest_entries_exclude_the_entry_itself(memory: Memory) -> None:
    one = memory.memories.store_memory("frogs like rain")["memory_id"]
    two = memory.memories.store_memory("frogs like mud")["memory_id"]
    memory.memories.store_memory("ledgers balance")
    found = nearest(memory, one, n=1)
    assert [(row["id"], round(score, 2)) for row, score in found] == [(two, 0.67)]

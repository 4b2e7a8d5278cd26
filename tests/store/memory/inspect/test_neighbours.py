"""Surrounding chunks in their order, and the nearest entries."""

from store.memory.inspect.neighbours import around, nearest_to
from store.memory.memory import Memory
from store.memory.story.sessions import exchange
from store.memory.story.worlds import World


def add_world_and_session(memory: Memory) -> None:
    """Add a world with twelve chunks and a session with five exchanges."""
    lore = "\n".join(f"Gate {number} stands. {'stone ' * 120}" for number in range(12))
    memory.lore.put_world(World("city", "The City", "Welcome.", lore, file="city.yaml"))
    for number in range(5):
        memory.sessions.add_memory(
            "mira_one", str(number), exchange(f"question {number}", f"answer {number}")
        )


def test_surrounding_chunks_are_in_their_original_order(memory: Memory) -> None:
    add_world_and_session(memory)
    before, after = around(memory.passages["world_lore"], "city_base_lore_10", reach=2)
    assert [row["lore_id"] for row in before] == ["base_lore_8", "base_lore_9"]
    assert [row["lore_id"] for row in after] == ["base_lore_11"]


def test_the_nearest_entries_exclude_the_entry_itself(memory: Memory) -> None:
    one = memory.memories.store_memory("frogs like rain")["memory_id"]
    two = memory.memories.store_memory("frogs like mud")["memory_id"]
    memory.memories.store_memory("ledgers balance")
    found = nearest_to(memory.passages["memories"], one, n=1)
    assert [(row["id"], round(score, 2)) for row, score in found] == [(two, 0.67)]

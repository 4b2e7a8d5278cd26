"""A world and a session to inspect."""

from store.memory.memory import Memory
from store.memory.story.lore import World
from store.memory.story.sessions import exchange


def add_world_and_session(memory: Memory) -> None:
    """Add a world with twelve chunks and a session with five exchanges."""
    lore = "\n".join(f"Gate {number} stands. {'stone ' * 120}" for number in range(12))
    memory.lore.put_world(World("city", "The City", "Welcome.", lore, file="city.yaml"))
    for number in range(5):
        memory.session_memory.add_memory(
            "mira_one", str(number), exchange(f"question {number}", f"answer {number}")
        )

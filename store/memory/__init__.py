"""The text memory around the coins: what agents remember, world lore, session memory, papers, transcripts.

    from store.memory import Memory

    memory = Memory.open(Path("res"))
    memory.memories.store_memory("The team prefers short tickers", tags=["naming"])
    memory.lore.query_lore("crimson_peaks", "Who forged the mountains?")

Everything is searched exactly, in memory; see docs/memory.md for where the truth of each kind is.
"""

from store.memory.documents import Citation, Documents, Source
from store.memory.errors import InvalidInput, UnknownEntry
from store.memory.lore import Lore, WorldReport
from store.memory.memories import Memories
from store.memory.memory import Memory, Status
from store.memory.passages import Passages
from store.memory.places import Places
from store.memory.sessions import Sessions, exchange, memory_key
from store.memory.worlds import World

__all__ = [
    "Citation",
    "Documents",
    "InvalidInput",
    "Lore",
    "Memories",
    "Memory",
    "Passages",
    "Places",
    "Sessions",
    "Source",
    "Status",
    "UnknownEntry",
    "World",
    "WorldReport",
    "exchange",
    "memory_key",
]

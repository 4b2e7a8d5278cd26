"""The text memory around the coins: what agents remember, world lore, session memory, papers, transcripts.

    from store.memory import Memory

    memory = Memory.open(Path("res"))
    memory.memories.store_memory("The team prefers short tickers", tags=["naming"])
    memory.lore.query_lore("crimson_peaks", "Who forged the mountains?")

Everything is searched exactly, in memory; see docs/memory.md for where the truth of each kind is.
"""

from store.memory.asking import Asked, Candidate, ask
from store.memory.context import Context
from store.memory.documents import Citation, Documents, Source
from store.memory.errors import InvalidInput, UnknownEntry
from store.memory.events import EventFilter
from store.memory.extraction import CONTENT_TYPES, ContentType, extract_all_embeddable_content
from store.memory.lore import Lore, WorldReport
from store.memory.memories import Memories
from store.memory.memory import Memory, Status
from store.memory.passages import Passages
from store.memory.places import Places
from store.memory.sessions import Sessions, exchange, memory_key
from store.memory.transcript_intake import TranscriptReport
from store.memory.transcript_search import Hit
from store.memory.transcripts import Transcripts
from store.memory.worlds import World

__all__ = [
    "CONTENT_TYPES",
    "Asked",
    "Candidate",
    "Citation",
    "ContentType",
    "Context",
    "Documents",
    "EventFilter",
    "Hit",
    "InvalidInput",
    "Lore",
    "Memories",
    "Memory",
    "Passages",
    "Places",
    "Sessions",
    "Source",
    "Status",
    "TranscriptReport",
    "Transcripts",
    "UnknownEntry",
    "World",
    "WorldReport",
    "ask",
    "exchange",
    "extract_all_embeddable_content",
    "memory_key",
]

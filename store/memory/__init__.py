"""The text memory around the coins: agents' memories, world lore, session memory, papers, transcripts.

    from store.memory import Memory

    memory = Memory.open(Path("res"))
    memory.memories.store_memory("The team prefers short tickers", tags=["naming"])
    memory.lore.query_lore("crimson_peaks", "Who forged the mountains?")

Every search is exact, in memory; docs/memory.md says where the source of truth of each kind is.
"""

from store.memory.documents.documents import Citation, Documents, DocumentSource
from store.memory.engine.errors import InvalidInput, UnknownEntry
from store.memory.engine.passages import Passages
from store.memory.engine.places import Places
from store.memory.memories import Memories
from store.memory.memory import Memory
from store.memory.status import MemoryStatus
from store.memory.story.context import StoryContext
from store.memory.story.lore import Lore, WorldReport
from store.memory.story.sessions import Sessions, exchange, memory_key
from store.memory.story.worlds import World
from store.memory.text.extraction import CONTENT_TYPES, ContentType, extract_all_embeddable_content
from store.memory.transcripts.events import EventFilter
from store.memory.transcripts.intake import TranscriptReport
from store.memory.transcripts.search import MessageHit
from store.memory.transcripts.transcripts import Transcripts

__all__ = [
    "CONTENT_TYPES",
    "Citation",
    "ContentType",
    "DocumentSource",
    "Documents",
    "EventFilter",
    "InvalidInput",
    "Lore",
    "Memories",
    "Memory",
    "MemoryStatus",
    "MessageHit",
    "Passages",
    "Places",
    "Sessions",
    "StoryContext",
    "TranscriptReport",
    "Transcripts",
    "UnknownEntry",
    "World",
    "WorldReport",
    "exchange",
    "extract_all_embeddable_content",
    "memory_key",
]

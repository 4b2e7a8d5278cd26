"""The plain values that `Memory` takes and returns, and what is computed from them alone.

With `memory.py` the door of the text memory: page, command line and agents import nothing else of it.
"""

from store.embedding.protocol import OFFLINE_TEXT
from store.memory.context import (
    BUDGETS,
    DEFAULT,
    KIND_OF,
    LORE_RESULTS,
    MEMORY_RESULTS,
    PLACEHOLDERS,
    Answer,
    AssembledContext,
    GivenEntry,
    Omission,
    Section,
    configured_model,
)
from store.memory.doctor import MemoryFinding, salvage_damaged
from store.memory.documents.chunking import LONGEST as CHUNK_LENGTH
from store.memory.documents.chunking import OVERLAP as CHUNK_OVERLAP
from store.memory.documents.documents import RESULTS as PASSAGES
from store.memory.documents.documents import ImportedDocument, pages_of
from store.memory.documents.parser import marked_page
from store.memory.engine.fusion import EntryHit
from store.memory.engine.inputs import (
    LONGEST,
    LONGEST_QUESTION,
    MOST_CHARS,
    InvalidInput,
    UnknownEntry,
    changed_meanwhile,
    checked_count,
    checked_moment,
    nearest,
    offered,
)
from store.memory.engine.kind import LOCAL, Row, Where
from store.memory.engine.retrievals import KeptContext
from store.memory.inspect.health import READ_AGAIN, Concern, Junk, JunkEntry, MemoryFigures
from store.memory.inspect.neighbours import NEARLY, CoinMention, DuplicatePair, Mention, coins_in, coins_near
from store.memory.inspect.probe import ASKED_NIGHTLY, ProbeCandidate, ProbeMessage
from store.memory.kinds import DOCUMENTS, LORE, MEMORIES, SESSIONS, TRANSCRIPTS
from store.memory.kinds import NAMES as KINDS
from store.memory.memories import LONGEST_TAG, MOST_TAGS, RELEVANT, FoundMemories, FoundMemory, Stored
from store.memory.memory import SearchFilters, has_memory
from store.memory.story.lore import LARGEST, parse_world
from store.memory.story.lore import MAX_CHARS as LORE_CHARS
from store.memory.story.sessions import MAX_CHARS as MEMORY_CHARS
from store.memory.story.sessions import N_RESULTS, exchange, memory_key
from store.memory.text.conflicts import Conflict, compared
from store.memory.text.extraction import ContentType
from store.memory.transcripts.events import EventColumn, EventFilter
from store.memory.transcripts.search import BY_WORDS, MessageHit, Mode
from store.memory.transcripts.search import RESULTS as MESSAGES
from store.memory.transcripts.transcripts import ReadMessage
from store.memory.trust.replay import EntryDifference, ReplayedEntry, WhatIf
from store.memory.trust.review import MergePreview, Recall, ReviewItem

__all__ = [
    "ASKED_NIGHTLY",
    "BUDGETS", "BY_WORDS", "CHUNK_LENGTH", "CHUNK_OVERLAP", "DEFAULT", "DOCUMENTS", "KINDS", "KIND_OF",
    "LARGEST", "LOCAL", "LONGEST", "LONGEST_QUESTION", "LONGEST_TAG", "LORE", "LORE_CHARS", "LORE_RESULTS",
    "MEMORIES", "MEMORY_CHARS", "MEMORY_RESULTS", "MESSAGES", "MOST_CHARS", "MOST_TAGS", "NEARLY",
    "N_RESULTS", "OFFLINE_TEXT", "PASSAGES", "PLACEHOLDERS", "READ_AGAIN", "RELEVANT", "SESSIONS",
    "TRANSCRIPTS", "Answer",
    "AssembledContext", "CoinMention", "Concern", "Conflict", "ContentType", "DuplicatePair",
    "EntryDifference", "EntryHit", "EventColumn", "EventFilter", "FoundMemories", "FoundMemory", "GivenEntry",
    "ImportedDocument", "InvalidInput", "Junk", "JunkEntry", "KeptContext", "MemoryFigures", "MemoryFinding",
    "Mention", "MergePreview", "MessageHit", "Mode", "Omission", "ProbeCandidate",
    "ProbeMessage", "ReadMessage", "Recall", "ReplayedEntry", "ReviewItem", "Row", "SearchFilters",
    "Section", "Stored", "UnknownEntry", "WhatIf", "Where", "changed_meanwhile", "checked_count",
    "checked_moment", "coins_in", "coins_near", "compared", "configured_model", "exchange", "has_memory",
    "marked_page", "memory_key", "nearest", "offered", "pages_of", "parse_world",
    "salvage_damaged",
]  # fmt: skip

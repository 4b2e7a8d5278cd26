"""The kinds of text memory, each with its file and its collection."""

from store.memory import memories
from store.memory.documents import documents
from store.memory.story import lore, sessions
from store.memory.transcripts import tables

KINDS = (memories.KIND, documents.KIND, lore.KIND, sessions.KIND, tables.KIND)

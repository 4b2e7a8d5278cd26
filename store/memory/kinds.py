"""The kinds of text memory, each with its file and its collection."""

from store.memory import documents, lore, memories, sessions, transcript_tables

KINDS = (memories.KIND, documents.KIND, lore.KIND, sessions.KIND, transcript_tables.KIND)

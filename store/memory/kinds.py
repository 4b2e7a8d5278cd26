"""The kinds of text memory, each with its file and its collection."""

from store.memory import documents, lore, memories, sessions

KINDS = (memories.KIND, documents.KIND, lore.KIND, sessions.KIND)

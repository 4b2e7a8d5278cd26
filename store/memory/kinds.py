"""The kinds of text memory, each with its file and its collection."""

from store.memory import lore, memories, sessions

KINDS = (memories.KIND, lore.KIND, sessions.KIND)

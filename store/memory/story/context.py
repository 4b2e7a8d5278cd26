"""The lore and memory that a language model gets for one turn of a story (reference 4), and its log."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from store.memory.story.lore import MAX_CHARS as LORE_CHARS
from store.memory.story.lore import Lore
from store.memory.story.sessions import MAX_CHARS as MEMORY_CHARS
from store.memory.story.sessions import Sessions, memory_key

log = logging.getLogger(__name__)

LORE_RESULTS = 2  # in production; the methods' own default is 3
MEMORY_RESULTS = 3
HEADING = "--- RECENT MEMORY ---"
TOTAL_CHARS = LORE_CHARS + MEMORY_CHARS  # 2,500


@dataclass(frozen=True, slots=True)
class StoryContext:
    """What was retrieved, and the memory block as the model sees it."""

    lore: list[str]
    memory: list[str]
    lore_warning: bool  # longer than 1,000 characters together
    memory_warning: bool  # longer than 1,500

    @property
    def block(self) -> str:
        """The block of recent memory; "" if there is none."""
        return f"{HEADING}\n" + "\n".join(self.memory) if self.memory else ""

    @property
    def characters(self) -> int:
        """Characters of lore and memory together, to compare with 2,500."""
        return sum(map(len, [*self.lore, *self.memory]))


def retrieve(
    lore: Lore, sessions: Sessions, prompt: str, *, world: str, character: str, session: str | None = None
) -> StoryContext:
    """Two chunks of lore and three memories for this prompt, logged."""
    found, lore_warning = lore.query_lore(world, prompt, n_results=LORE_RESULTS)
    key = memory_key(character, session)
    remembered, memory_warning = sessions.query_memory(key, prompt, n_results=MEMORY_RESULTS)
    log_retrieved("LORE", found)
    log_retrieved("MEMORY", remembered)
    return StoryContext(found, remembered, lore_warning, memory_warning)


def log_retrieved(what: str, chunks: Sequence[str]) -> None:
    """Log the lines of reference 4 for what was found; nothing if there is none."""
    if chunks:
        log.info("\n=== RETRIEVED %s (%d chunks) ===", what, len(chunks))
        for number, chunk in enumerate(chunks, start=1):
            log.info("[%s %d]\n%s\n", what, number, chunk)
        log.info("=== END %s ===\n", what)

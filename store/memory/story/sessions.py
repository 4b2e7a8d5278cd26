"""Session memory: exchanges, found by meaning, and deleted for good."""

import logging
from collections.abc import Sequence

from store.memory.engine.errors import UnknownEntry
from store.memory.engine.inputs import LONGEST, checked_text
from store.memory.engine.kind import MemoryKind
from store.memory.story.scoped import N_RESULTS, Scoped

log = logging.getLogger(__name__)

MAX_CHARS = 1500

KIND = MemoryKind(
    name="session_memory",
    file="session_memory",
    tables=("session_memory",),
    text="text",
    scope="session_id",
    filters=("session_id",),
    order="session_id, number",
    written="at",
    siblings=("session_id",),
)


def memory_key(character: str, session: str | None = None) -> str:
    """The key under which a character remembers a session; without a session, the character alone."""
    return f"{character}_{session}" if session else character


def exchange(prompt: str, answer: str) -> str:
    """A prompt and its answer as one text to remember."""
    return f"User: {prompt}\nAI: {answer}"


class Sessions(Scoped):
    """`add_memory`, `query_memory` and `delete_session_memory`."""

    what = "session"

    def add_memory(
        self, session_id: str, memory_id: str, text: str, *, actor: str = "", decision: str | None = None
    ) -> None:
        """Store a text under this key, replacing the one with the same `memory_id`. Raises InvalidInput."""
        key = checked_text(session_id, what="the session")
        row = {
            "id": f"{key}_{checked_text(memory_id, what='the memory id')}",
            "session_id": session_id,
            "memory_id": memory_id,
            "text": checked_text(text, what="the memory", most=LONGEST),
            "at": self.entries.clock(),
        }
        self._keep(row, verb="add memory", actor=actor, decision=decision)

    def query_memory(
        self, session_id: str, query: str, n_results: int = N_RESULTS, max_chars: int = MAX_CHARS
    ) -> tuple[list[str], bool]:
        """This key's memories nearest to the question, and whether they exceed `max_chars` together.

        Nothing is cut or left out for that. Returns ([], False) on failure, with the reason in the log.
        """
        return self._texts(session_id, query, n=n_results, max_chars=max_chars, what="memory")

    def keys_of(self, session: str) -> list[str]:
        """Every character's key of this session, and the session's own if it was used as a key.

        Keys whose entries were removed, or wait for a person, count as well.
        """
        known = self.entries.scopes_ever()
        return [key for key in known if key == session or key.endswith(f"_{session}")]

    def delete_session_memory(self, session_id: str, *, actor: str = "", decision: str | None = None) -> int:
        """Delete this key's memories for good, from every file; returns how many there were.

        Cannot be undone. A failure is logged and raised, so that no caller believes that data is gone that
        is not; the next opening completes it. Raises UnknownEntry, with the nearest keys, if nothing is
        remembered under this one.
        """
        return self._deleted([session_id], actor=actor, decision=decision)[session_id]

    def _deleted(self, keys: Sequence[str], *, actor: str, decision: str | None) -> dict[str, int]:
        self.entries.database.check_writable()
        counts = dict[str, int]()
        try:
            for key in keys:
                counts[key] = self.entries.erase("session_id", key, actor=actor, decision=decision)
            self.entries.finish_erasing()
        except UnknownEntry:
            self.check_known(key)
            raise
        except Exception as error:
            log.error("Failed to delete vector memory: %s", error)
            raise
        return counts

    def delete_session(self, session: str, *, actor: str = "", decision: str | None = None) -> dict[str, int]:
        """Delete what every character remembers of a session for good; returns how much, by key.

        A key with a character counts as itself, also if all its entries were removed or wait. A session that
        was used as a key itself is deleted with the keys of its characters. Cannot be undone. Raises
        UnknownEntry as `delete_session_memory` does.
        """
        is_key = "_" in session and session in self.entries.scopes_ever()
        keys = [session] if is_key else self.keys_of(session) or [session]
        return self._deleted(keys, actor=actor, decision=decision)

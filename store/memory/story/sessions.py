"""Session memory: exchanges, found by meaning, and deleted for good."""

import logging
from collections.abc import Sequence

from store.memory.engine.entries import Entries
from store.memory.engine.erasing import erase
from store.memory.engine.fusion import EntryHit, for_context, log_retrieval
from store.memory.engine.inputs import (
    LONGEST,
    LONGEST_QUESTION,
    MOST_CHARS,
    UnknownEntry,
    check_known,
    checked_count,
    checked_text,
)
from store.memory.engine.kind import MemoryKind

log = logging.getLogger(__name__)

N_RESULTS = 3


class Scoped:
    """The entries of one kind, each under a key of the kind's scope."""

    def __init__(self, entries: Entries) -> None:
        self.entries = entries

    def check_known(self, key: str) -> None:
        """Raises UnknownEntry, with the nearest names, if there is no such key."""
        check_known(key, self.entries.scopes(), what=self.entries.kind.scope.removesuffix("_id"))

    def search(self, key: str, query: str, *, n: int = N_RESULTS) -> list[EntryHit]:
        """This key's pinned entries, and the n others that fit the question best. Raises InvalidInput."""
        query = checked_text(query, what="the question", most=LONGEST_QUESTION)
        where = {self.entries.kind.scope: key}
        found = for_context(self.entries, query, n=checked_count(n, what="n_results"), where=where)
        if found:  # a key that nothing is kept under is not kept either
            self.entries.count_question(key)
            log_retrieval(self.entries, query, found, scope=key, n=n, where=where)
        return found

    def _texts(self, key: str, query: str, *, n: int, max_chars: int, what: str) -> tuple[list[str], bool]:
        """The texts that `search` finds, and whether they exceed `max_chars`; ([], False) if it fails."""
        self.entries.actor.check_login()
        try:
            checked_count(max_chars, what="max_chars", most=MOST_CHARS)
            found = self.search(key, query, n=n)
        except Exception as error:  # noqa: BLE001  a story goes on without it
            log.error("Error querying %s: %s", what, error)
            return [], False
        texts = [hit.row["text"] for hit in found]
        return texts, sum(map(len, texts)) > max_chars


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
        self.entries.upsert([row], verb="add memory", actor=actor, decision=decision)

    def query_memory(
        self, session_id: str, query: str, n_results: int = N_RESULTS, max_chars: int = MAX_CHARS
    ) -> tuple[list[str], bool]:
        """This key's nearest memories, whole, and whether they exceed `max_chars`; ([], False) on failure."""
        return self._texts(session_id, query, n=n_results, max_chars=max_chars, what="memory")

    def keys_of(self, session: str) -> list[str]:
        """Every character's key of this session, and its own, also where nothing is left or it waits."""
        known = _scopes_ever(self.entries)
        return [key for key in known if key == session or key.endswith(f"_{session}")]

    def delete_session_memory(self, session_id: str, *, actor: str = "", decision: str | None = None) -> int:
        """Delete this key's memories for good, from every file; how many. Raises UnknownEntry."""
        return self._deleted([session_id], actor=actor, decision=decision)[session_id]

    def _deleted(self, keys: Sequence[str], *, actor: str, decision: str | None) -> dict[str, int]:
        self.entries.database.check_writable()
        counts = dict[str, int]()
        try:
            for key in keys:
                counts[key] = erase(self.entries, "session_id", key, actor=actor, decision=decision)
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
        is_key = "_" in session and session in _scopes_ever(self.entries)
        keys = [session] if is_key else self.keys_of(session) or [session]
        return self._deleted(keys, actor=actor, decision=decision)


def _scopes_ever(entries: Entries) -> list[str]:
    """Every key that an entry, or a change that waits, has or had."""
    kind, inside = entries.kind, f"$.{entries.kind.scope}"
    found = entries.database.rows(
        f"SELECT {kind.scope} AS name FROM {kind.table} UNION "
        "SELECT json_extract(before, ?) FROM history WHERE tbl = ? UNION "
        "SELECT json_extract(row, ?) FROM pending WHERE kind = ? UNION "
        "SELECT json_extract(json_extract(before, '$.row'), ?) FROM history "
        "WHERE tbl = 'pending' AND kind = ? ORDER BY 1",
        [inside, kind.table, inside, kind.name, inside, kind.name],
    )
    return [str(row[0]) for row in found if row[0] is not None]

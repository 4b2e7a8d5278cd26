"""Entries that belong to a world or a session, and are searched only there."""

import logging
from collections.abc import Mapping
from typing import Any

from store.memory.engine.entries import Entries
from store.memory.engine.errors import InvalidInput
from store.memory.engine.fusion import EntryHit
from store.memory.engine.inputs import LONGEST_QUESTION, MOST_CHARS, checked_count, checked_text
from store.memory.engine.kind import Row
from store.memory.engine.names import check_known

log = logging.getLogger(__name__)

N_RESULTS = 3


class Scoped:
    """The entries of one kind, each under a key of the kind's scope."""

    what = "key"  # what a key is called

    def __init__(self, entries: Entries) -> None:
        self.entries = entries

    def names(self) -> list[str]:
        """Every key that something is stored under, and every world that came from a file."""
        return self.entries.scopes()

    def check_known(self, key: str) -> None:
        """Raises UnknownEntry, with the nearest names, if there is no such key."""
        check_known(key, self.names(), what=self.what)

    def search(self, key: str, query: str, *, n: int = N_RESULTS) -> list[EntryHit]:
        """This key's pinned entries, and the n others that fit the question best. Raises InvalidInput."""
        query = checked_text(query, what="the question", most=LONGEST_QUESTION)
        found = self.entries.for_context(
            query, n=checked_count(n, what="n_results"), where={self.entries.kind.scope: key}
        )
        if found:  # a key that nothing is kept under is not kept either
            self.entries.count_question(key)
            self.entries.log_retrieval(query, found, scope=key, n=n, where={self.entries.kind.scope: key})
        return found

    def _keep(self, row: Row, *, verb: str, actor: str, decision: str | None) -> None:
        """Write this entry, replacing the one with the same id; the same decision is not made twice."""
        if self.entries.decided(decision) is not None:
            return
        kind = self.entries.kind
        new = self.entries.embed([row[kind.text]])
        with self.entries.change(verb, actor=actor, decision=decision) as change:
            check_owner(change.row(kind.table, row["id"]), row, kind.scope)
            change.store(new)
            change.upsert(row)

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


def check_owner(before: Mapping[str, Any] | None, row: Mapping[str, Any], scope: str) -> None:
    """Ids are joined from two parts: ("a_b", "c") and ("a", "b_c") must not overwrite each other.

    Raises InvalidInput if the id belongs to another world, session or protocol.
    """
    if before is not None and before[scope] != row[scope]:
        raise InvalidInput(
            f"{row['id']} is already an entry of {before[scope]}; choose an id that does not begin like it"
        )

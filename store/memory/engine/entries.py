"""The entries of one kind: rows, counts and history."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.errors import NotPermitted
from store.memory.engine import listing
from store.memory.engine.database import Database
from store.memory.engine.errors import InvalidInput, UnknownEntry
from store.memory.engine.kind import MemoryKind
from store.memory.engine.listing import MemoryDecision, MemoryEvent
from store.memory.engine.names import check_known, offered
from store.memory.engine.resident import Where
from store.memory.engine.vectors import with_any_vector
from store.memory.engine.versions import EntryVersion, versions
from store.permissions import Actor

Row = dict[str, Any]
_COMPARED = 2_000  # ids that are compared with one that does not exist


class Entries:
    """Queries over the entries of one kind that need no model."""

    def __init__(self, kind: MemoryKind, database: Database) -> None:
        self.kind = kind
        self.database = database

    @property
    def actor(self) -> Actor:
        """The person who reads and changes them here."""
        return self.database.actor

    @property
    def can_write(self) -> bool:
        """Whether this kind is open for writing, and this actor may change it."""
        return self.database.can_write

    @property
    def fault(self) -> str:
        """Why this kind's file cannot be used, with the remedy; "" if it can. It then reads as empty."""
        return self.database.fault

    def get(self, id: str) -> Row:
        """One entry, all columns but its vector. Raises UnknownEntry, with the nearest ids."""
        found = self.rows([id])
        if not found:
            raise self.unknown(id)
        return found[0]

    def unknown(self, id: str) -> UnknownEntry:
        """The error for an id that no entry has, with the nearest ids."""
        known = [row["id"] for row in self.find(limit=_COMPARED)]
        return UnknownEntry(f"there is no entry {id!r} in {self.kind.name}{offered(id, known)}")

    def rows(self, ids: Sequence[str]) -> list[Row]:
        """The entries with these ids, in this order; missing ones are left out."""
        with self.database.reading() as db:
            return listing.rows(db, self.kind, ids)

    def find(
        self,
        *,
        words: str = "",
        where: Where | None = None,
        before: float | None = None,
        order: str = "",
        offset: int = 0,
        limit: int | None = 100,
    ) -> list[Row]:
        """A page of the entries that contain all the words and pass the filters.

        `before`: only entries neither written nor edited since then (UNIX seconds).
        """
        with self.database.reading() as db:
            return listing.find(
                db, self.kind, words=words, where=where or {}, before=before,
                order=order, offset=offset, limit=limit,
            )  # fmt: skip

    def count(self, *, words: str = "", where: Where | None = None, before: float | None = None) -> int:
        """How many entries match, at a moment in the past if `before` (UNIX seconds) is given."""
        with self.database.reading() as db:
            return listing.count(db, self.kind, words=words, where=where or {}, before=before)

    def written(self, ids: Sequence[str]) -> dict[str, float]:
        """When each entry was written or last edited (UNIX seconds)."""
        with self.database.reading() as db:
            return listing.written(db, self.kind, ids)

    def counts(self, column: str = "") -> dict[str, int]:
        """How many entries each world, session or protocol has, or each value of another filter column.

        Raises InvalidInput if the entries are not filtered by this column.
        """
        column = column or self.kind.scope
        if column not in (*self.kind.filters, *self.kind.more_filters, self.kind.scope):
            raise InvalidInput(f"{self.kind.name} is not filtered by {column}")
        with self.database.reading() as db:
            return listing.counts(db, self.kind, column)

    def scopes(self) -> list[str]:
        """Every world, session or protocol, also an empty world; none for kinds without them."""
        with self.database.reading() as db:
            named = [row[0] for row in db.execute(self.kind.scopes)] if self.kind.scopes else []
            used = listing.counts(db, self.kind, self.kind.scope) if self.kind.scope else {}
        return sorted({*named, *used})

    def within(self, scope: str) -> dict[str, str]:
        """The filter for one world, session or protocol, none for "". Raises UnknownEntry."""
        if not scope:
            return {}
        if not (column := self.kind.scope):
            raise InvalidInput(f"{self.kind.name} belong to no world, session or protocol")
        check_known(scope, self.scopes(), what=column.removesuffix("_id"))
        return {column: scope}

    def scopes_ever(self) -> list[str]:
        """Every world, session or protocol that an entry, or a change that waits, has or had."""
        with self.database.reading() as db:
            return listing.scopes_ever(db, self.kind) if self.kind.scope else []

    def vector(self, id: str) -> NDArray[np.float32] | None:
        """The entry's vector, by the model that it names; None if it has none yet."""
        with self.database.reading() as db:
            row = db.execute(f"SELECT vector FROM {with_any_vector(self.kind)} WHERE id = ?", [id]).fetchone()
        return np.frombuffer(row[0], np.float32) if row and row[0] is not None else None

    def history(self, *, id: str | None = None, limit: int = 100) -> list[MemoryEvent]:
        """Events of entries, newest first."""
        with self.database.reading() as db:
            return listing.history(db, self.kind, id=id, limit=limit)

    def versions(self, id: str) -> list[EntryVersion]:
        """Every version of this entry, newest first. Raises UnknownEntry if there never was one."""
        with self.database.reading() as db:
            found = versions(db, self.kind, id)
        if not found:
            raise self.unknown(id)
        return found

    def decisions(self, *, limit: int = 20) -> list[MemoryDecision]:
        """Decisions about this kind, newest first."""
        of_kind = "EXISTS (SELECT 1 FROM history h WHERE h.decision = d.number AND h.kind = ?)"
        with self.database.reading() as db:
            return listing.decisions(db, of_kind, [self.kind.name], limit=limit)

    def decided(self, decision: str | None) -> list[str] | None:
        """The entries that this decision changed, in their order; None if it was not made yet.

        Raises NotPermitted if another person made it.
        """
        if decision is None:
            return None
        with self.database.reading() as db:
            row = db.execute("SELECT number, who FROM decisions WHERE id = ?", [decision]).fetchone()
            if row is None:
                return None
            if row["who"] != self.actor.name:
                raise NotPermitted("another user made a decision with this id")
            query = "SELECT id FROM history WHERE decision = ? AND kind = ? ORDER BY number"
            found = db.execute(query, [row["number"], self.kind.name]).fetchall()
        return [*dict.fromkeys(one["id"] for one in found)]

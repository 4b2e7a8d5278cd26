"""Agents' changes that wait for a person: accept them, or reject them."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from store.memory.engine.change import PENDING
from store.memory.engine.entries import Entries
from store.memory.engine.kind import MemoryKind

ACCEPT, REJECT = "accept", "reject"


@dataclass(frozen=True, slots=True)
class PendingEntry:
    """One change that waits. Search and contexts do not find it."""

    id: str
    kind: str
    target: str  # the entry's id
    row: dict[str, Any] | None  # the entry as it would be, without its vector; None: it would be removed
    verb: str
    actor: str  # in whose place
    agent: str
    via: str
    created_at: float  # UNIX seconds


def waiting(entries: Entries) -> list[PendingEntry]:
    """The pending changes of this kind, oldest first."""
    with entries.database.reading() as db:
        found = db.execute(
            "SELECT * FROM pending WHERE kind = ? ORDER BY at, rowid", [entries.kind.name]
        ).fetchall()
    return [_entry(entries.kind, row) for row in found]


def count(entries: Entries) -> int:
    """The number of pending changes of this kind."""
    with entries.database.reading() as db:
        query = "SELECT count(*) FROM pending WHERE kind = ?"
        return int(db.execute(query, [entries.kind.name]).fetchone()[0])


def accept(
    entries: Entries, ids: Sequence[str], *, actor: str = "", decision: str | None = None
) -> list[str]:
    """Carry out what waits under these ids, as written by its agent, in one transaction; returns which did.

    One undoable decision, or a part of that with this id. Raises ModelUnavailable if it
    cannot be embedded.
    """
    entries.refuse_agents(ACCEPT)
    chosen = [one for one in waiting(entries) if one.id in set(ids)]
    texts = [str(one.row[entries.kind.text]) for one in chosen if one.row]
    new, accepted = entries.embed(texts), []
    with entries.change(ACCEPT, actor=actor, decision=decision) as change:
        agent, via = change.agent, change.via
        change.store(new)
        for one in chosen:
            if change.row(PENDING, one.id) is None:  # decided meanwhile
                continue
            change.remove(one.id, table=PENDING)
            change.agent, change.via = one.agent, one.via
            if one.row is None:
                change.remove(one.target)
            else:
                change.upsert(one.row)
            change.agent, change.via = agent, via
            accepted.append(one.id)
    return accepted


def reject(
    entries: Entries, ids: Sequence[str], *, actor: str = "", decision: str | None = None
) -> list[str]:
    """Discard what waits under these ids, as `accept` carries it out; returns which did."""
    entries.refuse_agents(REJECT)
    with entries.change(REJECT, actor=actor, decision=decision) as change:
        found = [id for id in dict.fromkeys(ids) if change.row(PENDING, id) is not None]
        for id in found:
            change.remove(id, table=PENDING)
    return found


def _entry(kind: MemoryKind, row: sqlite3.Row) -> PendingEntry:
    return PendingEntry(
        row["id"], kind.name, row["target"], json.loads(row["row"]) if row["row"] else None,
        row["verb"], row["who"], row["agent"], row["via"], row["at"],
    )  # fmt: skip

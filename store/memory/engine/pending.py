"""Agents' changes that wait for a person: accept them, or reject them."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from store.memory.engine.change import PENDING
from store.memory.engine.kind import MemoryKind
from store.memory.engine.passages import Passages

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


def waiting(passages: Passages) -> list[PendingEntry]:
    """The pending changes of this kind, oldest first."""
    with passages.database.reading() as db:
        found = db.execute(
            "SELECT * FROM pending WHERE kind = ? ORDER BY at, rowid", [passages.kind.name]
        ).fetchall()
    return [_entry(passages.kind, row) for row in found]


def count(passages: Passages) -> int:
    """The number of pending changes of this kind."""
    with passages.database.reading() as db:
        query = "SELECT count(*) FROM pending WHERE kind = ?"
        return int(db.execute(query, [passages.kind.name]).fetchone()[0])


def accept(
    passages: Passages, ids: Sequence[str], *, actor: str = "", decision: str | None = None
) -> list[str]:
    """Carry out what waits under these ids, as written by its agent, in one transaction; returns which did.

    One undoable decision, or a part of that with this id. Raises ModelUnavailable if it
    cannot be embedded.
    """
    passages.refuse_agents(ACCEPT)
    chosen = [one for one in waiting(passages) if one.id in set(ids)]
    texts = [str(one.row[passages.kind.text]) for one in chosen if one.row]
    new, accepted = passages.embed(texts), []
    with passages.change(ACCEPT, actor=actor, decision=decision) as change:
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
    passages: Passages, ids: Sequence[str], *, actor: str = "", decision: str | None = None
) -> list[str]:
    """Discard what waits under these ids, as `accept` carries it out; returns which did."""
    passages.refuse_agents(REJECT)
    with passages.change(REJECT, actor=actor, decision=decision) as change:
        found = [id for id in dict.fromkeys(ids) if change.row(PENDING, id) is not None]
        for id in found:
            change.remove(id, table=PENDING)
    return found


def _entry(kind: MemoryKind, row: sqlite3.Row) -> PendingEntry:
    return PendingEntry(
        row["id"], kind.name, row["target"], json.loads(row["row"]) if row["row"] else None,
        row["verb"], row["who"], row["agent"], row["via"], row["at"],
    )  # fmt: skip

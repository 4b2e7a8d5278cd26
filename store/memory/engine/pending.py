"""What agents wrote and a person has not decided about yet: accept it, or reject it."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from store.memory.engine.change import PENDING
from store.memory.engine.errors import UnknownEntry
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
    """What waits in this kind, oldest first."""
    with passages.database.reading() as db:
        found = db.execute("SELECT * FROM pending ORDER BY at, rowid").fetchall()
    return [_entry(passages.kind, row) for row in found]


def count(passages: Passages) -> int:
    """How many changes wait in this kind."""
    with passages.database.reading() as db:
        return int(db.execute("SELECT count(*) FROM pending").fetchone()[0])


def accept(passages: Passages, id: str, *, actor: str = "") -> str:
    """Carry out what waits under this id, as written by its agent; returns the entry's id.

    One decision, which undo takes back. Raises UnknownEntry if it does not wait (any more), and
    ModelUnavailable if it cannot be embedded.
    """
    passages.refuse_agents(ACCEPT)
    chosen = next((one for one in waiting(passages) if one.id == id), None)
    text = str(chosen.row[passages.kind.text]) if chosen and chosen.row else ""
    vectors, model = passages.embed([text]) if text else ([None], None)
    with passages.change(ACCEPT, actor=actor) as change:
        if chosen is None or change.row(PENDING, id) is None:
            raise UnknownEntry(f"{id} does not wait for a decision (any more)")
        agent, via = change.agent, change.via
        change.remove(id, table=PENDING)
        change.agent, change.via = chosen.agent, chosen.via
        if chosen.row is None:
            change.remove(chosen.target)
        else:
            change.upsert({**chosen.row, "vector": vectors[0], "embedding_model": model})
        change.agent, change.via = agent, via
    return chosen.target


def reject(passages: Passages, ids: Sequence[str], *, actor: str = "") -> int:
    """Discard what waits under these ids, as one decision that undo takes back; returns how many."""
    passages.refuse_agents(REJECT)
    with passages.change(REJECT, actor=actor) as change:
        found = [id for id in ids if change.row(PENDING, id) is not None]
        for id in found:
            change.remove(id, table=PENDING)
    return len(found)


def _entry(kind: MemoryKind, row: sqlite3.Row) -> PendingEntry:
    return PendingEntry(
        row["id"], kind.name, row["target"], json.loads(row["row"]) if row["row"] else None,
        row["verb"], row["who"], row["agent"], row["via"], row["at"],
    )  # fmt: skip

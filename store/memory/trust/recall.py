"""Which entries are in every context, and which in none; search and contexts read it with every question."""

from collections.abc import Sequence
from typing import Literal

from store.memory.engine.change import RECALL
from store.memory.kinds import MEMORIES
from store.memory.opened import OpenedMemory

Recall = Literal["", "pinned", "never"]
_VERBS: dict[Recall, str] = {"pinned": "pin", "never": "never recall", "": "recall again"}


def of(memory: OpenedMemory, id: str, *, kind: str = MEMORIES) -> Recall:
    """Whether an entry is pinned, never recalled, or "": recalled when it fits."""
    with memory.entries(kind).database.reading() as db:
        row = db.execute("SELECT state FROM recall WHERE kind = ? AND id = ?", [kind, id]).fetchone()
    return row[0] if row else ""


def set_recall(
    memory: OpenedMemory, ids: Sequence[str], state: Recall, *, kind: str = MEMORIES, actor: str = "",
    decision: str | None = None,
) -> None:  # fmt: skip
    """Pin entries, never recall them, or treat them as all others; one decision. Raises UnknownEntry."""
    entries = memory.entries(kind)
    if entries.decided(decision) is not None:
        return
    with entries.change(_VERBS[state], actor=actor, decision=decision) as change:
        for id in ids:
            if change.row(entries.kind.table, id) is None:
                raise entries.unknown(id)
            if state:
                change.upsert({"id": id, "state": state}, table=RECALL)
            else:
                change.remove(id, table=RECALL)

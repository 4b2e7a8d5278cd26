"""Which entries are in every context, and which in none; search and contexts read it with every question."""

from collections.abc import Sequence
from typing import Literal

from store.memory.engine.change import RECALL
from store.memory.engine.passages import Passages

Recall = Literal["", "pinned", "never"]
_VERBS: dict[Recall, str] = {"pinned": "pin", "never": "never recall", "": "recall again"}


def of(passages: Passages, id: str) -> Recall:
    """Whether this entry is pinned, never recalled, or "": recalled when it fits."""
    with passages.database.reading() as db:
        row = db.execute(
            "SELECT state FROM recall WHERE kind = ? AND id = ?", [passages.kind.name, id]
        ).fetchone()
    return row[0] if row else ""


def set_recall(
    passages: Passages, ids: Sequence[str], state: Recall, *, actor: str = "", decision: str | None = None
) -> None:
    """Pin these entries, never recall them, or treat them as all others; one undoable decision.

    Raises UnknownEntry if one of them does not exist.
    """
    if passages.decided(decision) is not None:
        return
    with passages.change(_VERBS[state], actor=actor, decision=decision) as change:
        for id in ids:
            if change.row(passages.kind.table, id) is None:
                raise passages.unknown(id)
            if state:
                change.upsert({"id": id, "state": state}, table=RECALL)
            else:
                change.remove(id, table=RECALL)

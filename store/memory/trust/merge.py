"""Merge entries that say nearly the same into one of them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from store.memory.engine.errors import InvalidInput, UnknownEntry, changed_meanwhile
from store.memory.engine.inputs import LONGEST, checked_text
from store.memory.engine.kind import Row
from store.memory.kinds import MEMORIES
from store.memory.memories import MOST_TAGS
from store.memory.opened import OpenedMemory
from store.memory.text.conflicts import compared, sentences


@dataclass(frozen=True, slots=True)
class MergePreview:
    """The effect of a merge."""

    keep: Row
    removed: list[Row]
    text: str  # the text of the kept entry, with every sentence of the others that it does not have
    tags: list[str]  # of all, at most 10; [] for a kind without tags


def preview(memory: OpenedMemory, keep: str, others: Sequence[str], *, kind: str = MEMORIES) -> MergePreview:
    """What merging these entries into one of them would store. Raises UnknownEntry or InvalidInput.

    A sentence counts as said already if it is the same in other words (`text/conflicts.py`).
    """
    entries = memory.entries(kind)
    rows = [entries.get(id) for id in dict.fromkeys((keep, *others))]
    if len(rows) < 2:
        raise InvalidInput("a merge needs another entry than the one that is kept")
    scope, column = entries.kind.scope, entries.kind.text
    if scope and len({row[scope] for row in rows}) > 1:
        raise InvalidInput(f"entries of one {scope} alone can be merged")
    text = str(rows[0][column])
    for row in rows[1:]:
        for sentence in sentences(str(row[column])):
            repeats = any(one.is_repetition for one in compared([text, sentence]))
            if sentence not in text and not repeats:
                text = f"{text.rstrip()} {sentence}"
    tags = [tag for row in rows for tag in json.loads(row.get("tags") or "[]")]
    return MergePreview(rows[0], rows[1:], text, [*dict.fromkeys(tags)][:MOST_TAGS])


def merge(
    memory: OpenedMemory,
    keep: str,
    others: Sequence[str],
    *,
    kind: str = MEMORIES,
    text: str = "",
    shown: MergePreview | None = None,
    actor: str = "",
    decision: str | None = None,
) -> MergePreview:
    """Merge as `preview` shows it, with another text if one is given; one undoable decision.

    `shown` is the preview that the text was made from. Raises UnknownEntry if an entry was removed in the
    meantime, InvalidInput if one was changed, or for what cannot be merged.
    """
    entries = memory.entries(kind)
    if entries.decided(decision) is not None:
        kept = entries.get(keep)
        tags = json.loads(kept.get("tags") or "[]")
        return shown or MergePreview(kept, [], str(kept[entries.kind.text]), tags)
    planned = shown or preview(memory, keep, others, kind=kind)
    text = checked_text(text or planned.text, what="the text", most=LONGEST)
    new = entries.embed([text])
    kept = {**planned.keep, entries.kind.text: text}
    if "tags" in kept:
        kept["tags"] = json.dumps(planned.tags)
    with entries.change("merge", actor=actor, decision=decision) as change:
        change.store(new)
        for one in (planned.keep, *planned.removed):
            row = change.row(entries.kind.table, one["id"])
            if row is None:
                raise UnknownEntry(f"{one['id']} was removed in the meantime")
            if any(row[name] != value for name, value in one.items() if name != "embedding_model"):
                raise changed_meanwhile(one["id"])
        change.upsert(kept)
        for one in planned.removed:
            change.remove(one["id"])
    return planned

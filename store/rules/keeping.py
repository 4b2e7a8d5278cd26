"""The job "keep": keep one coin of a pair, give it what the other knows, and reject the other.

All of it is one decision, so one undo takes back texts, tags and rejections.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from store.jobs import Item, ItemDone, ItemRefused, JobContext, JobKind, Result
from store.outcome import Outcome
from store.records import Record
from store.writing.edits import compared

if TYPE_CHECKING:
    from store.library import Library

_REJECTED_FROM = ("pending", "approved")


def gain(kept: Record, others: Sequence[Record]) -> dict[str, Any]:
    """What the others know and the kept coin does not: captions, tags, links and other fields."""
    caption: dict[str, str] = {}
    more: dict[str, Any] = {}
    tags = list(kept.tags)
    for other in others:
        given = {key: value for key, value in other.sidecar.items() if key not in ("tags", "created_at")}
        for name, value in compared(kept, given, earlier=list).fields.items():
            if name.startswith("caption."):
                caption.setdefault(name.removeprefix("caption."), value)
            else:
                more.setdefault(name, value)
        tags += [tag for tag in other.tags if tag not in tags]
    return {"caption": caption, "tags": tags, "others": more, "revision": kept.revision}


def gain_in_words(kept: Record, others: Sequence[Record]) -> str:
    """What the kept coin would get: "tags frog, moon; caption context; website"; "" for nothing."""
    found = gain(kept, others)
    listed = {
        "tags": [tag for tag in found["tags"] if tag not in kept.tags],
        "caption": found["caption"],
        "fields": found["others"],
    }
    return "; ".join(f"{what} {', '.join(names)}" for what, names in listed.items() if names)


def _keep(context: "JobContext[Library]") -> None:
    """The items are the kept coins; each has the addresses of those that it is kept in place of."""
    library, job = context.library, context.job

    def do(items: Sequence[Item]) -> list[Result]:
        (item,) = items
        kept = next(iter(library.records([item.key])), None)
        if kept is None or kept.tier == "trash":
            return [ItemRefused(item, "it was rejected or deleted since")]
        others, outcome = library.records(item.payload), Outcome()
        found = gain(kept, others)
        if found["caption"] or found["others"] or found["tags"] != list(kept.tags):
            outcome.add(
                library.import_captions({kept.address: found}, decision=job.decision, actor=job.actor)
            )
        if not outcome.refused and not outcome.failure:  # what it knows is safe
            given_up = [other.address for other in others if other.tier in _REJECTED_FROM]
            reason = f"copy of {kept.name}"[:200]
            outcome.add(library.reject(given_up, reason=reason, decision=job.decision, actor=job.actor))
        outcome.raise_failure()
        if outcome.refused:
            return [ItemRefused(item, outcome.refused[0].reason)]
        return [ItemDone(item)]

    context.each(do)


KIND = JobKind("keep", _keep)

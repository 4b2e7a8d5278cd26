"""Changes of the text memory between two moments."""

from dataclasses import dataclass
from typing import Literal

from store.errors import InvalidRecord
from store.memory.engine import point_in_time
from store.memory.opened import OpenedMemory


@dataclass(frozen=True, slots=True)
class EntryDifference:
    """One entry whose text differs between the two moments."""

    kind: str
    id: str
    what: Literal["added", "removed", "changed"]
    before: str  # "" if there was none
    after: str  # "" if there is none


def difference(memory: OpenedMemory, since: float, until: float | None = None) -> list[EntryDifference]:
    """The entries that were added, removed or changed between two moments (UNIX seconds; None: now).

    By kind, then by id. Raises InvalidRecord if `until` comes before `since`.
    """
    if until is not None and until < since:
        raise InvalidRecord("the second moment has to come after the first")
    found = []
    for entries in memory.usable:
        name = entries.kind.name
        before = point_in_time.texts_at(entries, since)
        after = point_in_time.texts_at(entries, until)
        for id in sorted(before.keys() | after.keys()):
            old, new = before.get(id), after.get(id)
            if old != new:
                what: Literal["added", "removed", "changed"] = (
                    "added" if old is None else "removed" if new is None else "changed"
                )
                found.append(EntryDifference(name, id, what, old or "", new or ""))
    return found

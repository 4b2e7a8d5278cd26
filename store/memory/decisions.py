"""Decisions of all kinds in one row: whose was the last, and which kinds it changed."""

from collections.abc import Mapping

from store.memory.engine.listing import MemoryDecision
from store.memory.engine.passages import Passages

NUMBERED = "numbered_after"  # decisions above this number are numbered in one row with other kinds'

Kinds = Mapping[str, Passages]


def last(kinds: Kinds, *, by: str) -> tuple[str, MemoryDecision] | None:
    """This person's latest decision of any kind that can be undone, with the kind's name."""
    found = [
        (name, decision) for name, passages in kinds.items() if (decision := passages.last_decision(by=by))
    ]
    chosen = max(found, key=lambda one: _place(kinds[one[0]], one[1])) if found else None
    gone = last_forgetting(kinds, by=by)
    return chosen if chosen and (gone is None or _place(kinds[chosen[0]], chosen[1]) > gone) else None


def last_forgetting(kinds: Kinds, *, by: str) -> tuple[int, float] | None:
    """The place of this person's latest deletion for good; undo never reaches past it."""
    places = (
        _place(passages, gone) for passages in kinds.values() if (gone := passages.last_forgetting(by=by))
    )
    return max(places, default=None)


def kinds_of(kinds: Kinds, name: str, decision: MemoryDecision, *, by: str) -> list[str]:
    """The kinds that this last decision changed; most change one."""
    if not _place(kinds[name], decision)[0]:
        return [name]
    others = {
        other: found
        for other, passages in kinds.items()
        if (found := passages.last_decision(by=by)) and _place(passages, found)[0]
    }
    return [other for other, found in others.items() if found.number == decision.number]


def _place(passages: Passages, decision: MemoryDecision) -> tuple[int, float]:
    """The place among the decisions of all kinds; by the clock, from before they shared numbers."""
    before = passages.database.meta(NUMBERED)
    is_common = before and decision.number > int(before)
    return decision.number if is_common else 0, decision.created_at

"""Decisions of all kinds in one sequence: whose was the last, and which kinds it changed."""

from collections.abc import Mapping

from store.errors import NothingToUndo
from store.memory.engine import listing
from store.memory.engine.commits import deciding
from store.memory.engine.database import NUMBERED
from store.memory.engine.entries import RESERVED
from store.memory.engine.listing import MemoryDecision
from store.memory.engine.passages import Passages
from store.memory.engine.places import Places
from store.memory.engine.undo import AT_FORGETTING
from store.outcome import Outcome
from store.permissions import Actor

Kinds = Mapping[str, Passages]


class Decisions:
    """The decisions of one memory: undo and redo, in all kinds that they changed."""

    passages: dict[str, Passages]
    places: Places
    actor: Actor

    @property
    def generation(self) -> tuple[int, ...]:
        """Changes with every change of an entry or a model, and with every counted question."""
        found = []
        for passages in self.passages.values():
            with passages.database.reading() as db:
                found += db.execute(
                    "SELECT (SELECT coalesce(max(number), 0) FROM changes), "
                    "(SELECT coalesce(sum(times), 0) FROM queried), "
                    "(SELECT coalesce(max(number), 0) FROM decisions), "
                    "(SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'epoch')"
                ).fetchone()
        return tuple(found)

    def last_decision(self, *, by: str) -> tuple[str, MemoryDecision] | None:
        """This person's latest decision of any kind that can be undone, with the kind's name."""
        return last(self.passages, by=by)

    def why_no_undo(self, *, by: str) -> str:
        """Why this person has nothing to undo, as a sentence without a full stop."""
        return AT_FORGETTING if last_erasure(self.passages, by=by) else "nothing to undo"

    def undo(self, *, actor: str = "") -> Outcome:
        """Undo the person's own last decision, of any kind; an agent's own, nobody else's, to an agent.

        Raises NothingToUndo if there is none, or only decisions before the person deleted something for good.
        """
        self.actor.permit()
        by = actor or self.actor.name
        with deciding(self.places.folder):  # so that no other process decides between its parts
            found = self.last_decision(by=by)
            if found is None:
                raise NothingToUndo(self.why_no_undo(by=by))
            outcome, new = Outcome(decision=str(found[1].number)), self._latest_decision() + 1
            for name in kinds_of(self.passages, *found, by=by):
                _add(outcome, self.passages[name].undo(actor=actor, part_of=new))
        return outcome

    def undo_decision(self, number: int, *, actor: str = "") -> Outcome:
        """Undo this decision of any person in all kinds that it changed; nothing if it is undone already."""
        self.actor.permit()
        outcome = Outcome(decision=str(number))
        with deciding(self.places.folder):
            new = self._latest_decision() + 1
            for passages in self.passages.values():
                if not passages.fault and passages.is_standing(number):
                    _add(outcome, passages.undo(actor=actor, number=number, part_of=new))
        return outcome

    def can_redo(self, *, by: str) -> bool:
        """Whether this person's latest decision of any kind was an undo."""
        return bool(to_redo(self.passages, by=by))

    def redo(self, *, actor: str = "") -> Outcome:
        """Redo the person's own last undo, of any kind.

        Raises NothingToUndo if there is none, or the person decided something since.
        """
        self.actor.permit()
        with deciding(self.places.folder):
            outcome, new = Outcome(), self._latest_decision() + 1
            for name in to_redo(self.passages, by=actor or self.actor.name):
                part = self.passages[name].redo(actor=actor, part_of=new)
                outcome.decision = part.decision
                _add(outcome, part)
        if outcome.decision is None:
            raise NothingToUndo("nothing to redo")
        return outcome

    def new_decision(self) -> int:
        """Reserve the number of a decision that is about to be made in several kinds."""
        self.actor.permit()
        usable = [passages for passages in self.passages.values() if not passages.fault]
        with deciding(self.places.folder):
            number = self._latest_decision() + 1
            usable[0].database.set_meta(RESERVED, str(number))
        return number

    def _latest_decision(self) -> int:
        return max(passages.latest_decision() for passages in self.passages.values())


def last(kinds: Kinds, *, by: str) -> tuple[str, MemoryDecision] | None:
    """This person's latest decision of any kind that can be undone, with the kind's name."""
    found = [
        (name, decision) for name, passages in kinds.items() if (decision := passages.last_decision(by=by))
    ]
    chosen = max(found, key=lambda one: _place(kinds[one[0]], one[1])) if found else None
    gone = last_erasure(kinds, by=by)
    return chosen if chosen and (gone is None or _place(kinds[chosen[0]], chosen[1]) > gone) else None


def last_erasure(kinds: Kinds, *, by: str) -> tuple[int, float] | None:
    """The place of this person's latest deletion for good; undo never reaches past it."""
    places = (_place(passages, gone) for passages in kinds.values() if (gone := passages.last_erasure(by=by)))
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


def to_redo(kinds: Kinds, *, by: str) -> list[str]:
    """The kinds whose part of this person's last undo can be redone; none if they decided something since."""
    undone, since = dict[str, tuple[tuple[int, float], int]](), list[tuple[int, float]]()
    for name, passages in kinds.items():
        with passages.database.reading() as db:
            agent = passages.actor.agent
            undo = listing.last_undo(db, by, agent=agent)
            other = listing.last_of_own(db, by, agent=agent)
        if undo:
            undone[name] = (_placed(passages, undo["number"], undo["at"]), undo["reverses"])
        if other:
            since.append(_placed(passages, other["number"], other["at"]))
    if not undone or (latest := max(undone.values()))[0] < max(since, default=(0, 0.0)):
        return []
    is_common = latest[0][0] > 0  # kinds that did not share numbers yet undid one decision each
    return [
        name
        for name, (place, reverses) in undone.items()
        if (place, reverses) == latest or (is_common and place[0] and reverses == latest[1])
    ]


def _add(outcome: Outcome, part: Outcome) -> None:
    outcome.done += part.done
    outcome.refused += part.refused


def _place(passages: Passages, decision: MemoryDecision) -> tuple[int, float]:
    """The place among the decisions of all kinds; by the clock, from before they shared numbers."""
    return _placed(passages, decision.number, decision.created_at)


def _placed(passages: Passages, number: int, at: float) -> tuple[int, float]:
    before = passages.database.meta(NUMBERED)
    return number if before and number > int(before) else 0, at

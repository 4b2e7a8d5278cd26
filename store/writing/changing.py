"""Decisions of any size, carried out operation by operation; cancelled, what is done stays done."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Literal, TypeVar
from uuid import uuid4

from store import history, troubles
from store.catalog import REFUSALS, Catalog
from store.errors import InvalidRecord, TakenBack
from store.files import content_hash
from store.outcome import Outcome
from store.people import myself
from store.progress import Progress
from store.records import Facet, Record, Tier, sidecar_bytes, validate
from store.writing.journal import Payload
from store.writing.operations import Change, Source, State
from store.writing.write_path import Decision, WritePath

OPERATION = 256  # records of one operation (design section 4)
EMBEDDED = 64  # … of one that needs the model: what a cancelled promotion may still have to wait for

# Design section 2: where each verb takes a record from, and where to.
Move = Literal["approve", "return", "reject", "promote", "degrade", "delete", "restore"]
_MOVES: dict[Move, tuple[tuple[Tier, ...], Tier | None]] = {
    "approve": (("pending",), "approved"),
    "return": (("approved",), "pending"),
    "reject": (("pending", "approved"), "trash"),
    "promote": (("approved",), "library"),
    "degrade": (("library",), "approved"),
    "delete": (("pending", "approved", "library"), "trash"),
    "restore": (("trash",), None),
}
T = TypeVar("T")


class Changing:
    """Moves records, and writes what they say."""

    def __init__(self, catalog: Catalog, path: WritePath, *, changed: Callable[[], None]) -> None:
        self._catalog = catalog
        self._path = path
        self._changed = changed  # told after each operation

    def move(
        self,
        verb: Move,
        addresses: Iterable[str],
        *,
        who: str,
        reason: str = "",
        progress: Progress | None = None,
        decision: str | None = None,
    ) -> Outcome:
        """Take these records to another tier; `decision` makes it a part of that one."""
        sources, target = _MOVES[verb]

        def moved(record: Record, state: State) -> State:
            if record.tier not in sources:
                raise InvalidRecord(f"{verb} takes from {' or '.join(sources)}; it is in {record.tier}")
            goal = target or state.came_from or "pending"
            return replace(state, tier=goal, came_from=record.tier if goal == "trash" else None)

        outcome = Outcome()
        decided = Decision(verb, who or myself(), reason=reason, id=decision or uuid4().hex)
        size = EMBEDDED if verb == "promote" else OPERATION
        for batch in batches(dict.fromkeys(addresses), size, progress):
            self.carry_out(decided, self._path.changes(batch, moved, outcome), Payload(), outcome)
        if verb == "promote" and outcome.refused:
            self._note_troubles(outcome)
        return outcome

    def rewrite(
        self,
        verb: str,
        addresses: Iterable[str],
        written: Callable[[Record], dict[str, Any]],
        *,
        who: str,
        sources: Mapping[Facet, Source] | None = None,
        decision: str | None = None,
        progress: Progress | None = None,
        in_trash: bool = False,
    ) -> Outcome:
        """Make these records' sidecars what `written` says of each; `in_trash`: of those in the trash too."""
        outcome = Outcome()
        decided = Decision(verb, who or myself(), sources=sources or {}, id=decision or uuid4().hex)
        for batch in batches(dict.fromkeys(addresses), EMBEDDED, progress):
            payload = Payload()

            def rewritten(record: Record, state: State, payload: Payload = payload) -> State:
                if record.tier == "trash" and not in_trash:
                    raise InvalidRecord("it is in the trash; restore it first")
                sidecar = written(record)
                validate(sidecar, tier=record.tier)
                content = sidecar_bytes(sidecar)
                payload.sidecars[content_hash(content)] = content
                return replace(state, sidecar_hash=content_hash(content))

            self.carry_out(decided, self._path.changes(batch, rewritten, outcome), payload, outcome)
        return outcome

    def bring(
        self,
        decision: Decision,
        addresses: Iterable[str],
        goal: Callable[[Record, State], State],
        outcome: Outcome,
    ) -> bool:
        """One operation that takes these records to the states of `goal`; False: the disk refused all."""
        return self.carry_out(
            decision, self._path.changes(list(addresses), goal, outcome), Payload(), outcome
        )

    def carry_out(
        self, decision: Decision, changes: Iterable[Change], payload: Payload, outcome: Outcome
    ) -> bool:
        """One operation of a decision; False: the disk refused all of it."""
        done = self._path.carry_out(decision, list(changes), payload, outcome)
        self._changed()
        return done

    def parts(self, what: str, addresses: Iterable[str], decision: str) -> tuple[list[str], list[str]]:
        """Which of these the decision has changed already, and which it has still to change.

        TakenBack once it was undone: what is left of it must not follow.
        """
        parts = list(addresses)
        with self._catalog.reading() as db:
            if history.is_reversed(db, decision):
                raise TakenBack(f"this {what} was taken back while it was under way; the rest is left alone")
            done = history.of_decision(db, decision, among=parts)
        return done, [one for one in parts if one not in done]

    def _note_troubles(self, outcome: Outcome) -> None:
        with contextlib.suppress(*REFUSALS), self._catalog.writing() as db:  # the answer says it all the same
            troubles.note(db, {refusal.item: refusal.reason for refusal in outcome.refused})


def batches(items: Iterable[T], size: int, progress: Progress | None = None) -> Iterator[list[T]]:
    """The items in batches, counted as done after each, until there are no more or it is cancelled."""
    rest = iter(items)
    while not (progress and progress.cancelled) and (batch := list(islice(rest, size))):
        yield batch
        if progress:
            progress.done += len(batch)

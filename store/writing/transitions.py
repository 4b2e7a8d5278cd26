"""Decisions of any size, carried out operation by operation; if cancelled, finished ones stay.

`RecordReversal` restores what a decision replaced, by a new one that is made from the history.
"""

import contextlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar
from uuid import uuid4

from store.catalog import blockers, history, rows
from store.catalog.catalog import DISK_ERRORS, Catalog, next_generation
from store.catalog.history import Verb
from store.disk.files import Disk, content_hash
from store.disk.layout import Layout
from store.disk.sqlite import not_written
from store.duplicates import findings
from store.errors import InvalidRecord, MemedexError, NotWritten, Superseded
from store.operations import CaptionSource, Change, DecisionIntent, Operation, State
from store.outcome import Outcome, Refusal
from store.progress import Progress, batches
from store.records import Facet, Record, Tier, sidecar_bytes, validate
from store.tags import taxonomy_file
from store.writing import transitions
from store.writing.journal import CHANGED_MEANWHILE, Payload
from store.writing.prepare import WritePath

OPERATION = 256  # records of one operation
EMBEDDED = 64  # … of one that needs the model: what a cancelled promotion may still have to wait for

# Where each verb takes a record from, and where to.
Move = Literal[
    "approve", "return", "reject", "promote", "degrade", "delete", "restore", "settle approve",
    "settle reject",
]  # fmt: skip
_MOVES: dict[Move, tuple[tuple[Tier, ...], Tier | None]] = {
    "approve": (("pending",), "approved"),
    "return": (("approved",), "pending"),
    "reject": (("pending", "approved"), "trash"),
    "promote": (("approved",), "library"),
    "degrade": (("library",), "approved"),
    "delete": (("pending", "approved", "library"), "trash"),
    "restore": (("trash",), None),
    "settle approve": (("trash",), "approved"),
    "settle reject": (("approved", "library"), "trash"),
}
# Verbs that change nothing of a record: what people say of it.
Note = Literal["second approve", "second reject", "settle approve", "settle reject"]
Obstacle = Callable[[sqlite3.Connection, str], str]  # why a record may not be noted, "" if it may
_IS: Mapping[Tier, str] = {
    "pending": "in review",
    "approved": "approved",
    "library": "in the library",
    "trash": "rejected",
}
T = TypeVar("T")


class Transitions:
    """Moves records and edits their sidecars, with the permissions of the catalog's actor."""

    def __init__(self, catalog: Catalog, path: WritePath, *, changed: Callable[[], None]) -> None:
        self._catalog = catalog
        self._path = path
        self._changed = changed  # called after each operation

    def move(
        self,
        verb: Move,
        addresses: Iterable[str],
        *,
        actor: str,
        reason: str = "",
        progress: Progress | None = None,
        decision: str | None = None,
    ) -> Outcome:
        """Move records to another tier. With `decision` it is one part of that decision, as in `rewrite`."""
        sources, target = _MOVES[verb]
        done, left = self._done_and_left(addresses, decision)

        def moved(record: Record, state: State) -> State:
            if record.tier not in sources:
                raise InvalidRecord(
                    f"it is {_IS[record.tier]}, not {' or '.join(_IS[tier] for tier in sources)}"
                )
            goal = target or state.came_from or "pending"
            return replace(state, tier=goal, came_from=record.tier if goal == "trash" else None)

        outcome = Outcome()
        decided = self._catalog.decide(verb, actor=actor, reason=reason, id=decision)
        size = EMBEDDED if verb == "promote" else OPERATION
        for batch in batches(left, size, progress):
            self._carry_out_in_turn(decided, batch, lambda record, state, _: moved(record, state), outcome)
        if verb == "promote" and outcome.refused:
            self._record_blockers(outcome)
        outcome.done += done
        return outcome

    def rewrite(
        self,
        verb: str,
        addresses: Iterable[str],
        written: Callable[[Record], dict[str, Any]],
        *,
        actor: str,
        sources: Mapping[Facet, CaptionSource] | None = None,
        decision: str | None = None,
        progress: Progress | None = None,
        reason: str = "",
        in_trash: bool = False,
    ) -> Outcome:
        """Edit these records' sidecars with `written`; `in_trash` includes those in the trash.

        With `decision` it is one part of that decision: records that an earlier part changed are skipped.
        Raises Superseded if the decision was undone meanwhile.
        """
        done, left = self._done_and_left(addresses, decision)
        outcome = Outcome()
        decided = self._catalog.decide(verb, actor=actor, reason=reason, sources=sources, id=decision)

        def rewritten(record: Record, state: State, payload: Payload) -> State:
            if record.tier == "trash" and not in_trash:
                raise InvalidRecord("it is rejected; restore it first")
            sidecar = written(record)
            validate(sidecar, tier=record.tier)
            content = sidecar_bytes(sidecar)
            payload.sidecars[content_hash(content)] = content
            return replace(state, sidecar_hash=content_hash(content))

        for batch in batches(left, EMBEDDED, progress):
            self._carry_out_in_turn(decided, batch, rewritten, outcome)
        outcome.done += done
        return outcome

    def note(
        self,
        decision: DecisionIntent,
        addresses: Sequence[str],
        outcome: Outcome,
        *,
        obstacle: Obstacle = lambda db, address: "",
    ) -> bool:
        """Enter into the history what a person says of these records; False: the disk refused all of it.

        No file changes with it, so that one transaction does it, within which `obstacle` is asked.
        """
        self._catalog.check_writable()
        refused, noted = list[Refusal](), list[Change]()
        try:
            with self._catalog.writing() as db:
                done = history.of_decision(db, decision.id, among=addresses)
                for address in addresses:
                    if address in done:
                        continue
                    row = db.execute("SELECT * FROM records WHERE address = ?", [address]).fetchone()
                    if reason := obstacle(db, address) if row else "no record has this address":
                        refused.append(Refusal(address, reason))
                    else:
                        state = rows.state_of(row)
                        noted.append(Change(address, state, state))
                if noted:
                    at = time.time() if decision.moment is None else decision.moment
                    operation = Operation(
                        uuid4().hex, decision.id, decision.verb, decision.actor, at, tuple(noted),
                        decision.reason, decision.reverses,
                    )  # fmt: skip
                    history.record(db, operation)
                    next_generation(db)
        except DISK_ERRORS as error:
            outcome.failure = str(not_written(error, str(error)))
            outcome.refused += [Refusal(address, outcome.failure) for address in addresses]
            return False
        outcome.refused += refused
        if done or noted:
            outcome.done += [*done, *(change.address for change in noted)]
            outcome.decision = decision.id
            self._changed()
        return True

    def apply(
        self,
        decision: DecisionIntent,
        addresses: Iterable[str],
        goal: Callable[[Record, State], State],
        outcome: Outcome,
    ) -> bool:
        """One operation that brings these records to the states of `goal`; False: the disk refused all."""
        self._path.finish_waiting()  # the same one, begun again, may wait
        return self.carry_out(
            decision, self._path.changes(list(addresses), goal, outcome), Payload(), outcome
        )

    def _carry_out_in_turn(
        self,
        decision: DecisionIntent,
        batch: Sequence[str],
        goal: Callable[[Record, State, Payload], State],
        outcome: Outcome,
    ) -> None:
        """One operation, after those of others that came first.

        A record that another operation changed meanwhile is read again, and changed if that is the same
        change as before: another tag, another facet or another tier in the meantime contradicts nothing.
        """
        seen: dict[str, frozenset[Any]] = {}
        left = list(batch)
        while left:
            payload, tried = Payload(), Outcome()
            contradicted = set[str]()

            def changed(record: Record, state: State, payload: Payload = payload) -> State:
                after = goal(record, state, payload)
                if after != state:
                    text = payload.sidecars.get(after.sidecar_hash)
                    made = _difference(record, state, after, json.loads(text) if text else record.sidecar)
                    if seen.setdefault(record.address, made) != made:
                        contradicted.add(record.address)  # noqa: B023  called before the next round
                        raise InvalidRecord(CHANGED_MEANWHILE)
                return after

            self.carry_out(decision, self._path.changes(left, changed, tried), payload, tried)
            left = [
                one.item
                for one in tried.refused
                if one.reason == CHANGED_MEANWHILE and one.item not in contradicted
            ]
            tried.refused = [one for one in tried.refused if one.item not in left]
            outcome.add(tried)

    def carry_out(
        self, decision: DecisionIntent, changes: Iterable[Change], payload: Payload, outcome: Outcome
    ) -> bool:
        """One operation of a decision; False: the disk refused all. Raises LoginEnded or ReadOnly."""
        self._catalog.check_writable()
        done = self._path.carry_out(decision, list(changes), payload, outcome)
        self._changed()
        return done

    def check_not_undone(self, decision: str) -> None:
        """Raises Superseded if the decision was undone while it was under way."""
        with self._catalog.reading() as db:
            if history.is_reversed(db, decision):
                raise Superseded("it was undone while it was under way; the rest is left alone")

    def _done_and_left(self, addresses: Iterable[str], decision: str | None) -> tuple[list[str], list[str]]:
        """Which of these records the decision has changed already, and which it has still to change."""
        every = list(dict.fromkeys(addresses))
        if decision is None:
            return [], every
        self.check_not_undone(decision)
        self._path.finish_waiting()  # a part of this decision may wait
        with self._catalog.reading() as db:
            done = history.of_decision(db, decision, among=every)
        return done, [address for address in every if address not in done]

    def _record_blockers(self, outcome: Outcome) -> None:
        with (
            contextlib.suppress(*DISK_ERRORS),
            self._catalog.writing() as db,
        ):  # the answer says it all the same
            blockers.store(db, {refusal.item: refusal.reason for refusal in outcome.refused})


def _difference(record: Record, state: State, after: State, sidecar: Mapping[str, Any]) -> frozenset[Any]:
    """What a change makes of a record, such as a tag more, so that two changes can be compared."""
    before, now = (_parts(one) for one in (record.sidecar, sidecar))
    parts = {
        (name, json.dumps(before.get(name)), json.dumps(now.get(name)))
        for name in before.keys() | now.keys()
        if before.get(name) != now.get(name)
    }
    return frozenset(parts | {("tier", state.tier, after.tier)} if state.tier != after.tier else parts)


def _parts(sidecar: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a sidecar that one change may make without another: each facet and each tag is one."""
    rest = {key: value for key, value in sidecar.items() if key not in ("caption", "tags", "tags_categories")}
    caption = {f"caption {facet}": text for facet, text in (sidecar.get("caption") or {}).items()}
    return rest | caption | {f"tag {tag}": True for tag in sidecar.get("tags") or ()}


class RecordReversal:
    """Reverses one decision about records, the taxonomy or pairs."""

    def __init__(self, catalog: Catalog, layout: Layout, disk: Disk, transitions: Transitions) -> None:
        self._catalog = catalog
        self._layout = layout
        self._disk = disk
        self._transitions = transitions

    def reverse(
        self, chosen: str, verb: Verb, outcome: Outcome, *, actor: str, id: str | None, progress: Progress
    ) -> bool:
        """Restore what one decision replaced, except records changed since; False: refused or cancelled."""
        decision = self._catalog.decide(verb, actor=actor, reverses=chosen, id=id)
        with self._catalog.reading() as db:
            events = history.events(db, decision=chosen, limit=-1)
            goals = {event.address: event for event in events}
            begun = history.of_decision(db, decision.id, among=[*goals])  # before it was interrupted
        left = [address for address in goals if address not in begun]
        outcome.done += begun

        def reversed_(record: Record, state: State) -> State:
            event = goals[record.address]
            if event.before in (state, event.after):  # it is so already, or only said something
                return state
            if state != event.after:
                raise InvalidRecord(f"it was changed since; {decision.verb} would lose that")
            if event.before is None:  # an import: nothing is ever thrown away
                return replace(state, tier="trash", came_from=state.tier)
            return event.before

        try:
            is_taxonomy = taxonomy_file.undo(
                self._catalog, self._layout, self._disk, decision=decision, more=bool(goals)
            )
        except MemedexError as error:
            outcome.refused.append(Refusal("taxonomy", str(error)))
            if isinstance(error, NotWritten):
                return False
            self._pass_over(chosen, outcome)
            return True
        if left and all(event.before == event.after for event in events):  # something was said, no more
            if not self._transitions.note(decision, left, outcome):
                return False
            left = []
        done = 0
        for batch in batches(left, transitions.OPERATION, progress):
            done += len(batch)
            # Only the last part marks it undone: what a crash or a full disk left over can still be undone.
            part = decision if done == len(left) else replace(decision, reverses=None)
            if not self._transitions.apply(part, batch, reversed_, outcome):
                return False
        if done < len(left):
            return False
        if not (goals or is_taxonomy or findings.undo_verdicts(self._catalog, decision, outcome)):
            return False
        self._pass_over(chosen, outcome)
        return True

    def _pass_over(self, decision: str, outcome: Outcome) -> None:
        """Let the next undo go further back even if all of this one was refused."""
        try:
            with self._catalog.writing() as db:
                history.mark_reversed(db, decision)
        except DISK_ERRORS as error:
            outcome.refused.append(Refusal(decision, f"that it is undone could not be noted: {error}"))

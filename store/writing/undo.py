"""Undo and redo: new operations made from the history, which restore what a decision replaced."""

import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from store.catalog import history
from store.catalog.catalog import DISK_ERRORS, Catalog
from store.disk.files import Disk
from store.disk.layout import Layout
from store.duplicates import findings
from store.errors import InvalidRecord, MemedexError, NothingToUndo, NotWritten
from store.operations import DecisionIntent, State
from store.outcome import Outcome, Refusal
from store.progress import Progress, batches
from store.records import Record
from store.tags import taxonomy_file
from store.writing import transitions
from store.writing.transitions import Transitions


class Undo:
    """Reverses decisions, one at a time; records changed since are refused."""

    def __init__(
        self, catalog: Catalog, layout: Layout, disk: Disk, transitions: Transitions, lock: threading.Lock
    ) -> None:
        self._catalog = catalog
        self._layout = layout
        self._disk = disk
        self._transitions = transitions
        self._one_at_a_time = lock  # two at one time must not both choose the same decision

    def undo(self, n: int, *, actor: str) -> Outcome:
        """Undo this person's last n decisions. Raises NothingToUndo if there is none."""
        return self._last("undo", n, history.to_undo, actor=actor or self._catalog.actor.name)

    def redo(self, n: int, *, actor: str) -> Outcome:
        """Redo what this person undid last. Raises NothingToUndo if they decided something since."""
        return self._last("redo", n, history.to_redo, actor=actor or self._catalog.actor.name)

    def undo_decisions(
        self,
        decisions: Sequence[str],
        *,
        actor: str,
        progress: Progress | None = None,
        id: str | None = None,
    ) -> Outcome:
        """Undo these decisions of any person one by one; an undo among them is redone.

        One that was undone and redone is undone again. `id` is that of the first reversal.
        """
        outcome = Outcome()
        progress = progress or Progress()
        with self._catalog.reading() as db:
            progress.total = sum(history.size(db, decision) for decision in decisions)
        for chosen in decisions:
            with self._one_at_a_time:
                with self._catalog.reading() as db:
                    if id is not None and (reversed_ := history.reverses(db, id)):
                        outcome.decision, outcome.reversed, id = id, reversed_, None
                        continue
                    last, others = history.last_link(db, chosen)
                    row = db.execute("SELECT verb, reversed FROM decisions WHERE id = ?", [last]).fetchone()
                if row is None:
                    outcome.refused.append(Refusal(chosen, "there is no such decision"))
                elif row["verb"] in history.FINAL:
                    outcome.refused.append(Refusal(chosen, "it cannot be undone"))
                elif not row["reversed"] and others % 2 == 0:
                    verb = "redo" if row["verb"] == "undo" else "undo"
                    decision = self._catalog.decide(verb, actor=actor, reverses=last, id=id)
                    id = None
                    if not self._reverse(last, decision, outcome, progress):
                        break
        return outcome

    def _last(
        self, verb: str, n: int, choose: Callable[[sqlite3.Connection, str], list[str]], *, actor: str
    ) -> Outcome:
        self._catalog.check_writable()
        outcome = Outcome()
        for number in range(n):
            with self._one_at_a_time:
                with self._catalog.reading() as db:
                    found = choose(db, actor)
                if not found:
                    if number == 0:
                        raise NothingToUndo(f"nothing to {verb}")
                    break
                decision = self._catalog.decide(verb, actor=actor, reverses=found[0])
                if not self._reverse(found[0], decision, outcome, Progress()):
                    break
        return outcome

    def _reverse(self, chosen: str, decision: DecisionIntent, outcome: Outcome, progress: Progress) -> bool:
        """Restore what one decision replaced, except records changed since.

        False if the disk refused or it was cancelled.
        """
        with self._catalog.reading() as db:
            events = history.events(db, decision=chosen, limit=-1)
            goals = {event.address: event for event in events}
            begun = history.of_decision(db, decision.id, among=[*goals])  # before it was interrupted
        left = [address for address in goals if address not in begun]
        outcome.done += begun

        def reversed_(record: Record, state: State) -> State:
            event = goals[record.address]
            if state == event.before:
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

"""Restore what a decision about coins replaced, by a new decision that is made from the history."""

from dataclasses import replace

from store.catalog import history
from store.catalog.catalog import DISK_ERRORS, Catalog
from store.catalog.undo import Verb
from store.disk.files import Disk
from store.disk.layout import Layout
from store.duplicates import findings
from store.errors import InvalidRecord, MemedexError, NotWritten
from store.operations import State
from store.outcome import Outcome, Refusal
from store.progress import Progress, batches
from store.records import Record
from store.tags import taxonomy_file
from store.writing import transitions
from store.writing.transitions import Transitions


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
        """Restore what one decision replaced, except records changed since.

        False if the disk refused or it was cancelled.
        """
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

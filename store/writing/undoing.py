"""Undo and redo: new operations made from the history, which bring back what a decision replaced."""

import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from store import history, taxonomy_edits
from store.catalog import REFUSALS, Catalog
from store.duplicates import judging
from store.errors import InvalidRecord, MemedexError, NothingToUndo, NotWritten
from store.files import Disk
from store.importing.candidate import Refusal
from store.layout import Layout
from store.outcome import Outcome
from store.people import myself
from store.progress import Progress
from store.records import Record
from store.writing import changing
from store.writing.changing import Changing, batches
from store.writing.operations import State
from store.writing.write_path import Decision


class Undoing:
    """Takes decisions back, one at a time, where nothing was changed since."""

    def __init__(self, catalog: Catalog, layout: Layout, disk: Disk, changing: Changing) -> None:
        self._catalog = catalog
        self._layout = layout
        self._disk = disk
        self._changing = changing
        self._one_at_a_time = threading.Lock()  # two at one time must not both choose the same decision

    def undo(self, n: int, *, who: str) -> Outcome:
        """Take back this person's last n decisions; NothingToUndo when there is none."""
        return self._last("undo", n, history.to_undo, who=who or myself())

    def redo(self, n: int, *, who: str) -> Outcome:
        """Do again what this person undid last; NothingToUndo when something new was decided since."""
        return self._last("redo", n, history.to_redo, who=who or myself())

    def take_back(self, decisions: Sequence[str], *, who: str, progress: Progress | None = None) -> Outcome:
        """Undo these decisions one by one, whoever made them; an undo among them is done again."""
        outcome = Outcome()
        progress = progress or Progress()
        with self._catalog.reading() as db:
            progress.total = sum(history.size(db, decision) for decision in decisions)
        for chosen in decisions:
            with self._one_at_a_time:
                with self._catalog.reading() as db:
                    row = db.execute("SELECT verb, reversed FROM decisions WHERE id = ?", [chosen]).fetchone()
                if row is None:
                    outcome.refused.append(Refusal(chosen, "there is no such decision"))
                elif not row["reversed"]:
                    verb = "redo" if row["verb"] == "undo" else "undo"
                    decision = Decision(verb, who or myself(), reverses=chosen)
                    if not self._reverse(chosen, decision, outcome, progress):
                        break
        return outcome

    def _last(
        self, verb: str, n: int, choose: Callable[[sqlite3.Connection, str], str | None], *, who: str
    ) -> Outcome:
        outcome = Outcome()
        for number in range(n):
            with self._one_at_a_time:
                with self._catalog.reading() as db:
                    chosen = choose(db, who)
                if chosen is None:
                    if number == 0:
                        raise NothingToUndo(f"there is nothing of yours to {verb}")
                    break
                if not self._reverse(chosen, Decision(verb, who, reverses=chosen), outcome, Progress()):
                    break
        return outcome

    def _reverse(self, chosen: str, decision: Decision, outcome: Outcome, progress: Progress) -> bool:
        """Bring back what one decision replaced, where nothing was changed since.

        False: the disk refused, or it was cancelled.
        """
        with self._catalog.reading() as db:
            events = history.events(db, decision=chosen, limit=-1)
        goals = {event.address: event for event in events}

        def reversed_(record: Record, state: State) -> State:
            event = goals[record.address]
            if state == event.before:  # an interrupted one came this far
                return state
            if state != event.after:
                raise InvalidRecord(f"it was changed since; {decision.verb} would lose that")
            if event.before is None:  # an import: nothing is ever thrown away
                return replace(state, tier="trash", came_from=state.tier)
            return event.before

        try:
            is_taxonomy = taxonomy_edits.take_back(
                self._catalog, self._layout, self._disk, decision=decision, more=bool(goals)
            )
        except MemedexError as error:
            outcome.refused.append(Refusal("taxonomy", str(error)))
            if isinstance(error, NotWritten):
                return False
            self._pass_over(chosen, outcome)
            return True
        done = 0
        for batch in batches(goals, changing.OPERATION, progress):
            done += len(batch)
            # Only the last part takes it back: what a crash or a full disk left over can still be taken back.
            part = decision if done == len(goals) else replace(decision, reverses=None)
            if not self._changing.bring(part, batch, reversed_, outcome):
                return False
        if done < len(goals):
            return False
        if not (goals or is_taxonomy or judging.take_back(self._catalog, decision, outcome)):
            return False
        self._pass_over(chosen, outcome)
        return True

    def _pass_over(self, decision: str, outcome: Outcome) -> None:
        """The next undo goes further back, also when all of this one was refused."""
        try:
            with self._catalog.writing() as db:
                history.mark_reversed(db, decision)
        except REFUSALS as error:
            outcome.refused.append(Refusal(decision, f"nothing was changed: {error}"))

"""Undo and redo, of decisions about coins as of those about texts: which one, and how often."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Literal, Protocol

from store.catalog.history import DecisionLog
from store.errors import NothingToUndo, NotPermitted
from store.outcome import Outcome, Refusal
from store.progress import Progress

Verb = Literal["undo", "redo"]


class Reverse(Protocol):
    """How a library or a text memory restores what one decision replaced."""

    def __call__(
        self, chosen: str, verb: Verb, outcome: Outcome, *, actor: str, id: str | None, progress: Progress
    ) -> bool:
        """Reverse it by a decision with this id, as far as nothing was changed since; False ends a series."""


class Undo:
    """Reverses decisions, one at a time; what was changed since is refused."""

    def __init__(
        self,
        log: DecisionLog,
        *,
        turn: Callable[[], AbstractContextManager[object]],
        reverse: Reverse,
        after: Callable[[Outcome], None] = lambda outcome: None,
    ) -> None:
        """Within a `turn` nothing else chooses a decision; `after` is called at the end of each."""
        self._log = log
        self._turn = turn
        self._reverse = reverse
        self._after = after

    def last(self, verb: Verb, n: int = 1, *, actor: str = "", id: str | None = None) -> Outcome:
        """Undo this person's last n decisions, or redo what they undid since their last other one.

        Raises NothingToUndo if there is none.
        """
        self._log.file.check_writable()
        outcome, by = Outcome(), actor or self._log.file.actor.name
        for number in range(n):
            with self._turn():
                if self._is_made(id, by, outcome):
                    break
                found = (self._log.to_undo if verb == "undo" else self._log.to_redo)(by)
                if not found and number:
                    break
                if not found:
                    raise NothingToUndo(self._log.why_no_undo(by) if verb == "undo" else "nothing to redo")
                goes_on = self._reversed(found[0], verb, outcome, actor=actor, id=id)
            self._after(outcome)
            if not goes_on:
                break
        return outcome

    def decisions(
        self,
        decisions: Sequence[str],
        *,
        actor: str = "",
        progress: Progress | None = None,
        id: str | None = None,
    ) -> Outcome:
        """Undo these decisions of any person one by one; an undo among them is redone.

        One that was undone and redone is undone again. `id` is that of the first reversal.
        """
        self._log.file.check_writable()
        outcome, by = Outcome(), actor or self._log.file.actor.name
        for chosen in decisions:
            with self._turn():
                if self._is_made(id, by, outcome):
                    id = None
                    continue
                last, others = self._log.last_link(chosen)
                made = self._log.get(last)
                if made is None or made.is_final:
                    why = "it cannot be undone" if made else "there is no such decision"
                    outcome.refused.append(Refusal(chosen, why))
                    continue
                if made.is_undone or others % 2:
                    continue
                verb: Verb = "redo" if made.verb == "undo" else "undo"
                goes_on = self._reversed(last, verb, outcome, actor=actor, id=id, progress=progress)
                id = None
            self._after(outcome)
            if not goes_on:
                break
        return outcome

    def _reversed(
        self, chosen: str, verb: Verb, outcome: Outcome, *, actor: str, id: str | None,
        progress: Progress | None = None,
    ) -> bool:  # fmt: skip
        outcome.reversed = chosen
        return self._reverse(chosen, verb, outcome, actor=actor, id=id, progress=progress or Progress())

    def _is_made(self, id: str | None, by: str, outcome: Outcome) -> bool:
        """Whether the decision with this id was made before; what it did is in the outcome then.

        A reversal that was interrupted does not say what it reverses, and goes on.
        """
        made = self._log.get(id) if id else None
        if made is None:
            return False
        if made.actor != by:
            raise NotPermitted("another user made a decision with this id")
        if made.verb in ("undo", "redo") and not made.reverses:
            return False
        outcome.done += self._log.changed(made.id)
        outcome.decision, outcome.reversed = made.id, made.reverses
        return True

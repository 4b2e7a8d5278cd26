"""Moving many records in the background, as one decision: "all that match", and promotion."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from store.jobs import Item, Job, Kind, Result, Shift, told

if TYPE_CHECKING:
    from store.library import Library

_BATCH = 256  # records of one operation (design section 4)
_DECIDING = ("move", "tags")  # kinds of work that a person takes back like any decision
_PATIENCE = 60.0  # seconds that what is in hand may take
_EMBEDDED = 64  # … of one that waits for the model: its throughput, and little enough to pause between


def move(shift: Shift) -> None:
    """Options: `verb`, one of the library's moves, and `reason`. Undo takes back all that was done by then.

    Ended anywhere, it goes on where it was: the history says which records the decision has changed.
    """
    library: Library = shift.library
    verb = shift.job.options["verb"]

    def do(items: Sequence[Item]) -> list[Result]:
        outcome = library.move(
            verb,
            [item.key for item in items],
            decision=shift.job.decision,
            reason=shift.job.options.get("reason", ""),
            who=shift.job.who,
        )
        if len(items) == 1:
            return told(items, outcome)
        refused = {refusal.item for refusal in outcome.refused}  # one bad picture must not cost the others
        alone = [result for item in items if item.key in refused for result in do([item])]
        return [*told([item for item in items if item.key not in refused], outcome), *alone]

    shift.each(do, batch=_EMBEDDED if verb == "promote" else _BATCH)


KIND = Kind("move", move)


def stop_own(library: "Library", *, who: str, last: str | None) -> Job | None:
    """Stop the long work whose decision undo would take back, or which has not come to deciding yet.

    `last` is this person's last decision. None where no such work is under way.
    """
    mine = [job for job in library.jobs.under_way() if job.who == who and not job.is_passing]
    made = next((found.at for found in library.decisions(limit=100) if found.id == last), 0.0)
    for job in sorted(mine, key=lambda job: job.id, reverse=True):
        if job.kind in _DECIDING and (job.decision == last or (job.done == 0 and job.made_at > made)):
            library.jobs.cancel(job.id)
            library.jobs.wait(job.id, timeout=_PATIENCE)
            return library.jobs.get(job.id)
    return None

"""Taking back decisions that no page should wait for: in the background, as work that goes on."""

from typing import TYPE_CHECKING, Literal

from store import history, moving
from store.errors import InvalidRecord, NothingToUndo, StillUnderWay
from store.jobs import Job, Kind, Shift
from store.outcome import Outcome

if TYPE_CHECKING:
    from store.library import Library


def take_back(shift: Shift) -> None:
    """Options: `decisions`, the newest first. Ended anywhere it begins again; what is back stays."""
    library: Library = shift.library
    outcome = library.take_back(shift.job.options["decisions"], who=shift.job.who, progress=shift.progress)
    if outcome.refused:
        first = outcome.refused[0]
        raise InvalidRecord(
            f"{len(outcome.refused):,} were left as they are, the first of them {first.item}: {first.reason}"
        )


KIND = Kind("reverse", take_back)


def reverse(library: "Library", verb: Literal["undo", "redo"], *, at_once: int) -> Outcome:
    """Undo or redo one's own last decision; one of more than `at_once` records goes on in the background.

    While such work is not done, the next undo waits its turn behind it. StillUnderWay for a redo: what there
    will be to do again is not known before.
    """
    coming = [
        decision
        for job in library.jobs.under_way()
        if job.kind == KIND.name
        for decision in job.options["decisions"]
    ]
    if coming and verb == "redo":
        raise StillUnderWay("Something is still being taken back; redo when that is done")
    with library.catalog.reading() as db:
        if verb == "undo":
            chosen = history.to_undo(db, library.who, besides=coming)
        else:
            chosen = history.to_redo(db, library.who)
    if verb == "undo":
        moving.stop_own(library, who=library.who, last=chosen)
    if coming and not chosen:
        raise NothingToUndo("there is nothing more of yours to undo")
    if chosen and begun(library, [chosen], at_once=-1 if coming else at_once):
        return Outcome()
    return library.undo() if verb == "undo" else library.redo()


def begun(library: "Library", decisions: list[str], *, at_once: int) -> Job | None:
    """The work that takes these back, the newest first, if they changed more than `at_once` records."""
    with library.catalog.reading() as db:
        count = sum(history.size(db, decision) for decision in decisions)
    if count <= at_once:
        return None
    name = (
        f"Take back what was done to {count:,} coins" if count != 1 else "Take back what was done to 1 coin"
    )
    return library.jobs.start(KIND.name, name=name, options={"decisions": decisions})

"""Taking back decisions that no page should wait for: in the background, as work that goes on."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from store import history, moving
from store.errors import InvalidRecord, NothingToUndo
from store.jobs import Job, Kind, Shift
from store.outcome import Outcome

if TYPE_CHECKING:
    from store.library import Library


def take_back(shift: Shift) -> None:
    """Options: `decisions`, the newest first, or the `verb` that chooses them once all before it is done.

    Ended anywhere it begins again; what is back stays.
    """
    library: Library = shift.library
    options, who = shift.job.options, shift.job.who
    decisions = options["decisions"] if "decisions" in options else _chosen(library, options["verb"], who=who)
    outcome = library.take_back(decisions, who=who, progress=shift.progress)
    if outcome.refused:
        first = outcome.refused[0]
        raise InvalidRecord(
            f"{len(outcome.refused):,} were left as they are, the first of them {first.item}: {first.reason}"
        )


KIND = Kind("reverse", take_back)


def reverse(library: "Library", verb: Literal["undo", "redo"], *, at_once: int) -> Outcome:
    """Undo or redo one's own last decision; one of more than `at_once` records goes on in the background.

    While such work is not done, the next waits its turn behind it; what a redo will do again, and so what is
    undone after it, is not known before.
    """
    before = [job.options for job in library.jobs.under_way() if job.kind == KIND.name]
    if before and (verb == "redo" or any("verb" in options for options in before)):
        name = "Do again what was taken back" if verb == "redo" else "Take back what was done again"
        library.jobs.start(KIND.name, name=name, options={"verb": verb})
        return Outcome()
    coming = [decision for options in before for decision in options["decisions"]]
    chosen = "".join(_chosen(library, verb, who=library.who, besides=coming))
    if verb == "undo":
        moving.stop_own(library, who=library.who, last=chosen)
    if coming and not chosen:
        raise NothingToUndo("there is nothing more of yours to undo")
    if chosen and begun(library, [chosen], at_once=-1 if coming else at_once):
        return Outcome(reversed=chosen)
    outcome = library.undo() if verb == "undo" else library.redo()
    outcome.reversed = chosen
    return outcome


def _chosen(library: "Library", verb: str, *, who: str, besides: Sequence[str] = ()) -> list[str]:
    """The one decision that this person's undo or redo is about now, or none."""
    with library.catalog.reading() as db:
        found = history.to_undo(db, who, besides=besides) if verb == "undo" else history.to_redo(db, who)
    return [found] if found else []


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

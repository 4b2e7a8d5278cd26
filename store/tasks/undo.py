"""The job "undo": reverse large decisions in the background."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from store.catalog import history
from store.errors import InvalidRecord, NothingToUndo
from store.jobs import Job, JobContext, JobKind, cancel_own
from store.outcome import Outcome

if TYPE_CHECKING:
    from store.library import Library


def undo_decisions(context: "JobContext[Library]") -> None:
    """Options: `decisions`, newest first, or the `verb` that chooses them once earlier jobs are done.

    After an interruption it starts again; what is reversed stays reversed.

    Raises InvalidRecord at the end if records changed since were left as they are.
    """
    library = context.library
    options, actor = context.job.options, context.job.actor
    decisions = options.get("decisions", context.job.note.get("decisions"))
    if decisions is None:
        decisions = _chosen(library, options["verb"], actor=actor)
        context.store_note(decisions=decisions)  # begun again, it must not take back one more
    outcome = library.undo_decisions(decisions, actor=actor, progress=context.progress)
    outcome.raise_failure()
    if outcome.refused:
        first = outcome.refused[0]
        raise InvalidRecord(
            f"{len(outcome.refused):,} were left as they are, the first of them {first.item}: {first.reason}"
        )


KIND = JobKind("reverse", undo_decisions)


def reverse(library: "Library", verb: Literal["undo", "redo"], *, at_once: int) -> Outcome:
    """Undo or redo the person's own last decision; one of more than `at_once` records in the background.

    While such a job runs, the next one waits behind it, because its decision is not known before.
    Raises NothingToUndo if there is nothing left.
    """
    before = [job.options for job in library.jobs.under_way() if job.kind == KIND.name]
    if before and (verb == "redo" or any("verb" in options for options in before)):
        name = "Redo what was undone" if verb == "redo" else "Undo what was redone"
        library.jobs.start(KIND.name, name=name, options={"verb": verb})
        return Outcome()
    coming = [decision for options in before for decision in options["decisions"]]
    chosen = "".join(_chosen(library, verb, actor=library.actor_name, besides=coming))
    if verb == "undo":
        cancel_own.stop_own(library.jobs, actor=library.actor_name, last=library.decision(chosen))
    if coming and not chosen:
        raise NothingToUndo("nothing more to undo")
    if chosen and start(library, [chosen], at_once=-1 if coming else at_once):
        return Outcome(reversed=chosen)
    outcome = library.undo() if verb == "undo" else library.redo()
    outcome.reversed = chosen
    return outcome


def _chosen(library: "Library", verb: str, *, actor: str, besides: Sequence[str] = ()) -> list[str]:
    """The one decision that this person's undo or redo would reverse now, or none."""
    with library.catalog.reading() as db:
        found = history.to_undo(db, actor, besides=besides) if verb == "undo" else history.to_redo(db, actor)
    return [found] if found else []


def start(library: "Library", decisions: list[str], *, at_once: int) -> Job | None:
    """The job that reverses these decisions, newest first, if they changed more than `at_once` records."""
    with library.catalog.reading() as db:
        count = sum(history.size(db, decision) for decision in decisions)
    if count <= at_once:
        return None
    name = f"Undo what was done to {count:,} coins" if count != 1 else "Undo what was done to 1 coin"
    return library.jobs.start(KIND.name, name=name, options={"decisions": decisions})

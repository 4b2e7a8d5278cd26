"""The job "reverse": undo large decisions in the background."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from store.catalog import history
from store.errors import InvalidRecord
from store.jobs import Job, JobContext, JobKind, cancel_own
from store.outcome import Outcome

if TYPE_CHECKING:
    from store.library import Library


def undo_decisions(context: "JobContext[Library]") -> None:
    """Options: `decisions`, newest first.

    After an interruption it starts again; what is reversed stays reversed.

    Raises InvalidRecord at the end if records changed since were left as they are.
    """
    job = context.job
    decisions = job.options["decisions"]
    outcome = context.library.undo_decisions(
        decisions,
        actor=job.actor,
        progress=context.progress,
        decision=job.decision if len(decisions) == 1 else None,
    )
    outcome.raise_failure()
    if outcome.refused:
        first = outcome.refused[0]
        raise InvalidRecord(
            f"{len(outcome.refused):,} were left as they are, the first of them {first.item}: {first.reason}"
        )


KIND = JobKind("reverse", undo_decisions)


def reverse(library: "Library", chosen: str, *, at_once: int, decision: str | None = None) -> Outcome:
    """Undo this decision, or redo what it undid; a large one, or one still under way, in the background."""
    job = library.jobs.of_decision(chosen)
    if job and job.is_under_way and job.kind != KIND.name:
        cancel_own.stop(library.jobs, job)
        job = library.jobs.get(job.id)
    if job and job.state == "cancelled" and library.decision(chosen) is None:  # it had decided nothing yet
        return Outcome(reversed=chosen)
    waits = any(job.kind == KIND.name and job.decision != decision for job in library.jobs.under_way())
    if start(library, [chosen], at_once=-1 if waits else at_once, decision=decision):
        return Outcome(reversed=chosen)
    outcome = library.undo_decisions([chosen], decision=decision)
    outcome.reversed = chosen
    return outcome


def undoable(library: "Library", *, limit: int) -> list[str]:
    """The ids of this person's decisions that can be undone, newest first, with those still carried out."""
    decided = library.log.to_undo(library.actor_name, limit=limit)
    coming = [job.decision for job in cancel_own.deciding(library.jobs, actor=library.actor_name)]
    return [*(one for one in coming if one not in decided), *decided][:limit]


def redoable(library: "Library", *, limit: int) -> list[str]:
    """The ids of this person's undos that can be redone, the last one first."""
    return library.log.to_redo(library.actor_name, limit=limit)


def start(
    library: "Library", decisions: Sequence[str], *, at_once: int, decision: str | None = None
) -> Job | None:
    """The job that reverses these decisions, newest first, if they changed more than `at_once` records."""
    with library.catalog.reading() as db:
        count = sum(history.size(db, each) for each in decisions)
    if count <= at_once:
        return None
    awaited = None if count else library.jobs.of_decision(decisions[0])  # it has not changed anything yet
    coins = "1 coin" if count == 1 else f"{count:,} coins"
    name = awaited.name if awaited else f"Undo what was done to {coins}"
    return library.jobs.start(KIND.name, name=name, options={"decisions": [*decisions]}, decision=decision)

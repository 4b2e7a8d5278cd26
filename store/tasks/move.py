"""The job "move": move many records as one decision ("all that match", and promotion)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from store.jobs import Item, ItemDone, ItemRefused, Job, JobContext, JobKind, Result, results_of
from store.writing.transitions import EMBEDDED, OPERATION

if TYPE_CHECKING:
    from store.library import Library


def move(context: "JobContext[Library]") -> None:
    """Options: `verb`, one of the library's moves, and `reason`; an item may have a verb of its own.

    Undo reverses all that was done so far.

    It resumes after any interruption: the history says which records the decision has changed.
    """
    library = context.library
    verb = context.job.options["verb"]

    def each(items: Sequence[Item]) -> list[Result]:
        verbs = dict.fromkeys(item.payload or verb for item in items)
        return [
            result
            for own in verbs
            for result in do(own, [one for one in items if (one.payload or verb) == own])
        ]

    def do(verb: Any, items: Sequence[Item]) -> list[Result]:
        outcome = library.move(
            verb,
            [item.key for item in items],
            decision=context.job.decision,
            reason=context.job.options.get("reason", ""),
            actor=context.job.actor,
        )
        results = results_of(items, outcome)
        refused = [result.item for result in results if isinstance(result, ItemRefused)]
        if len(items) == 1 or not refused:
            return results
        done = [result for result in results if isinstance(result, ItemDone)]
        alone = [result for item in refused for result in do(verb, [item])]  # one must not cost the others
        return [*done, *alone]

    context.each(each, batch=EMBEDDED if verb == "promote" else OPERATION)


KIND = JobKind("move", move)


def start_promotion(library: "Library", address: str, *, decision: str | None = None) -> Job | None:
    """Promote this approved record in the background; None if that is under way, or done.

    Started again with the same id of a decision, it is the same job.

    Raises UnknownRecord if there is none.
    """
    record = library.get(address)
    if record.tier != "approved" or address in library.jobs.keys_under_way(KIND.name, verb="promote"):
        return None
    return library.jobs.start(
        KIND.name, [address], name=f"Promote {record.name}", options={"verb": "promote"}, decision=decision
    )

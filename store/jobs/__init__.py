"""Background jobs, which survive the page, the browser tab and a restart of the program.

    KIND = JobKind("decide", work)                   # one kind of job, listed in store/tasks/__init__.py

    def work(context: JobContext) -> None:           # runs in a thread of the store
        def do(items: Sequence[Item]) -> Iterable[Result]:
            addresses = [item.key for item in items]
            outcome = context.library.approve(addresses, decision=context.job.decision)
            return results_of(items, outcome)
        context.each(do, batch=256)                  # passes unfinished items and stores the results

    job = library.jobs.start("decide", addresses, name="Approve 3,000 coins", options={"verb": "approve"})
    library.jobs.get(job.id)                         # state, done, refused, rate, seconds left
    library.jobs.pause(job.id)                       # resume, cancel, try_again; refused to viewers

A job is a row of the catalog, and so is each of its items (a key, and what else the work needs). An item
is marked in the same transaction as its result (`ItemDone(item, write=…)`), so nothing is done twice. A job
without items reports through `context.progress`. Work that cannot continue after a restart, because it needs
an upload or an open page, is `library.jobs.run(name, work)`: it is listed and can be cancelled, and ends
with the program.
"""

from store.jobs.job import OPEN, Item, ItemState, Job, State
from store.jobs.job_context import (
    ItemDeferred,
    ItemDone,
    ItemRefused,
    JobContext,
    JobKind,
    Result,
    results_of,
)
from store.jobs.jobs import Jobs

__all__ = [
    "OPEN",
    "Item",
    "ItemDeferred",
    "ItemDone",
    "ItemRefused",
    "ItemState",
    "Job",
    "JobContext",
    "JobKind",
    "Jobs",
    "Result",
    "State",
    "background_worker",
    "results_of",
]

"""Long work in the background: it outlives tab, page and program, and is watched, never waited for.

    KIND = Kind("decide", work)                      # one sort of work, listed in store/kinds.py

    def work(shift: Shift) -> None:                  # runs in a thread of the store
        def do(items: Sequence[Item]) -> Iterable[Result]:
            outcome = shift.library.approve([item.key for item in items], decision=shift.job.decision)
            return told(items, outcome)
        shift.each(do, batch=256)                    # hands out what nobody has done, keeps what came of it

    job = library.jobs.start("decide", addresses, name="Approve 3,000 coins", options={"verb": "approve"})
    library.jobs.get(job.id)                         # state, done, refused, rate, seconds left
    library.jobs.pause(job.id)                       # resume, cancel, try_again; who may only look is refused

A job is a row of the catalog, and so is each of its items (a key, and whatever else the work needs to know
of it); an item is marked in the same transaction as its result (`Done(item, write=…)`), so nothing is done
twice. What has no items, or keeps count itself, uses `shift.progress`. Work that no other run could go on
with, because it holds an upload or an open page, is `library.jobs.run(name, work)`: it is listed, cancelled
likewise, and it ends with the program.
"""

from store.jobs.job import OPEN, Item, ItemState, Job, State
from store.jobs.jobs import Jobs
from store.jobs.shift import Done, Kind, Later, Refused, Result, Shift, told

__all__ = [
    "OPEN",
    "Done",
    "Item",
    "ItemState",
    "Job",
    "Jobs",
    "Kind",
    "Later",
    "Refused",
    "Result",
    "Shift",
    "State",
    "told",
]

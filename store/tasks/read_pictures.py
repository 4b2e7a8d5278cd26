"""The job "read pictures": the text in pictures and nudity, where no program has looked yet."""

import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from store.catalog.catalog import next_derived
from store.jobs import Item, ItemDeferred, ItemDone, ItemRefused, Job, JobContext, JobKind, Result
from store.pictures.picture_texts import TextReading, store_reading

if TYPE_CHECKING:
    from store.library import Library

_BATCH = 8  # pictures of one transaction, some seconds' work
_STARTED = time.time()


def _read(context: "JobContext[Library]") -> None:
    """Items: hashes of pictures, each with the address of one record."""
    texts = context.library.picture_texts

    def do(items: Sequence[Item]) -> list[Result]:
        return [
            ItemDeferred(item)
            if context.is_stopping
            else _result(item, texts.read_one(item.key, item.payload))
            for item in items
        ]

    context.each(do, batch=_BATCH)
    with context.library.catalog.writing() as db:
        next_derived(db)  # once: each time, open pages are run again


def _result(item: Item, reading: TextReading) -> Result:
    return (
        ItemRefused(item, reading.fault)
        if reading.fault
        else ItemDone(item, partial(store_reading, reading=reading))
    )


KIND = JobKind("read text", _read, queue="pictures", is_quiet=True)


def start_if_needed(library: "Library") -> Job | None:
    """Read new pictures in the background; None if there are none, or a person paused or stopped that.

    A picture that could not be read is not tried again by itself, but by "Retry" on the job.
    """
    waiting = library.picture_texts.unread()
    if not waiting:
        return None
    if any(job.kind == KIND.name for job in library.jobs.open()):
        return None
    jobs = [job for job in library.jobs.all() if job.kind == KIND.name]
    if jobs and jobs[0].state == "cancelled" and jobs[0].made_at >= _STARTED:
        return None
    refused = {item.key for job in jobs for item in library.jobs.items(job.id, state="refused", limit=1_000)}
    new = [(image_hash, address) for image_hash, address in waiting.items() if image_hash not in refused]
    if not new:
        return None
    what = "1 picture" if len(new) == 1 else f"{len(new):,} pictures"
    return library.jobs.start(KIND.name, new, name=f"Read {what}")

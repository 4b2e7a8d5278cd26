"""What a job's lanes see of each other."""

import threading
from collections.abc import Sequence
from typing import Any

from store.errors import BadSource
from store.jobs import Item, ItemDeferred, JobContext, JobKind, Jobs, Result
from tests.store.jobs.harness import JobHarness


def test_a_lane_that_waits_stops_when_another_one_fails(harness: JobHarness) -> None:
    both_run, saw = threading.Barrier(2), []

    def work(context: JobContext[Any]) -> None:
        def do(items: Sequence[Item]) -> list[Result]:
            both_run.wait(60)
            if items[0].key == "a":
                raise BadSource("the key was revoked")
            context.rest(3600, reason="waiting")
            saw.append(context.is_stopping)
            return [ItemDeferred(item) for item in items]

        context.each(do, lanes=2)

    jobs = Jobs.with_runner(harness.catalog, [JobKind("waits", work)], harness)
    try:
        number = jobs.start("waits", ["a", "b", "c"], name="Waits").id
        assert jobs.wait(number, timeout=60)
        job = jobs.get(number)
        assert (job.state, job.error, job.left) == ("failed", "the key was revoked", 3)
        assert saw == [True]
    finally:
        jobs.close()

"""Jobs with one kind of work that a test can hold and count."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from store.catalog.catalog import Catalog
from store.disk.files import Disk
from store.jobs import Item, ItemDone, Job, JobContext, JobKind, Jobs, Result

LETTERS = [*"abcdefghij"]


class JobHarness:
    """Jobs with their own catalog, one kind of work, and a count of finished items."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.done: Counter[str] = Counter()
        self.answer: Callable[[Item], Result] = ItemDone
        self.batch, self.lanes = 1, 1
        self.open()

    def open(self) -> None:
        self.catalog = Catalog(self.folder / "catalog.sqlite3", disk=Disk(), writable=True)
        self.jobs = Jobs.with_runner(
            self.catalog, [JobKind("letters", self.work), JobKind("other", self.work, "o")], self
        )

    def reopen(self) -> None:
        """Close and open everything, as after a restart of the program."""
        self.jobs.close()
        self.catalog.close()
        self.open()

    def work(self, context: "JobContext[JobHarness]") -> None:
        def do(items: Sequence[Item]) -> list[Result]:
            results = [self.answer(item) for item in items]
            self.done.update(result.item.key for result in results if isinstance(result, ItemDone))
            return results

        context.each(do, batch=self.batch, lanes=self.lanes)

    def start(self, keys: Sequence[Any] = LETTERS, kind: str = "letters", **options: Any) -> int:
        return self.jobs.start(kind, keys, name="Letters", options=options).id

    def wait_for(self, number: int) -> Job:
        assert self.jobs.wait(number, timeout=60)
        job = self.jobs.get(number)
        assert job
        return job


class Gate:
    """Makes a job wait at one item until the gate opens."""

    def __init__(self, at: str) -> None:
        self.at, self.reached, self.open = at, threading.Event(), threading.Event()

    def __call__(self, item: Item) -> Result:
        if item.key == self.at:
            self.reached.set()
            assert self.open.wait(60)
        return ItemDone(item)

"""The context of a running job: its unfinished items, and whether to stop."""

import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from store.jobs.job import Item, Job
from store.jobs.job_rows import JobRepository, Settled
from store.outcome import Outcome
from store.progress import Progress

_MINUTE = 60.0  # seconds over which the rate is taken

L = TypeVar("L")  # the library that jobs work on, which this package does not know
Write = Callable[[sqlite3.Connection], None]


@dataclass(frozen=True, slots=True)
class ItemDone:
    """The item is done; `write` stores its result in the catalog in the same transaction."""

    item: Item
    write: Write | None = None


@dataclass(frozen=True, slots=True)
class ItemRefused:
    """The item could not be done, with the reason; a person may try it again."""

    item: Item
    reason: str
    write: Write | None = None


@dataclass(frozen=True, slots=True)
class ItemDeferred:
    """The item comes again after the others."""

    item: Item


Result = ItemDone | ItemRefused | ItemDeferred
Do = Callable[[Sequence[Item]], Iterable[Result]]


@dataclass(frozen=True, slots=True)
class JobKind(Generic[L]):
    """One kind of job. Jobs of one queue run one after the other, those of different queues at once."""

    name: str  # stored in the catalog, so never changed
    work: Callable[["JobContext[L]"], None]
    queue: str = "library"
    is_quiet: bool = False  # the program begins it by itself; only the page Jobs shows it


class JobContext(Generic[L]):
    """One run of a job, until it is done or told to stop."""

    def __init__(self, job: Job, repository: JobRepository, library: L) -> None:
        self.job = job
        self.library = library
        self.progress = Progress()  # what it is doing, and how far, where the job has no items
        self.began = self._kept = time.monotonic()  # up to the latter its time is stored
        self._repository = repository
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._cursor = 0
        self._in_flight: set[int] = set()
        self._failure: BaseException | None = None
        self._pace: deque[tuple[float, int]] = deque([(self.began, 0)])

    @property
    def is_stopping(self) -> bool:
        """Whether it was paused, cancelled or failed, or the program ends; work in hand may be finished."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Stop the job after the items that are being worked on."""
        self.progress.cancel()
        self._stop.set()

    def rest(self, seconds: float, *, reason: str) -> None:
        """Wait for some seconds and show why; ends at once when told to stop."""
        before, self.progress.what = self.progress.what, reason
        self._stop.wait(seconds)
        self.progress.what = before

    def store_note(self, **note: Any) -> None:
        """Store a note with the job; it is shown, and available when the job continues."""
        self._repository.store_note(self.job.id, note)

    def each(self, do: Do, *, batch: int = 1, lanes: int = 1) -> None:
        """Call `do` for every waiting item, `batch` at a time, in `lanes` threads.

        `do` returns a result for each of its items. An exception ends the job as failed, or lets it wait for
        the disk if that is the cause; its items keep waiting.

        Raises what `do` raised.
        """
        others = [
            threading.Thread(target=self._lane, args=(do, batch), name=f"memedex-job-{number}", daemon=True)
            for number in range(1, lanes)
        ]
        for thread in others:
            thread.start()
        self._lane(do, batch)
        for thread in others:
            thread.join()
        if self._failure:
            raise self._failure

    def record(self, results: Sequence[Result]) -> None:
        """Store the results of some items."""
        settled: list[Settled] = []
        for result in results:
            match result:
                case ItemDone(item, write):
                    settled.append((item, "done", "", write))
                case ItemRefused(item, reason, write):
                    settled.append((item, "refused", reason, write))
        if settled:
            self._repository.record(self.job.id, settled, worked=self.worked_since())
        with self._lock:
            self._in_flight -= {result.item.position for result in results}
            if settled:
                self._pace.append((time.monotonic(), len(settled)))
                while self._pace[0][0] < time.monotonic() - _MINUTE and len(self._pace) > 2:
                    self._pace.popleft()

    def worked_since(self) -> float:
        """Seconds since the last call, to be stored, so that a kill does not make the work look shorter."""
        with self._lock:
            before, self._kept = self._kept, time.monotonic()
            return self._kept - before

    @property
    def unstored(self) -> float:
        """Seconds of work that are not stored yet."""
        return time.monotonic() - self._kept

    def rate(self) -> float:
        """Items a second over the last minute."""
        with self._lock:
            (first, _), *rest = self._pace
        count = sum(number for _, number in rest)
        seconds = time.monotonic() - first
        return count / seconds if count and seconds > 0 else 0.0

    def _lane(self, do: Do, batch: int) -> None:
        try:
            while not self.is_stopping and (items := self._next(batch)):
                results = list(do(items))
                if {result.item.position for result in results} != {item.position for item in items}:
                    raise RuntimeError(f"the work {self.job.kind!r} did not answer for every item")
                self.record(results)
        except BaseException as error:  # noqa: BLE001  raised again where the lanes meet
            self._failure = self._failure or error
            self._stop.set()

    def _free(self, position: int, count: int) -> list[Item]:
        """Items behind this position that no lane is working on; they wait too until they are stored."""
        found = self._repository.waiting_after(self.job.id, position, count + len(self._in_flight))
        return [item for item in found if item.position not in self._in_flight][:count]

    def _next(self, count: int) -> list[Item]:
        with self._lock:
            # Once more from the front, where there is nothing behind: what was put off, or is tried again.
            items = self._free(self._cursor, count) or self._free(0, count)
            if items:
                self._cursor = items[-1].position
                self._in_flight |= {item.position for item in items}
        return items


def results_of(items: Sequence[Item], outcome: Outcome) -> list[Result]:
    """A verb's answer as a result for each item. Raises LibraryStuck or NotWritten: all items wait."""
    outcome.raise_failure()
    reasons: Mapping[str, str] = {refusal.item: refusal.reason for refusal in outcome.refused}
    return [ItemRefused(item, reasons[item.key]) if item.key in reasons else ItemDone(item) for item in items]

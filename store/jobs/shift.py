"""What a piece of work sees of its job while it runs: the items nobody has done, and whether to stop."""

import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from store.jobs.book import Book, Settled
from store.jobs.job import Item, Job
from store.outcome import Outcome
from store.progress import Progress

_MINUTE = 60.0  # seconds over which the rate is taken

Write = Callable[[sqlite3.Connection], None]


@dataclass(frozen=True, slots=True)
class Done:
    """This item is done; `write` puts what came of it into the catalog in the same transaction."""

    item: Item
    write: Write | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """This item could not be done, and why; a person may have it tried again."""

    item: Item
    reason: str
    write: Write | None = None


@dataclass(frozen=True, slots=True)
class Later:
    """This item comes up again once the others had their turn."""

    item: Item


Result = Done | Refused | Later
Do = Callable[[Sequence[Item]], Iterable[Result]]


@dataclass(frozen=True, slots=True)
class Kind:
    """One sort of long work; jobs of one queue run one after the other, those of different ones together."""

    name: str  # stands in the catalog, so it is never changed
    work: Callable[["Shift"], None]
    queue: str = "library"


class Shift:
    """One run of a job, from its beginning or from where it was left until it is done or told to stop."""

    def __init__(self, job: Job, book: Book, library: Any) -> None:
        self.job = job
        self.library = library
        self.progress = Progress()  # what it is doing, and how far, where the job has no items
        self.began = self._kept = time.monotonic()  # up to the latter its time is in the book
        self._book = book
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._cursor = 0
        self._in_hand: set[int] = set()
        self._failure: BaseException | None = None
        self._pace: deque[tuple[float, int]] = deque([(self.began, 0)])

    @property
    def is_stopping(self) -> bool:
        """Whether it was paused or cancelled, or the program ends; what is in hand may be finished."""
        return self._stop.is_set()

    def stop(self) -> None:
        self.progress.cancel()
        self._stop.set()

    def rest(self, seconds: float, *, why: str) -> None:
        """Do nothing for a while, saying why; ends at once when told to stop."""
        before, self.progress.what = self.progress.what, why
        self._stop.wait(seconds)
        self.progress.what = before

    def keep(self, **note: Any) -> None:
        """Remember this with the job; it is shown, and there when the job goes on."""
        self._book.keep(self.job.id, note)

    def each(self, do: Do, *, batch: int = 1, lanes: int = 1) -> None:
        """Have `do` work on every item that waits, `batch` at a time, in `lanes` threads.

        `do` answers for each item it was given. What it raises ends the job as failed; its items wait.
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

    def settle(self, results: Sequence[Result]) -> None:
        """Keep what came of some items."""
        settled: list[Settled] = []
        for result in results:
            match result:
                case Done(item, write):
                    settled.append((item, "done", "", write))
                case Refused(item, reason, write):
                    settled.append((item, "refused", reason, write))
        if settled:
            self._book.settle(self.job.id, settled, worked=self.worked_since())
        with self._lock:
            self._in_hand -= {result.item.position for result in results}
            if settled:
                self._pace.append((time.monotonic(), len(settled)))
                while self._pace[0][0] < time.monotonic() - _MINUTE and len(self._pace) > 2:
                    self._pace.popleft()

    def worked_since(self) -> float:
        """Seconds since this was asked last, to be kept: a kill must not make the work look shorter."""
        with self._lock:
            before, self._kept = self._kept, time.monotonic()
            return self._kept - before

    @property
    def not_kept(self) -> float:
        """Seconds of work that the book does not have yet."""
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
            while not self.is_stopping and self._failure is None and (items := self._next(batch)):
                results = list(do(items))
                if {result.item.position for result in results} != {item.position for item in items}:
                    raise RuntimeError(f"the work {self.job.kind!r} did not answer for every item")
                self.settle(results)
        except BaseException as error:  # noqa: BLE001  raised again where the lanes meet
            self._failure = self._failure or error

    def _free(self, position: int, count: int) -> list[Item]:
        """Items behind this position that no lane has in hand: they wait too until they are settled."""
        found = self._book.waiting_after(self.job.id, position, count + len(self._in_hand))
        return [item for item in found if item.position not in self._in_hand][:count]

    def _next(self, count: int) -> list[Item]:
        with self._lock:
            # Once more from the front, where there is nothing behind: what was put off, or is tried again.
            items = self._free(self._cursor, count) or self._free(0, count)
            if items:
                self._cursor = items[-1].position
                self._in_hand |= {item.position for item in items}
        return items


def told(items: Sequence[Item], outcome: Outcome) -> list[Result]:
    """What a verb of the library answered, item by item."""
    reasons: Mapping[str, str] = {refusal.item: refusal.reason for refusal in outcome.refused}
    return [Refused(item, reasons[item.key]) if item.key in reasons else Done(item) for item in items]
